"""The life of an app in a shop: registered by the operator, installed by the merchant, uninstalled."""

import re
from datetime import datetime, timedelta

import orjson
from django.db import IntegrityError, transaction

from storefront.apps.extensions import delete_extensions
from storefront.apps.models import (
    APP_SECRET,
    WEBHOOK_SECRET,
    AllowedScriptHost,
    App,
    Extension,
    Installation,
    ScriptTag,
)
from storefront.apps.rules import in_order, script_host
from storefront.kit import addresses, sealing
from storefront.kit.refusals import InvalidFields, Refusal
from storefront.shops import app_tokens
from storefront.shops.auth import Unauthenticated
from storefront.shops.models import Shop
from storefront.shops.scopes import SCOPES
from storefront.webhooks import actions as webhooks
from storefront.webhooks import signing
from storefront.webhooks.models import Delivery, Registration

# How long what was signed with is still signed with beside its successor.
GRACE = timedelta(hours=24)
INSTALLED, UNINSTALLED = "app.installed", "app.uninstalled"
_SLUG = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*\Z")


class AppUnavailable(Refusal):
    code, message, field = "app_unavailable", "This app cannot be installed.", "app"


class AlreadyInstalled(Refusal):
    code, message, field = "already_installed", "This app is installed in this shop already.", "app"


class NotInstalled(Refusal):
    code, message, field = "not_installed", "This app is not installed in this shop.", "app"


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
    """An app that shops can install, and the secret that its install notifications are signed with, `whsec_...`.

    The secret is shown to nobody again. Raises InvalidFields, which names each field that does not fit.
    """
    secret = signing.new_secret()
    app = App(
        name=name.strip(),
        slug=slug.strip(),
        contact=contact.strip(),
        description=description.strip(),
        install_url=install_url.strip(),
        scopes=in_order(scopes),
        sealed_secret=_sealed(secret, APP_SECRET),
        created_at=now,
        updated_at=now,
    )
    errors = _unfit(app) | _unknown_scopes(scopes)
    if App.objects.filter(slug=app.slug).exists():
        errors["slug"] = [f"{app.slug} is another app's slug."]
    if errors:
        raise InvalidFields(errors=errors)
    try:
        with transaction.atomic():
            app.save()
    except IntegrityError:
        # Somebody else was a moment earlier.
        raise InvalidFields(errors={"slug": [f"{app.slug} is another app's slug."]}) from None
    return app, secret


def _unfit(app: App) -> dict[str, list[str]]:
    errors = {}
    if not 1 <= len(app.name) <= 100:
        errors["name"] = ["Expected a name of 1 to 100 characters."]
    if not _SLUG.match(app.slug) or len(app.slug) > 60:
        errors["slug"] = ["Expected 1 to 60 small letters, digits and hyphens, such as gift-notes."]
    if app.contact and "@" not in app.contact:
        errors["contact"] = ["Expected an e-mail address."]
    try:
        addresses.check_url(app.install_url)
    except addresses.BadAddress as bad:
        errors["install_url"] = [str(bad)]
    return errors


def _unknown_scopes(scopes: list[str]) -> dict[str, list[str]]:
    unknown = sorted(set(scopes) - SCOPES.keys())
    return {"scopes": [f"Unknown: {', '.join(unknown)}. Known: {', '.join(SCOPES)}."]} if unknown else {}


@transaction.atomic
def rotate_app_secret(*, app: App, now: datetime) -> str:
    """A new secret for the app's install notifications, also for those that have not arrived yet."""
    secret = signing.new_secret()
    App.objects.filter(pk=app.pk).update(sealed_secret=_sealed(secret, APP_SECRET), updated_at=now)
    return secret


@transaction.atomic
def install_app(*, shop: Shop, app: App, scopes: list[str], now: datetime) -> tuple[Installation, str]:
    """Put the app into the shop with the scopes that the merchant grants: the installation, and its token.

    The token is kept nowhere but in the notification that is on its way to the app. Raises InvalidFields for a scope
    that the app does not ask for, AppUnavailable and AlreadyInstalled.
    """
    if not App.objects.filter(pk=app.pk, is_active=True).exists():
        raise AppUnavailable
    granted, secret = _grantable(app, scopes), signing.new_secret()
    # The constraint decides between two who install at once.
    installation, is_new = Installation.objects.get_or_create(
        shop=shop,
        app=app,
        uninstalled_at=None,
        defaults={"scopes": granted, "sealed_secret": _sealed(secret, WEBHOOK_SECRET), "installed_at": now},
    )
    if not is_new:
        raise AlreadyInstalled
    token = _issue_token(installation, now)
    AllowedScriptHost.objects.create(shop=shop, installation=installation, host=script_host(app.install_url))
    notification = {
        "shop_domain": shop.domain,
        "access_token": token,
        "installation_id": installation.pk,
        "scopes": granted,
        "webhook_secret": secret,
    }
    webhooks.send_message(
        installation=installation,
        kind=Delivery.Kind.INSTALL,
        address=app.install_url,
        topic=INSTALLED,
        message=orjson.dumps(notification),
        now=now,
    )
    return installation, token


