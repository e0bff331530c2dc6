"""Tells apps of products that became public, or ceased to be, because their time came: nobody wrote anything then.

A worker looks for them every few seconds. One whose product was written after its time came has told of it already.
Two workers at once take turns shop by shop, and the second finds nothing left.
"""

from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Exists, F, Min, OuterRef, Q, QuerySet

from storefront.apps.models import Installation
from storefront.catalogue.events import tell_of_change
from storefront.catalogue.models import LISTABLE, Product
from storefront.catalogue.schedule_models import ScheduleTold

TIMES = ("publish_at", "unpublish_at")


def tell_of_schedule(*, now: datetime, limit: int) -> int:
    """Tell of at most so many products whose time came before `now`: how many."""
    _follow_installations()
    told = 0
    for shop_id in _shops_with_due(now):
        if told < limit:
            told += _tell(shop_id, now, limit - told)
    return told


def _follow_installations() -> None:
    """Begin with a shop's first app, and forget the shop with its last."""
    installed = Installation.objects.filter(uninstalled_at=None)
    gone = ScheduleTold.objects.exclude(Exists(installed.filter(shop=OuterRef("shop"))))
    if left := list(gone.values_list("pk", flat=True)):
        gone.filter(pk__in=left).delete()
    new = installed.exclude(Exists(ScheduleTold.objects.filter(shop=OuterRef("shop"))))
    begun = new.values("shop").annotate(first=Min("installed_at")).values_list("shop", "first")
    rows = [ScheduleTold(shop_id=shop, until=first) for shop, first in begun]
    ScheduleTold.objects.bulk_create(rows, ignore_conflicts=True)


def _shops_with_due(now: datetime) -> list[int]:
    due = [Exists(_due(column, OuterRef("shop"), OuterRef("until"), OuterRef("last_id"), now)) for column in TIMES]
    return list(ScheduleTold.objects.filter(due[0] | due[1]).order_by("pk").values_list("pk", flat=True))


@transaction.atomic
def _tell(shop_id: int, now: datetime, limit: int) -> int:
    told = ScheduleTold.objects.select_for_update(of=("self",)).select_related("shop").filter(pk=shop_id).first()
    if told is None:
        return 0
    found: list[tuple[datetime, int]] = []
    for column in TIMES:
        found += _due(column, shop_id, told.until, told.last_id, now).values_list(column, "pk")[:limit]
    found = sorted(found)[:limit]
    if found:
        tell_of_change(told.shop, {id for _, id in found}, now)
        told.until, told.last_id = found[-1]
        told.save()
    return len(found)


def _due(column: str, shop: Any, until: Any, last_id: Any, now: datetime) -> QuerySet[Product]:
    """Products whose time came before now and after what was told, in order, and that were not written since."""
    passed = Q(**{f"{column}__gt": until}) | Q(**{column: until, "pk__gt": last_id})
    bounds = {f"{column}__gte": until, f"{column}__lt": now, "updated_at__lt": F(column)}
    return Product.objects.filter(LISTABLE, passed, shop=shop, **bounds).order_by(column, "pk")
