"""What integrations and pages read of the catalogue: records that the database writes as JSON, without model instances.
Integrations get them as they are (`..._json`), pages read them."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson
from django.db import connections, router
from django.db.models import Q, QuerySet

from storefront.catalogue import records, rules, sql
from storefront.catalogue.listing import Listing
from storefront.catalogue.listing import ProductFilters as ProductFilters
from storefront.catalogue.models import Product
from storefront.catalogue.records import Record
from storefront.kit.sql import fetch
from storefront.shops.models import Shop


def published(now: datetime) -> Q:
    """The condition that a product is public, for the ORM; `sql.PUBLISHED` is the same."""
    return (
        Q(status=Product.Status.ACTIVE, deleted_at=None)
        & (Q(publish_at=None) | Q(publish_at__lte=now))
        & (Q(unpublish_at=None) | Q(unpublish_at__gt=now))
    )


def published_products(shop: Shop, now: datetime) -> QuerySet[Product]:
    """The shop's products that may be seen and bought now."""
    return Product.objects.filter(published(now), shop=shop)


@dataclass(frozen=True)
class ProductPage:
    """The records of one page's products as JSON, and how many products there are on all."""

    written: list[str]
    total: int

    @property
    def rows(self) -> list[Record]:
        return [orjson.loads(text) for text in self.written]


def product_page(shop: Shop, filters: ProductFilters, *, page: int, per_page: int, now: datetime) -> ProductPage:
    """One page of the products that the public list shows (contract: Product list query parameters)."""
    listing = _listing(shop, filters, now)
    if listing is None:
        return ProductPage([], 0)
    # Far beyond what any database counts; the answer is empty all the same.
    rows, total = listing.page(offset=min((page - 1) * per_page, 2**62), limit=per_page)
    return ProductPage([records.finished(shop, row[0]) for row in rows], total)


def first_products(shop: Shop, filters: ProductFilters, *, count: int, now: datetime) -> list[Record]:
    """The first so many products of a list, without asking how many there are."""
    listing = _listing(shop, filters, now)
    return [orjson.loads(records.finished(shop, row[0])) for row in listing.first(count)] if listing else []


def product_record(shop: Shop, id_or_slug: str, *, now: datetime) -> Record | None:
    """A published product by id, else by slug, with its categories, variants and options."""
    written = product_json(shop, id_or_slug, now=now)
    return None if written is None else orjson.loads(written)


def product_json(shop: Shop, id_or_slug: str, *, now: datetime) -> str | None:
    return _by_id_or_slug(sql.product, shop, id_or_slug, now=now)


def categories_json(shop: Shop, *, now: datetime) -> list[str]:
    """The shop's active categories in the tree's order, each with `products_count`."""
    rows = _fetch(sql.categories(), {"shop": shop.pk, "now": _moment(now)})
    return [records.finished(shop, written) for (written,) in rows]


def category_json(shop: Shop, id_or_slug: str, *, now: datetime) -> str | None:
    """One active category by id, else by slug, with `products_count`."""
    return _by_id_or_slug(sql.category, shop, id_or_slug, now=now)


def _listing(shop: Shop, filters: ProductFilters, now: datetime) -> Listing | None:
    """None where nothing can fit: no text holds a NUL, and PostgreSQL will not be asked for one."""
    if "\0" in filters.q or "\0" in (filters.category or ""):
        return None
    since = None if filters.updated_since is None else _moment(filters.updated_since)
    return Listing(_fetch, records.vendor(), shop.pk, filters, _moment(now), since)


def _fetch(statement: str, params: dict[str, Any], *, prepared: bool = True) -> list[tuple]:
    return fetch(connections[router.db_for_read(Product)], statement, params, prepared=prepared)


def _moment(moment: datetime) -> Any:
    """The moment as the database compares it: SQLite holds text."""
    return connections[router.db_for_read(Product)].ops.adapt_datetimefield_value(moment)


def _by_id_or_slug(statement: Callable[[str], str], shop: Shop, id_or_slug: str, *, now: datetime) -> str | None:
    """Digits alone are an id first (decisions: Single read). What can be neither is not asked for."""
    params = {"shop": shop.pk, "now": _moment(now), "key": rules.as_id(id_or_slug)}
    found = _fetch(statement("id"), params) if params["key"] is not None else []
    if not found and len(id_or_slug) <= rules.LONGEST_SLUG and "\0" not in id_or_slug:
        found = _fetch(statement("slug"), params | {"key": id_or_slug})
    return records.finished(shop, found[0][0]) if found else None
