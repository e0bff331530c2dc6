"""Mappings that a shop keeps, by the header row that they are for."""

from collections.abc import Sequence
from datetime import datetime

from storefront.product_files.mapped.mapping import Mapping, digest_of, named
from storefront.product_files.models import ColumnMapping
from storefront.shops.models import Shop

MAX_KEPT = 100


def kept_mapping(shop: Shop, headers: Sequence[str]) -> Mapping | None:
    """The shop's mapping for this header row, if it has one that still fits."""
    row = ColumnMapping.objects.filter(shop=shop, digest=digest_of(headers)).first()
    if row is None:
        return None
    mapping = Mapping(**row.mapping)
    return None if mapping.problems(named(headers)) else mapping


def keep_mapping(shop: Shop, headers: Sequence[str], mapping: Mapping, *, now: datetime) -> None:
    """Keep the mapping for the next file with this header row, in place of the one before and of the shop's oldest ones
    above MAX_KEPT."""
    values = {"mapping": mapping.as_json(), "used_at": now}
    ColumnMapping.objects.update_or_create(shop=shop, digest=digest_of(headers), defaults=values)
    kept = ColumnMapping.objects.filter(shop=shop).order_by("-used_at", "-pk")
    old = list(kept.values_list("pk", flat=True)[MAX_KEPT:])
    if old:
        ColumnMapping.objects.filter(shop=shop, pk__in=old).delete()
