"""Audit entries of products: what changed in them, their variants, options, pictures, categories and stock.

Records are compared as apps read them, since every write has taken these snapshots for its events. Cost prices of
variants, which apps cannot read, are added as `variant_costs`.
"""

from collections.abc import Collection
from datetime import datetime
from typing import Any

from storefront import audit
from storefront.audit.values import Values, differences, without_empty
from storefront.catalogue.events import Snapshot
from storefront.catalogue.rules import full_name
from storefront.shops.models import Shop


def record_products(
    shop: Shop,
    before: Snapshot,
    after: Snapshot,
    products: Collection[int],
    *,
    now: datetime,
    action: str | None = None,
) -> None:
    """One entry for each of these products that was created, changed or deleted. `action` replaces the entry's action.

    Call it in the transaction of the write.
    """
    entries = []
    for id in products:
        was, became = _values_of(before, id), _values_of(after, id)
        default_action, left, right = _change(was, became)
        if left is None and right is None:
            continue
        name = (became or was or {}).get("name", "")
        about = audit.Object("product", id, name)
        entries.append(
            audit.new_entry(shop=shop, action=action or default_action, object=about, before=left, after=right, now=now)
        )
    audit.record_all(entries)


def record_statuses(shop: Shop, products: Collection[tuple[int, str, str]], status: str, now: datetime) -> None:
    """Record entries of products whose status alone changed. `products`: id, name and previous status of each."""
    audit.record_all(
        audit.new_entry(
            shop=shop,
            action="product.status_changed",
            object=audit.Object("product", id, name),
            before={"status": was},
            after={"status": status},
            now=now,
        )
        for id, name, was in products
    )


def stock_object(product: Any, variant: Any) -> audit.Object:
    return audit.Object("product", product.pk, full_name(product.name, variant.name if variant else None))


def _change(was: Values | None, became: Values | None) -> tuple[str, Values | None, Values | None]:
    if was is None:
        return "product.created", None, without_empty(became) if became else None
    if became is None:
        return "product.deleted", without_empty(was), None
    left, right = differences(was, became)
    return "product.updated", left or None, right or None


def _values_of(snapshot: Snapshot, id: int) -> Values | None:
    record = snapshot.products.get(id)
    if record is None:
        return None
    values: Values = record | {"categories": sorted(category["name"] for category in record["categories"])}
    costs = {str(variant["id"]): snapshot.costs.get(variant["id"]) for variant in record["variants"]}
    return values | {"variant_costs": {id: cost for id, cost in costs.items() if cost}}
