# ruff: noqa: S608, what is put together here are conditions of this package; values are parameters.
"""Works out anew what the catalogue keeps beside its rows, and says where that was not right: totals, search texts,
the search index. Nothing should ever be found; it is for after a restored backup or a hand in the database.

Shops stay open meanwhile. SQLite's other writers wait for each step.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from django.db import connection, transaction

from storefront.catalogue import rules
from storefront.catalogue.bulk import room_to_write
from storefront.catalogue.models import Category, Product, ProductSearch
from storefront.catalogue.sql import LISTABLE
from storefront.catalogue.triggers import FILL_INDEX
from storefront.shops.models import Shop

BATCH = 2000

# In one statement, so that it sees one state of the shop, whoever writes meanwhile.
_DIFFERENCES = f"""
    SELECT found.category, CAST(sum(found.kept) AS bigint), CAST(sum(found.counted) AS bigint) FROM (
        SELECT t.category, t.products AS kept, 0 AS counted FROM catalogue_listingtotal t WHERE t.shop_id = %(shop)s
        UNION ALL
        SELECT 0, 0, count(*) FROM catalogue_product p WHERE p.shop_id = %(shop)s AND {LISTABLE}
        UNION ALL
        SELECT l.category_id, 0, count(*) FROM catalogue_productcategory l JOIN catalogue_product p
            ON p.id = l.product_id WHERE l.shop_id = %(shop)s AND {LISTABLE} GROUP BY l.category_id
    ) found GROUP BY found.category HAVING sum(found.kept) <> sum(found.counted) ORDER BY found.category
"""
_ADD = {
    "sqlite": "INSERT INTO catalogue_note VALUES (%s, %s, %s)",
    "postgresql": "SELECT catalogue_note(%s, %s, %s)",
}
_LISTED = f"""
    UPDATE catalogue_productsearch SET listed = NOT listed WHERE shop_id = %(shop)s AND listed <>
        EXISTS (SELECT 1 FROM catalogue_product p WHERE p.id = catalogue_productsearch.product_id AND {LISTABLE})
"""


@dataclass
class Differences:
    """What was not right: totals as {category, kept, counted}, a category's slug or None for all of the shop; how many
    search texts were missing, outdated or left over; how many were wrongly in or out of the index."""

    totals: list[dict[str, Any]] = field(default_factory=list)
    texts: int = 0
    listed: int = 0


@room_to_write()
def reindex(*, shop: Shop) -> Differences:
    """Put the shop's totals and search texts right."""
    found = Differences()
    found.texts = sum(_write_texts(shop, batch) for batch in _batches(shop))
    with transaction.atomic(), connection.cursor() as cursor:
        found.texts += ProductSearch.objects.filter(shop=shop).exclude(product__deleted_at=None).delete()[0]
        cursor.execute(_LISTED, {"shop": shop.pk})
        found.listed = cursor.rowcount
        cursor.execute(_DIFFERENCES, {"shop": shop.pk})
        differences = cursor.fetchall()
        for category, kept, counted in differences:
            cursor.execute(_ADD[connection.vendor], [shop.pk, category, counted - kept])
    slugs = dict(Category.objects.filter(shop=shop).values_list("pk", "slug"))
    found.totals = [
        {"category": slugs.get(category), "kept": kept, "counted": counted} for category, kept, counted in differences
    ]
    return found


@room_to_write()
@transaction.atomic
def rebuild_index() -> None:
    """Build the search index of all shops from scratch. PostgreSQL keeps its own; its REINDEX is for a broken one."""
    if connection.vendor != "sqlite":
        return
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO catalogue_searchindex (catalogue_searchindex) VALUES ('delete-all')")
        cursor.execute(f"{FILL_INDEX} WHERE listed ORDER BY 1")


def _batches(shop: Shop) -> Iterator[list[int]]:
    last = 0
    standing = Product.objects.filter(shop=shop, deleted_at=None).order_by("pk")
    while ids := list(standing.filter(pk__gt=last).values_list("pk", flat=True)[:BATCH]):
        yield ids
        last = ids[-1]


@transaction.atomic
def _write_texts(shop: Shop, ids: list[int]) -> int:
    # Locked, so that a text is never written over by an older one.
    rows = Product.objects.select_for_update(no_key=True).filter(shop=shop, deleted_at=None, pk__in=ids).order_by("pk")
    stored = dict(ProductSearch.objects.filter(product_id__in=ids).values_list("product_id", "text"))
    wrong = [
        ProductSearch(product_id=id, shop=shop, text=text)
        for id, *texts in rows.values_list("pk", "name", "description", "sku")
        if stored.get(id) != (text := rules.search_text(*texts))
    ]
    ProductSearch.objects.bulk_create(wrong, update_conflicts=True, unique_fields=["product"], update_fields=["text"])
    return len(wrong)
