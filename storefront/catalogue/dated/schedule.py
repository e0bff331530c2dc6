"""Emits events of products that were published or unpublished by their date, without a write.

The worker looks for them every few seconds. A product that was written after its date is left out, since that write
has emitted the event. Safe to run in two workers at once: a shop is locked, and the second worker finds nothing left.
"""

from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Exists, F, Min, OuterRef, Q, QuerySet

from storefront.catalogue.events import emit_updated
from storefront.catalogue.listable import LISTABLE
from storefront.catalogue.models import Product, ScheduleTold
from storefront.installations.models import Installation
from storefront.pods.moves import NOT_MOVING

TIMES = ("publish_at", "unpublish_at")


def emit_scheduled_changes(*, now: datetime, limit: int) -> int:
    """Emit the events of at most `limit` products whose date is before `now`. Returns their number."""
    _follow_installations()
    emitted = 0
    for shop_id in _shops_with_due(now):
        if emitted < limit:
            emitted += _emit_for_shop(shop_id, now, limit - emitted)
    return emitted


def _follow_installations() -> None:
    """Add a row for each shop that has got its first app. Delete the rows of shops without apps."""
    installed = Installation.objects.filter(uninstalled_at=None)
    without_apps = ScheduleTold.objects.filter(NOT_MOVING).exclude(Exists(installed.filter(shop=OuterRef("shop"))))
    if left := list(without_apps.values_list("pk", flat=True)):
        without_apps.filter(pk__in=left).delete()
    new = installed.filter(NOT_MOVING).exclude(Exists(ScheduleTold.objects.filter(shop=OuterRef("shop"))))
    starts = new.values("shop").annotate(first=Min("installed_at")).values_list("shop", "first")
    rows = [ScheduleTold(shop_id=shop, until=first) for shop, first in starts]
    ScheduleTold.objects.bulk_create(rows, ignore_conflicts=True)


def _shops_with_due(now: datetime) -> list[int]:
    due = [Exists(_due(column, OuterRef("shop"), OuterRef("until"), OuterRef("last_id"), now)) for column in TIMES]
    return list(ScheduleTold.objects.filter(NOT_MOVING, due[0] | due[1]).order_by("pk").values_list("pk", flat=True))


@transaction.atomic
def _emit_for_shop(shop_id: int, now: datetime, limit: int) -> int:
    progress = ScheduleTold.objects.select_for_update(of=("self",)).select_related("shop").filter(pk=shop_id).first()
    if progress is None:
        return 0
    found: list[tuple[datetime, int]] = []
    for column in TIMES:
        found += _due(column, shop_id, progress.until, progress.last_id, now).values_list(column, "pk")[:limit]
    found = sorted(found)[:limit]
    if found:
        # Each product once, in the order of the dates.
        emit_updated(progress.shop, list(dict.fromkeys(id for _, id in found)), now)
        progress.until, progress.last_id = found[-1]
        progress.save()
    return len(found)


def _due(column: str, shop: Any, until: Any, last_id: Any, now: datetime) -> QuerySet[Product]:
    """Products whose date is before now and after (`until`, `last_id`), and that were not written since; in order."""
    passed = Q(**{f"{column}__gt": until}) | Q(**{column: until, "pk__gt": last_id})
    bounds = {f"{column}__gte": until, f"{column}__lt": now, "updated_at__lt": F(column)}
    return Product.objects.filter(LISTABLE, passed, shop=shop, **bounds).order_by(column, "pk")