@transaction.atomic
def uninstall_app(*, shop: Shop, installation: Installation, now: datetime) -> None:
    """Take the app out of the shop: its tokens are worthless from the next request on, and nothing of it stays but one
    last word to it (decisions: Uninstall). Raises NotInstalled."""
    _hold(shop, installation)
    Installation.objects.filter(shop=shop, pk=installation.pk).update(uninstalled_at=now)
    app_tokens.end_app_tokens(shop=shop, installation_id=installation.pk, now=now)
    address = _last_address(installation)
    webhooks.end_deliveries(installation=installation, now=now)
    delete_extensions(Extension.objects.filter(shop=shop, installation=installation))
    for registered in (ScriptTag, AllowedScriptHost):
        registered.objects.filter(shop=shop, installation=installation).delete()
    gone = {"id": installation.pk, "app": installation.app.slug}
    event = webhooks.record_event(shop=shop, topic=UNINSTALLED, data=gone, now=now)
    webhooks.send_event(installation=installation, kind=Delivery.Kind.UNINSTALL, address=address, event=event, now=now)


def _last_address(installation: Installation) -> str:
    """Where the app hears that it is uninstalled: where it asked to, else where it heard of the beginning."""
    wish = Registration.objects.filter(installation=installation, topic=UNINSTALLED, is_active=True).first()
    return wish.address if wish else installation.app.install_url


@transaction.atomic
def rotate_token(*, shop: Shop, installation: Installation, now: datetime) -> str:
    """A new token; those before it are good for another 24 hours. Raises NotInstalled."""
    _hold(shop, installation)
    app_tokens.end_app_tokens(shop=shop, installation_id=installation.pk, now=now, at=now + app_tokens.GRACE)
    return _issue_token(Installation.objects.select_related("shop", "app").get(pk=installation.pk), now)


def end_old_tokens(*, shop: Shop, installation: Installation, now: datetime) -> None:
    """Do not wait for the end of the grace: only the newest token is good from the next request on."""
    app_tokens.end_replaced_tokens(shop=shop, installation_id=installation.pk, now=now)


@transaction.atomic
def rotate_secret(*, shop: Shop, installation: Installation, now: datetime) -> str:
    """A new webhook secret, `whsec_...`; for 24 hours deliveries and calls are signed with the old one too.

    Raises NotInstalled.
    """
    _hold(shop, installation)
    secret, row = signing.new_secret(), Installation.objects.get(shop=shop, pk=installation.pk)
    row.sealed_previous_secret, row.previous_secret_until = row.sealed_secret, now + GRACE
    row.sealed_secret = _sealed(secret, WEBHOOK_SECRET)
    row.save(update_fields=["sealed_secret", "sealed_previous_secret", "previous_secret_until"])
    return secret


@transaction.atomic
def change_scopes(*, shop: Shop, installation: Installation, scopes: list[str], now: datetime) -> None:
    """What the app may do in this shop from the next request on. Raises InvalidFields, NotInstalled."""
    granted = _grantable(installation.app, scopes)
    _hold(shop, installation)
    Installation.objects.filter(shop=shop, pk=installation.pk).update(scopes=granted)
    app_tokens.change_app_tokens(shop=shop, installation_id=installation.pk, scopes=granted)


@transaction.atomic
def change_rate_limit(*, shop: Shop, installation: Installation, requests_per_minute: int, now: datetime) -> None:
    """How often the app may call, from the next request on. Raises NotInstalled."""
    _hold(shop, installation)
    limit = {"requests_per_minute": requests_per_minute}
    Installation.objects.filter(shop=shop, pk=installation.pk).update(**limit)
    app_tokens.change_app_tokens(shop=shop, installation_id=installation.pk, **limit)


def _grantable(app: App, scopes: list[str]) -> list[str]:
    """The scopes in order. Raises InvalidFields for what the app does not ask for."""
    others = sorted(set(scopes) - set(app.scopes))
    if others:
        asked = ", ".join(app.scopes) or "nothing"
        raise InvalidFields(errors={"scopes": [f"{app} does not ask for {', '.join(others)}. It asks for {asked}."]})
    return in_order(scopes)


def _hold(shop: Shop, installation: Installation) -> None:
    """Nobody else changes the installation until the transaction ends. Raises NotInstalled."""
    try:
        app_tokens.hold_installation(shop=shop, installation_id=installation.pk)
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


def _sealed(secret: str, purpose: str) -> bytes:
    return sealing.seal(secret.encode(), purpose=purpose)
