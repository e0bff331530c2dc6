"""Allows downloads of an order again that are used up or expired."""

from collections.abc import Collection
from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext_lazy as _lazy

from storefront import audit
from storefront.kit.clock import timestamp
from storefront.kit.refusals import Refusal
from storefront.orders.actions import lock_order, record_updated
from storefront.orders.download_links import is_paid, is_withdrawn
from storefront.orders.downloads import start_time
from storefront.orders.models import Download, Order
from storefront.shops.models import Shop


class NothingToAllow(Refusal):
    """The order has none of these downloads, or it was cancelled or refunded in full."""

    code = "no_downloads"
    message = _lazy("This order has no files that can be downloaded again.")


@transaction.atomic
def allow_downloads(*, shop: Shop, order: Order, ids: Collection[int], now: datetime) -> None:
    """Reset the counts of these downloads of the order and restart their time. Raises NothingToAllow."""
    order = lock_order(shop, order)
    rows = list(Download.objects.select_for_update().filter(shop=shop, order=order, pk__in=ids))
    if not rows or is_withdrawn(order):
        raise NothingToAllow
    before = {"downloads": [_values(row) for row in rows]}
    for row in rows:
        row.used, row.begun_at, row.sent = 0, None, 0
    Download.objects.bulk_update(rows, ["used", "begun_at", "sent"])
    if is_paid(order):
        start_time(rows, now)
    order.updated_at = now
    order.save(update_fields=["updated_at"])
    after = {"downloads": [_values(row) for row in rows]}
    audit.record(shop=shop, action="order.downloads_allowed", object=order, before=before, after=after, now=now)
    record_updated(shop=shop, order=order, now=now)


def _values(row: Download) -> dict[str, str | int | None]:
    return {"name": row.name, "used": row.used, "expires_at": timestamp(row.expires_at)}
