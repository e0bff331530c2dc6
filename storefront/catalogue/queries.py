"""What integrations and pages read of the catalogue: plain columns by cursor, turned into records without model
instances, which measured about five times cheaper."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connections, router
from django.db.models import Q, QuerySet

from storefront.catalogue import records, rules, sql
from storefront.catalogue.listing import Listing
from storefront.catalogue.listing import ProductFilters as ProductFilters
from storefront.catalogue.models import Product, ProductCategory
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
    """The products of one page, and how many there are on all."""

    rows: list[Record]
    total: int


def product_page(shop: Shop, filters: ProductFilters, *, page: int, per_page: int, now: datetime) -> ProductPage:
    """One page of the products that the public list shows (contract: Product list query parameters)."""
    listing = _listing(shop, filters, now)
    if listing is None:
        return ProductPage([], 0)
    # Far beyond what any database counts; the answer is empty all the same.
    rows, total = listing.page(offset=min((page - 1) * per_page, 2**62), limit=per_page)
    return ProductPage([records.product_record(shop, row) for row in rows], total)


def first_products(shop: Shop, filters: ProductFilters, *, count: int, now: datetime) -> list[Record]:
    """The first so many products of a list, without asking how many there are."""
    listing = _listing(shop, filters, now)
    return [records.product_record(shop, row) for row in listing.first(count)] if listing else []


def product_record(shop: Shop, id_or_slug: str, *, now: datetime) -> Record | None:
    """A published product by id, else by slug, with its categories, variants and options."""
    row = _by_id_or_slug(sql.product, shop, id_or_slug, now=now)
    if row is None:
        return None
    params = {"shop": shop.pk, "product": row[0]}
    return records.product_record(
        shop,
        row,
        categories=_categories_of(shop, params),
        variants=[records.variant_record(shop, variant) for variant in _fetch(sql.VARIANTS, params)],
        options=records.option_records(_fetch(sql.OPTIONS, params)),
    )


def category_records(shop: Shop, *, now: datetime) -> list[Record]:
    """The shop's active categories in the tree's order, each with `products_count`."""
    rows = _fetch(sql.CATEGORIES, {"shop": shop.pk, "now": _moment(now)})
    return [records.category_record(shop, row[:-1], products_count=row[-1]) for row in rows]


def category_record(shop: Shop, id_or_slug: str, *, now: datetime) -> Record | None:
    """One active category by id, else by slug, with `products_count`."""
    row = _by_id_or_slug(sql.category, shop, id_or_slug, now=now)
    return None if row is None else records.category_record(shop, row[:-1], products_count=row[-1])


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


def _by_id_or_slug(statement: Callable[[str, str], str], shop: Shop, id_or_slug: str, *, now: datetime) -> tuple | None:
    """Digits alone are an id first (decisions: Single read). What can be neither is not asked for."""
    params = {"shop": shop.pk, "now": _moment(now), "key": rules.as_id(id_or_slug)}
    found = _fetch(statement(records.vendor(), "id"), params) if params["key"] is not None else []
    if not found and len(id_or_slug) <= rules.LONGEST_SLUG and "\0" not in id_or_slug:
        found = _fetch(statement(records.vendor(), "slug"), params | {"key": id_or_slug})
    return found[0] if found else None


def _categories_of(shop: Shop, params: dict[str, Any]) -> list[Record]:
    width = len(records.columns(ProductCategory))
    return [
        records.category_record(shop, row[width:], pivot=records.record(ProductCategory, row[:width]))
        for row in _fetch(sql.PRODUCT_CATEGORIES, params)
    ]
