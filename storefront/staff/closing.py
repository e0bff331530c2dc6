"""The operator closes a shop of the deployment, and opens it again. Nothing is deleted.

A closed shop sells nothing: its API answers 401 to every token (R-ERR-3), its pages are a page of status 410
(`website/closed.py`). Its admin stays open to its staff, who have orders to send and to refund, and data to export.
What must never happen: money on its way that is not recorded, another shop shown at the closed one's domain, or a
closing that its owners do not learn of. Owners close the doors themselves, which is something else (`doors.py`).
"""

from datetime import datetime

from django.db import transaction

from storefront import audit
from storefront.shops import changes
from storefront.shops.models import Shop


def close_shop(*, shop: Shop, now: datetime) -> bool:
    """Close the shop from the next request on. Returns False if it was closed."""
    return _set(shop, is_active=False, action="shop.suspended", now=now)


def reopen_shop(*, shop: Shop, now: datetime) -> bool:
    """Open the closed shop again. Returns False if it was not closed."""
    return _set(shop, is_active=True, action="shop.resumed", now=now)


@transaction.atomic
def _set(shop: Shop, *, is_active: bool, action: str, now: datetime) -> bool:
    # If two do it at once, the second finds no row.
    changed = Shop.objects.filter(pk=shop.pk, is_active=not is_active).update(is_active=is_active, updated_at=now)
    if changed:
        audit.record(shop=shop, action=action, object=audit.Object("shop", shop.pk, shop.name), now=now)
        changes.publish_change(shop.pk)
    return bool(changed)
