"""The blocks that apps show on the shop's pages: registered, listed, taken away (contract: App API)."""

from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from storefront.apps.models import Extension
from storefront.kit import addresses
from storefront.kit.clock import timestamp
from storefront.kit.refusals import InvalidFields, NotFound, Refusal
from storefront.shops import app_tokens
from storefront.shops.models import Shop

# Milliseconds that the shop waits for a block.
SHORTEST_WAIT, USUAL_WAIT, LONGEST_WAIT = 100, 5000, 10_000
# A page asks for all of a shop's blocks of its type at once, so there is an end to how many an app may have.
MOST_EXTENSIONS = 20


class TooManyExtensions(Refusal):
    code, field = "too_many_extensions", "type"
    message = f"An app can have {MOST_EXTENSIONS} extensions in a shop."


@transaction.atomic
def register_extension(
    *, shop: Shop, installation_id: int, type: str, callback_url: str, timeout_ms: int = USUAL_WAIT, now: datetime
) -> Extension:
    """A block of the app on the shop's pages of that type, shown from now on.

    Raises InvalidFields for a callback URL that the shop would not call, TooManyExtensions, and Unauthenticated where
    the app is being uninstalled.
    """
    try:
        addresses.check_url(callback_url)
    except addresses.BadAddress as bad:
        raise InvalidFields(errors={"callback_url": [str(bad)]}) from None
    app_tokens.hold_installation(shop=shop, installation_id=installation_id)
    if Extension.objects.filter(shop=shop, installation=installation_id).count() >= MOST_EXTENSIONS:
        raise TooManyExtensions
    return Extension.objects.create(
        shop=shop,
        installation_id=installation_id,
        type=type,
        callback_url=callback_url,
        timeout_ms=timeout_ms,
        created_at=now,
        updated_at=now,
    )


@transaction.atomic
def delete_extension(*, shop: Shop, installation_id: int, extension_id: int) -> None:
    """Take the app's own extension off the pages. Raises NotFound, also for one of another app or shop."""
    if not delete_extensions(Extension.objects.filter(shop=shop, installation=installation_id, pk=extension_id)):
        raise NotFound


@transaction.atomic
def delete_extensions(extensions: QuerySet[Extension]) -> int:
    """Delete these and what is kept of their calls: how many. Locked first, so that no call is written down meanwhile
    (`rendering._record`)."""
    ids = list(extensions.select_for_update().order_by("pk").values_list("pk", flat=True))
    Extension.objects.filter(pk__in=ids).delete()
    return len(ids)


def extension_records(shop: Shop) -> list[dict[str, Any]]:
    """Every app's extensions of this shop, in the order in which they were registered."""
    return [extension_record(extension) for extension in Extension.objects.filter(shop=shop).order_by("pk")]


def has_extensions(shop: Shop, type: str) -> bool:
    """Whether a page has anybody to ask for blocks of this type."""
    return Extension.objects.filter(shop=shop, type=type, is_active=True).exists()


def extension_record(extension: Extension) -> dict[str, Any]:
    """The members of the contract, in its order."""
    return {
        "id": extension.pk,
        "app_installation_id": extension.installation_id,
        "type": extension.type,
        "callback_url": extension.callback_url,
        "is_active": extension.is_active,
        "timeout_ms": extension.timeout_ms,
        "created_at": timestamp(extension.created_at),
        "updated_at": timestamp(extension.updated_at),
    }
