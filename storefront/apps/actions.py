"""Registering, installing, changing and uninstalling apps."""

import re
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

import orjson
from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from storefront import audit
from storefront.apps.extensions import delete_extensions
from storefront.apps.models import AllowedScriptHost, Extension, ScriptTag
from storefront.apps.queries import NotInstalled as NotInstalled
from storefront.apps.rules import script_host, sort_scopes
from storefront.installations import app_tokens
from storefront.installations.models import APP_SECRET, WEBHOOK_SECRET, App, Installation
from storefront.kit import addresses, sealing
from storefront.kit.clock import timestamp
from storefront.kit.refusals import InvalidFields, Refusal
from storefront.pods import registry
from storefront.pods.moves import NOT_MOVING
from storefront.pods.registry_triggers import DELETED_SLUG
from storefront.shops.auth import Unauthenticated
from storefront.shops.models import Shop
from storefront.shops.scopes import SCOPES
from storefront.staff import staff_jobs
from storefront.webhooks import actions as webhooks
from storefront.webhooks import signing
from storefront.webhooks.models import Delivery, Registration
from storefront.webhooks.topics import SCOPES_CHANGED, UNINSTALLED

# How long the previous webhook secret still signs, in addition to the new one.
SECRET_GRACE = timedelta(hours=24)
# Sent to the app's install URL with the installation's token.
INSTALLED, TOKEN_REPLACED = "app.installed", "app.token_replaced"
_SLUG = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*\Z")


class AppUnavailable(Refusal):
    code, message, field = "app_unavailable", _lazy("This app cannot be installed."), "app"


class AlreadyInstalled(Refusal):
    code, message, field = (
        "already_installed",
        _lazy("This app is already installed in this shop."),
        "app",
    )


def register_app(
    *,
    name: str,
    slug: str,
    install_url: str,
    scopes: list[str],
    now: datetime,
    contact: str = "",
    description: str = "",
) -> tuple[App, str]:
    """Register an app that shops can install (R-APP-1). Returns the app and the secret that signs messages with its
    tokens, `whsec_...`, which is never shown again.

    Raises InvalidFields, which names each invalid field, and WrittenInPodZero.
    """
    registry.require_writable()
    secret = signing.new_secret()
    app = App(
        name=name.strip(),
        slug=slug.strip(),
        contact=contact.strip(),
        description=description.strip(),
        install_url=install_url.strip(),
        scopes=sort_scopes(scopes),
        sealed_secret=_seal(secret, APP_SECRET),
        created_at=now,
        updated_at=now,
    )
    errors = _field_errors(app) | _unknown_scopes(scopes)
    if App.objects.filter(slug=app.slug).exists():
        errors["slug"] = [_("Another app already has the slug %(slug)s.") % {"slug": app.slug}]
    if errors:
        raise InvalidFields(errors=errors)
    try:
        with transaction.atomic():
            app.save()
    except IntegrityError:
        # A concurrent registration took the slug first.
        raise InvalidFields(
            errors={"slug": [_("Another app already has the slug %(slug)s.") % {"slug": app.slug}]}
        ) from None
    return app, secret


def _field_errors(app: App) -> dict[str, list[str]]:
    errors = {}
    if not 1 <= len(app.name) <= 100:
        errors["name"] = [_("Expected a name of 1 to 100 characters.")]
    if not _SLUG.match(app.slug) or len(app.slug) > 60:
        errors["slug"] = [_("Expected 1 to 60 lowercase letters, digits and hyphens, such as gift-notes.")]
    if app.contact and "@" not in app.contact:
        errors["contact"] = [_("Expected an email address.")]
    try:
        addresses.check_url(app.install_url)
    except addresses.BadAddress as bad:
        errors["install_url"] = [str(bad)]
    return errors


def _unknown_scopes(scopes: list[str]) -> dict[str, list[str]]:
    unknown = sorted(set(scopes) - SCOPES.keys())
    return (
        {
            "scopes": [
                _("Unknown: %(unknown)s. Known: %(scopes)s.")
                % {"unknown": ", ".join(unknown), "scopes": ", ".join(SCOPES)}
            ]
        }
        if unknown
        else {}
    )


@transaction.atomic
def rotate_app_secret(*, app: App, now: datetime) -> str:
    """Replace the secret that signs messages with the app's tokens, including pending ones. Returns the new secret.
    Raises WrittenInPodZero."""
    registry.require_writable()
    secret = signing.new_secret()
    App.objects.filter(pk=app.pk).update(sealed_secret=_seal(secret, APP_SECRET), updated_at=now)
    return secret


