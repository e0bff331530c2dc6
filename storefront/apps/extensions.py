"""Registers, lists, changes and deletes the extensions of apps (R-APP-16 to R-APP-18, R-APP-37, R-APP-38)."""

from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils.text import format_lazy
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from storefront import audit
from storefront.apps.models import Extension
from storefront.installations import app_tokens
from storefront.kit import addresses
from storefront.kit.refusals import InvalidFields, NotFound, Refusal
from storefront.shops.models import Shop

# Milliseconds that the shop waits for a block: minimum, default, maximum.
MIN_WAIT, USUAL_WAIT, MAX_WAIT = 100, 5000, 10_000
# Limited because a page calls all of a shop's extensions of its type at once (R-LIM-12).
MAX_EXTENSIONS = 20


class TooManyExtensions(Refusal):
    code, field = "too_many_extensions", "type"
    message = format_lazy(_lazy("An app can have {most} extensions in a shop."), most=MAX_EXTENSIONS)


@transaction.atomic
def register_extension(
    *, shop: Shop, installation_id: int, type: str, callback_url: str, timeout_ms: int = USUAL_WAIT, now: datetime
) -> tuple[Extension, bool]:
    """Show a block of the app on the shop's pages of that type from now on. Returns the extension, and True if it is
    new; an existing one with the same type and callback URL is returned unchanged (R-APP-37).

    Raises InvalidFields for a callback URL that the shop would not call, TooManyExtensions, and Unauthenticated if the
    app is being uninstalled.
    """
    _check_callback(callback_url)
    # Locked, so that concurrent registrations of the same block run one after the other.
    app_tokens.lock_installation(shop=shop, installation_id=installation_id)
    own = Extension.objects.filter(shop=shop, installation=installation_id)
    existing = own.filter(type=type, callback_url=callback_url).first()
    if existing:
        return existing, False
    if own.count() >= MAX_EXTENSIONS:
        raise TooManyExtensions
    extension = Extension.objects.create(
        shop=shop,
        installation_id=installation_id,
        type=type,
        callback_url=callback_url,
        timeout_ms=timeout_ms,
        created_at=now,
        updated_at=now,
    )
    audit.record_created(shop=shop, object=extension, action="extension.registered", now=now)
    return extension, True


@transaction.atomic
def change_extension(
    *, shop: Shop, installation_id: int, extension_id: int, changes: dict[str, Any], now: datetime
) -> Extension:
    """Set the `callback_url` or `timeout_ms` of one of the app's own extensions (R-APP-38). A new callback URL starts
    without the failures of the old one.

    Raises NotFound, also for one of another app or shop; InvalidFields, also if another extension of the app has the
    same type and callback URL; and Unauthenticated if the app is being uninstalled.
    """
    if "callback_url" in changes:
        _check_callback(changes["callback_url"])
    app_tokens.lock_installation(shop=shop, installation_id=installation_id)
    own = Extension.objects.filter(shop=shop, installation=installation_id)
    extension = own.select_for_update(no_key=True).filter(pk=extension_id).first()
    if extension is None:
        raise NotFound
    before = {name: getattr(extension, name) for name in changes}
    if before == changes:
        return extension
    if changes.get("callback_url", extension.callback_url) != extension.callback_url:
        if own.filter(type=extension.type, callback_url=changes["callback_url"]).exists():
            raise InvalidFields(
                errors={"callback_url": [_("Another %(type)s of the app has this URL.") % {"type": extension.type}]}
            )
        changes = changes | {"failures_in_a_row": 0, "asked_again_at": None}
    own.filter(pk=extension_id).update(**changes, updated_at=now)
    extension.refresh_from_db()
    after = {name: getattr(extension, name) for name in before}
    audit.record_change(shop=shop, action="extension.updated", object=extension, before=before, after=after, now=now)
    return extension


def _check_callback(url: str) -> None:
    try:
        addresses.check_url(url)
    except addresses.BadAddress as bad:
        raise InvalidFields(errors={"callback_url": [str(bad)]}) from None


@transaction.atomic
def delete_extension(*, shop: Shop, installation_id: int, extension_id: int, now: datetime) -> None:
    """Delete one of the app's own extensions. Raises NotFound, also for one of another app or shop (R-APP-13)."""
    own = Extension.objects.filter(shop=shop, installation=installation_id, pk=extension_id)
    rows = list(own.select_related("installation__app"))
    if not delete_extensions(own):
        raise NotFound
    audit.record_deleted(shop=shop, rows=rows, now=now)


@transaction.atomic
def delete_extensions(extensions: QuerySet[Extension]) -> int:
    """Delete these extensions and their recorded calls. Returns how many extensions. Locked first, so that no call is
    recorded meanwhile (`rendering.call_extensions`)."""
    ids = list(extensions.select_for_update().order_by("pk").values_list("pk", flat=True))
    Extension.objects.filter(pk__in=ids).delete()
    return len(ids)


def extensions_of(shop: Shop) -> QuerySet[Extension]:
    """The extensions of all apps in the shop, in the order of registration (R-APP-11)."""
    return Extension.objects.filter(shop=shop).order_by("pk")


def own_extension(shop: Shop, installation_id: int, extension_id: int) -> Extension:
    """One of the app's own extensions. Raises NotFound, also for one of another app or shop."""
    found = Extension.objects.filter(shop=shop, installation=installation_id, pk=extension_id).first()
    if found is None:
        raise NotFound
    return found


def has_extensions(shop: Shop, type: str) -> bool:
    """Returns True if the shop has active extensions of this type."""
    return Extension.objects.filter(shop=shop, type=type, is_active=True).exists()
