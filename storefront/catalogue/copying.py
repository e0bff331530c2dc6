# ruff: noqa: S608, the statements consist of conditions of this package and of numbers; values are parameters.
"""Apps' lists of products and of stock, as sources for clients that keep a copy of them (`sync.feed`)."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, ClassVar

import orjson
from django.db import connection

from storefront.catalogue import records
from storefront.catalogue.dated import dates
from storefront.catalogue.inventory import queries as inventory
from storefront.catalogue.inventory.queries import item_id
from storefront.catalogue.models import Product, Variant
from storefront.kit.api.members import only
from storefront.kit.clock import timestamp
from storefront.kit.sql import fetch
from storefront.sync import log
from storefront.sync.feed import Deletion, Source
from storefront.sync.log import Changed, as_stored, as_utc

# The product `p` of a change `c`.
PRODUCT = "SELECT 1 FROM catalogue_product p WHERE p.id = c.object_id AND p.shop_id = %(shop)s"
# The index by id of products that are not deleted has these conditions (`product_standing`).
_BY_ID = "p.shop_id = %(shop)s AND p.deleted_at IS NULL AND p.id > 0"


class Products(Source):
    """The products that `/api/apps/products` lists."""

    name, kind = "app-products", "product"
    # Conditions: the list has the product `p`; the product was changed since `%(since)s`.
    listed: ClassVar[str] = "p.deleted_at IS NULL"
    recent: ClassVar[str] = f"(p.updated_at >= %(since)s OR p.id IN (SELECT t.id FROM ({dates.turned()}) t))"
    # SQL of `at` and `id`, after a UNION ALL, of products that a date has shown or hidden since then without a write.
    published: ClassVar[str] = ""
    for_apps: ClassVar[bool] = True

    def dated(self, since: datetime, last: int, now: datetime, count: int) -> Sequence[tuple[datetime, int]]:
        # Products that are not listed are reported by `gone`.
        turned = f"({dates.turned()}) t JOIN catalogue_product p ON p.id = t.id WHERE {self.listed}"
        statement = (
            f"SELECT d.at, d.id FROM (SELECT t.at, t.id FROM {turned}{self.published}) d"
            " WHERE d.at > %(since)s OR d.id > %(last)s ORDER BY d.at, d.id LIMIT %(count)s"
        )
        params = {"shop": self.shop.pk, "since": as_stored(since), "last": last, "now": as_stored(now), "count": count}
        return [(as_utc(at), id) for at, id in fetch(connection, statement, params)]

    def scan(self, after: int, count: int, now: datetime) -> Sequence[tuple[int, Sequence[str]]]:
        recent = "" if self.since is None else f" AND {self.recent}"
        rows = self._rows(
            f"{_BY_ID} AND {self.listed} AND p.id > %(after)s{recent} ORDER BY p.id LIMIT %(count)s",
            {"after": after, "count": count, "now": as_stored(now), "since": self.since and as_stored(self.since)},
        )
        return [(id, [text]) for id, text in rows]

    def current(self, changed: Mapping[int, Changed], now: datetime) -> tuple[Sequence[str], Sequence[Deletion]]:
        condition = f"p.shop_id = %(shop)s AND p.id IN ({_numbers(changed)}) AND {self.listed}"
        found = dict(self._rows(condition, {"now": as_stored(now)}))
        deleted = [Deletion(id, each.at) for id, each in changed.items() if id not in found]
        return [found[id] for id in changed if id in found], deleted

    def deletions(self, since: datetime, now: datetime, *, start: int, count: int) -> tuple[Sequence[Deletion], int]:
        statement = f"SELECT id, max(at) AS at FROM ({self.gone()}) g GROUP BY id"
        params = {"shop": self.shop.pk, "since": as_stored(since), "now": as_stored(now)}
        rows, total = log.deletions(statement, params, start=start, count=count)
        return [Deletion(id, as_utc(at)) for id, at in rows], total

    def gone(self) -> str:
        """The SQL of `id` and `at` of products that have left the list since `%(since)s`. A product can occur several
        times."""
        return (
            "SELECT c.object_id AS id, c.at FROM sync_change c WHERE c.shop_id = %(shop)s AND c.kind = 'product'"
            f" AND c.at >= %(since)s AND {self.visible} AND NOT EXISTS ({PRODUCT} AND {self.listed})"
        )

    def _rows(self, condition: str, params: dict[str, Any]) -> list[tuple[int, str]]:
        members = self.members_read()
        record = records.product()
        if members is not None:
            record = records.chosen_product(members, for_apps=self.for_apps)
        statement = f"SELECT p.id, {record} FROM catalogue_product p WHERE {condition}"
        # Not prepared, since each list of ids gives another statement.
        rows = fetch(connection, statement, {"shop": self.shop.pk} | params, prepared=False)
        return [(id, self.shown(text)) for id, text in rows]

    def members_read(self) -> frozenset[str] | None:
        """The members that are read of each record."""
        return self.members

    def shown(self, row: str) -> str:
        """The record as it is answered, of one that the database wrote."""
        return records.with_media_urls(self.shop, row)


class Stock(Source):
    """The items that the stock lists have. A row of the first pass is a product with all its items."""

    name, kind = "inventory", "product"

    def scan(self, after: int, count: int, now: datetime) -> Sequence[tuple[int, Sequence[str]]]:
        earliest = timestamp(self.since)
        products = inventory.next_products(self.shop, after=after, count=count)
        texts: dict[int, list[str]] = {id: [] for id in products}
        for item in inventory.stock_of(self.shop, products).values():
            if earliest is None or item["updated_at"] >= earliest:
                texts[item["product_id"]].append(self._text(item))
        return list(texts.items())

    def current(self, changed: Mapping[int, Changed], now: datetime) -> tuple[Sequence[str], Sequence[Deletion]]:
        variants = {variant: id for id, each in changed.items() for variant in each.variants if variant is not None}
        existing = set(Variant.objects.filter(shop=self.shop, pk__in=list(variants)).values_list("pk", flat=True))
        # All items if the product itself was written or lost a variant; else the items of the variants that were
        # written.
        whole = {id for id, each in changed.items() if None in each.variants or each.variants - existing}
        items = inventory.stock_of(self.shop, whole, list(variants))
        named = {item_id(id, None): id for id in whole} | {item_id(id, variant): id for variant, id in variants.items()}
        # A deleted product keeps its variants.
        products = Product.objects.filter(shop=self.shop, pk__in=whole, deleted_at=None).values_list("pk", flat=True)
        left = Variant.objects.filter(shop=self.shop, product__in=whole.difference(products))
        named |= {item_id(id, variant): id for id, variant in left.values_list("product", "pk")}
        deleted = [Deletion(name, changed[id].at) for name, id in named.items() if name not in items]
        return [self._text(item) for item in items.values()], deleted

    def deletions(self, since: datetime, now: datetime, *, start: int, count: int) -> tuple[Sequence[Deletion], int]:
        of_shop = "FROM sync_change c WHERE c.shop_id = %(shop)s AND c.kind = 'product' AND c.at >= %(since)s"
        variant = "SELECT 1 FROM catalogue_variant v WHERE v.product_id = c.object_id"
        exists = f"{PRODUCT} AND p.deleted_at IS NULL"
        statement = (
            "SELECT product, variant, max(at) AS at FROM ("
            f"SELECT c.object_id AS product, 0 AS variant, c.at {of_shop} AND c.variant_id IS NULL"
            f" AND (NOT EXISTS ({exists}) OR EXISTS ({variant}))"
            f" UNION ALL SELECT c.object_id, c.variant_id, c.at {of_shop} AND c.variant_id IS NOT NULL"
            f" AND NOT (EXISTS ({exists}) AND EXISTS ({variant} AND v.id = c.variant_id))"
            " UNION ALL SELECT v.product_id, v.id, c.at FROM sync_change c JOIN catalogue_variant v"
            " ON v.product_id = c.object_id WHERE c.shop_id = %(shop)s AND c.kind = 'product' AND c.at >= %(since)s"
            f" AND v.shop_id = %(shop)s AND NOT EXISTS ({exists})"
            ") g GROUP BY product, variant"
        )
        params = {"shop": self.shop.pk, "since": as_stored(since)}
        rows, total = log.deletions(statement, params, start=start, count=count)
        return [Deletion(item_id(id, variant or None), as_utc(at)) for id, variant, at in rows], total

    def _text(self, item: inventory.Item) -> str:
        return orjson.dumps(only(item, self.members)).decode()


def _numbers(ids: Iterable[int]) -> str:
    return ", ".join(str(int(id)) for id in ids)