@transaction.atomic
def install_app(*, shop: Shop, app: App, scopes: list[str], now: datetime) -> tuple[Installation, str]:
    """Install the app in the shop with the scopes that the merchant grants. Returns the installation and its token
    (R-APP-2).

    The token is stored only in the pending notification to the app. Raises InvalidFields for a scope that the app does
    not ask for, AppUnavailable and AlreadyInstalled.
    """
    if not App.objects.filter(pk=app.pk, is_active=True).exists():
        raise AppUnavailable
    granted, secret = _granted_scopes(app, scopes), signing.new_secret()
    # The unique constraint decides between concurrent installations.
    installation, is_new = Installation.objects.get_or_create(
        shop=shop,
        app=app,
        uninstalled_at=None,
        defaults={"scopes": granted, "sealed_secret": _seal(secret, WEBHOOK_SECRET), "installed_at": now},
    )
    if not is_new:
        raise AlreadyInstalled
    token = _issue_token(installation, now)
    AllowedScriptHost.objects.create(shop=shop, installation=installation, host=script_host(app.install_url))
    # The message of R-APP-3.
    _send_token(installation, INSTALLED, token, {"scopes": granted, "webhook_secret": secret}, now)
    staff_jobs.notify_owners(shop, "new_app", app.name)
    audit.record(shop=shop, action="app.installed", object=installation, after={"scopes": granted}, now=now)
    return installation, token


@transaction.atomic
def uninstall_app(*, shop: Shop, installation: Installation, now: datetime) -> None:
    """Uninstall the app: revoke its tokens, delete everything that it registered, and send it one last notification
    (R-APP-8). Raises NotInstalled."""
    _lock(shop, installation)
    Installation.objects.filter(shop=shop, pk=installation.pk).update(uninstalled_at=now)
    app_tokens.end_app_tokens(shop=shop, installation_id=installation.pk, now=now)
    address = _uninstall_address(installation)
    webhooks.delete_all_webhooks(installation=installation, now=now)
    delete_extensions(Extension.objects.filter(shop=shop, installation=installation))
    for model in (ScriptTag, AllowedScriptHost):
        model.objects.filter(shop=shop, installation=installation).delete()
    data = {"id": installation.pk, "app": installation.app.slug}
    event = webhooks.record_event(shop=shop, topic=UNINSTALLED, data=data, now=now)
    webhooks.send_event(installation=installation, kind=Delivery.Kind.UNINSTALL, address=address, event=event, now=now)
    before = {"scopes": installation.scopes}
    audit.record(shop=shop, action="app.uninstalled", object=installation, before=before, now=now)


def uninstall_deleted(*, now: datetime, limit: int) -> int:
    """Uninstall apps that pod 0 has deleted from the shops of this pod, at most `limit`; returns how many. The rows of
    such apps stay, as those of uninstalled ones do (`pods/registry_triggers.py`)."""
    rows = Installation.objects.filter(NOT_MOVING, app__slug__startswith=DELETED_SLUG, uninstalled_at=None)
    found = list(rows.select_related("shop", "app").order_by("pk")[:limit]) if settings.POD else []
    for row in found:
        with suppress(NotInstalled):
            uninstall_app(shop=row.shop, installation=row, now=now)
    return len(found)


def _uninstall_address(installation: Installation) -> str:
    """The address of the app's active webhook for `app.uninstalled`, or else its install URL."""
    webhook = Registration.objects.filter(installation=installation, topic=UNINSTALLED, is_active=True).first()
    return webhook.address if webhook else installation.app.install_url


@transaction.atomic
def rotate_token(*, shop: Shop, installation: Installation, now: datetime) -> str:
    """Issue a new token and send it to the app (R-APP-39); the previous tokens stay valid for 24 hours (R-APP-6).
    Raises NotInstalled."""
    _lock(shop, installation)
    until = now + app_tokens.TOKEN_GRACE
    app_tokens.end_app_tokens(shop=shop, installation_id=installation.pk, now=now, at=until)
    current = Installation.objects.select_related("shop", "app").get(pk=installation.pk)
    staff_jobs.notify_owners(shop, "new_token", f"of the app {current.app.name}")
    audit.record(shop=shop, action="app.token_rotated", object=installation, now=now)
    token = _issue_token(current, now)
    _send_token(current, TOKEN_REPLACED, token, {"previous_token_expires_at": timestamp(until)}, now)
    return token


@transaction.atomic
def end_old_tokens(*, shop: Shop, installation: Installation, now: datetime) -> None:
    """Revoke all tokens except the newest, from the next request on."""
    app_tokens.end_replaced_tokens(shop=shop, installation_id=installation.pk, now=now)
    audit.record(shop=shop, action="app.old_tokens_ended", object=installation, now=now)


@transaction.atomic
def rotate_secret(*, shop: Shop, installation: Installation, now: datetime) -> str:
    """Replace the webhook secret, and return the new one, `whsec_...`. For 24 hours deliveries and block calls are
    signed with both (R-APP-7). Raises NotInstalled."""
    _lock(shop, installation)
    secret, row = signing.new_secret(), Installation.objects.get(shop=shop, pk=installation.pk)
    row.sealed_previous_secret, row.previous_secret_until = row.sealed_secret, now + SECRET_GRACE
    row.sealed_secret = _seal(secret, WEBHOOK_SECRET)
    row.save(update_fields=["sealed_secret", "sealed_previous_secret", "previous_secret_until"])
    audit.record(shop=shop, action="app.secret_rotated", object=installation, now=now)
    return secret


@transaction.atomic
def change_scopes(*, shop: Shop, installation: Installation, scopes: list[str], now: datetime) -> None:
    """Set the scopes that the app has in this shop, from the next request on, and tell the app (R-APP-40). Raises
    InvalidFields, NotInstalled."""
    granted = _granted_scopes(installation.app, scopes)
    _lock(shop, installation)
    current = Installation.objects.select_related("app").get(shop=shop, pk=installation.pk)
    if granted == current.scopes:
        return
    _update(shop, installation, "app.scopes_changed", {"scopes": granted}, now)
    data = {"id": current.pk, "app": current.app.slug, "scopes": granted, "previous_scopes": current.scopes}
    event = webhooks.record_event(shop=shop, topic=SCOPES_CHANGED, data=data, now=now)
    webhooks.send_own_event(installation=current, event=event, now=now)


@transaction.atomic
def change_rate_limit(*, shop: Shop, installation: Installation, requests_per_minute: int, now: datetime) -> None:
    """Set the app's rate limit, from the next request on. Raises NotInstalled."""
    _lock(shop, installation)
    _update(shop, installation, "app.rate_limit_changed", {"requests_per_minute": requests_per_minute}, now)


def _update(shop: Shop, installation: Installation, action: str, values: dict[str, Any], now: datetime) -> None:
    """Set these columns of the installation and its tokens, and record the change in the audit log."""
    rows = Installation.objects.filter(shop=shop, pk=installation.pk)
    before = rows.values(*values).get()
    rows.update(**values)
    app_tokens.change_app_tokens(shop=shop, installation_id=installation.pk, **values)
    audit.record_change(shop=shop, action=action, object=installation, before=before, after=values, now=now)


def _granted_scopes(app: App, scopes: list[str]) -> list[str]:
    """The scopes in their standard order. Raises InvalidFields for scopes that the app does not ask for."""
    others = sorted(set(scopes) - set(app.scopes))
    if others:
        asked = ", ".join(app.scopes) or "nothing"
        raise InvalidFields(
            errors={
                "scopes": [
                    _("%(app)s does not ask for %(others)s. It asks for %(asked)s.")
                    % {"app": app, "others": ", ".join(others), "asked": asked}
                ]
            }
        )
    return sort_scopes(scopes)


def _lock(shop: Shop, installation: Installation) -> None:
    """Lock the installation until the transaction ends. Raises NotInstalled."""
    try:
        app_tokens.lock_installation(shop=shop, installation_id=installation.pk)
    except Unauthenticated:
        raise NotInstalled from None


def _issue_token(installation: Installation, now: datetime) -> str:
    return app_tokens.issue_app_token(
        shop=installation.shop,
        installation_id=installation.pk,
        name=installation.app.name,
        scopes=installation.scopes,
        requests_per_minute=installation.requests_per_minute,
        now=now,
    )


def _send_token(installation: Installation, topic: str, token: str, members: dict[str, Any], now: datetime) -> None:
    """Send the token to the app's install URL. It is stored only in this delivery, until that has ended."""
    message = {
        "type": topic,
        "timestamp": timestamp(now),
        "shop_domain": installation.shop.domain,
        "access_token": token,
        "installation_id": installation.pk,
        **members,
    }
    webhooks.send_message(
        installation=installation,
        kind=Delivery.Kind.INSTALL if topic == INSTALLED else Delivery.Kind.TOKEN,
        address=installation.app.install_url,
        topic=topic,
        message=orjson.dumps(message),
        now=now,
    )


def _seal(secret: str, purpose: str) -> bytes:
    return sealing.seal(secret.encode(), purpose=purpose)
