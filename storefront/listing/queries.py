"""Reads of the catalogue for integrations and pages. The database writes records as JSON, without model instances.
Integrations get this JSON unchanged (`..._json`), pages get it parsed."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any

import orjson
from django.db import connections, router
from django.db.models import Q, QuerySet
from pyroaring import BitMap64

from storefront.catalogue import records, rules
from storefront.catalogue.models import Category, Product
from storefront.catalogue.old_slugs import moved_row
from storefront.catalogue.records import Record
from storefront.kit.sql import fetch
from storefront.listing import page_sql, sql
from storefront.listing.page import RELEVANCE, Listing
from storefront.listing.page import ProductFilters as ProductFilters
from storefront.shops.models import Shop
from storefront.sync.log import as_utc


def published(now: datetime) -> Q:
    """The condition for public products, for the ORM. `sql.PUBLISHED` is the same in SQL."""
    return (
        Q(status=Product.Status.ACTIVE, deleted_at=None)
        & (Q(publish_at=None) | Q(publish_at__lte=now))
        & (Q(unpublish_at=None) | Q(unpublish_at__gt=now))
    )


def published_products(shop: Shop, now: datetime) -> QuerySet[Product]:
    """The shop's products that shoppers can see and buy now."""
    return Product.objects.filter(published(now), shop=shop)


@dataclass(frozen=True)
class ProductPage:
    """The records of one page's products as JSON, how many products all pages have, and the next moment at which a date
    may change either, if any."""

    records_json: list[str]
    total: int
    until: datetime | None = None

    @property
    def rows(self) -> list[Record]:
        return [orjson.loads(text) for text in self.records_json]


def product_page(shop: Shop, filters: ProductFilters, *, page: int, per_page: int, now: datetime) -> ProductPage:
    """One page of the public product list (R-CAT-20 to R-CAT-25). `page` starts at 1."""
    listing = _listing(shop, filters, now)
    if listing is None:
        return ProductPage([], 0)
    # Bounded, so that the offset fits the databases' integers. Such a page is empty in any case.
    rows, total = listing.page(offset=min((page - 1) * per_page, 2**62), limit=per_page)
    until = None if listing.until is None else as_utc(listing.until)
    return ProductPage([records.with_media_urls(shop, row[0]) for row in rows], total, until)


def narrowed_page(
    shop: Shop, filters: ProductFilters, ids: BitMap64, *, page: int, per_page: int, now: datetime
) -> ProductPage:
    """One page of those products of a list that have these ids, all of which the list has (`facets.facets_of`)."""
    if len(ids) <= page_sql.MAX_IDS:
        q = filters.q if filters.sort == RELEVANCE else ""
        few = ProductFilters(
            q=q, for_shoppers=filters.for_shoppers, sort=filters.sort, ids=tuple(ids), language=filters.language
        )
        return product_page(shop, few, page=page, per_page=per_page, now=now)
    sort = None if filters.sort == RELEVANCE else filters.sort
    listing = _listing(shop, ProductFilters(sort=sort, language=filters.language), now)
    assert listing is not None
    rows = listing.page_among(ids, offset=min((page - 1) * per_page, 2**62), limit=per_page)
    return ProductPage([records.with_media_urls(shop, row[0]) for row in rows], len(ids))


def match_ids(
    shop: Shop, q: str, *, for_shoppers: bool = False, language: str | None = None, now: datetime
) -> BitMap64 | None:
    """The ids of the products that a search finds, whatever their dates; None if it has no words, and finds all."""
    listing = _listing(shop, ProductFilters(q=q, for_shoppers=for_shoppers, language=language), now)
    return BitMap64() if listing is None else listing.match_ids()


def first_products(shop: Shop, filters: ProductFilters, *, count: int, now: datetime) -> list[Record]:
    """The first `count` products of a list, without counting the others."""
    listing = _listing(shop, filters, now)
    return [orjson.loads(records.with_media_urls(shop, row[0])) for row in listing.first_rows(count)] if listing else []


def product_record(shop: Shop, id_or_slug: str, *, now: datetime) -> Record | None:
    """A published product by id, else by slug, else by an old slug, with its categories, variants and options."""
    found = product_json(shop, id_or_slug, now=now)
    return None if found is None else orjson.loads(found.json)


def product_record_of_page(shop: Shop, slug: str, *, now: datetime) -> Record | None:
    """A published product as its page shows it: by the slug, which pages are linked by and which can be another
    product's id, else by an old slug, else by id."""
    statement = partial(sql.product, members=None)
    found = _by_slug(statement, shop, slug, now=now) or _by_old_slug(statement, shop, Product, slug, now=now)
    found = found or _by_id(statement, shop, rules.as_id(slug), now=now)
    return None if found is None else orjson.loads(found.json)


@dataclass(frozen=True)
class Found:
    """JSON of the catalogue, the next moment at which a date changes it, if any, and the present slug of a record that
    was found by an old one."""

    json: str
    until: datetime | None
    moved_to: str | None = None


def product_json(shop: Shop, id_or_slug: str, *, now: datetime, members: frozenset[str] | None = None) -> Found | None:
    """The same as JSON, with these members alone if they are given."""
    return _by_key(partial(sql.product, members=members), shop, Product, id_or_slug, now=now)


def categories_json(shop: Shop, *, now: datetime) -> Found:
    """All categories of the shop that are shown, as a list in the tree's order, each with `products_count`
    (R-CAT-33)."""
    rows = database_fetch(sql.categories(), {"shop": shop.pk, "now": _moment(now)})
    texts = [records.with_media_urls(shop, text) for text, *_ in rows]
    return Found(f"[{','.join(texts)}]", _next(rows[0][1:] if rows else (), now))


def category_json(shop: Shop, id_or_slug: str, *, now: datetime) -> Found | None:
    """One category that is shown, by id, else by slug, else by an old slug, with `products_count` (R-CAT-35)."""
    return _by_key(sql.category, shop, Category, id_or_slug, now=now)


def _listing(shop: Shop, filters: ProductFilters, now: datetime) -> Listing | None:
    """None if no product can match: no text contains a NUL, which PostgreSQL refuses as a parameter. A slug that is too
    long is not looked up either, since lists are cached by their slug."""
    category = filters.category or ""
    if "\0" in filters.q or "\0" in category or len(category) > rules.MAX_SLUG_LENGTH:
        return None
    since = None if filters.updated_since is None else _moment(filters.updated_since)
    return Listing(database_fetch, shop.pk, languages_of_search(shop, filters.language), filters, _moment(now), since)


def languages_of_search(shop: Shop, language: str | None) -> list[str]:
    """The languages in which the words of a search are stemmed: that of the page or call, and the shop's main one."""
    return [shop.language] if language in (None, shop.language) else [language, shop.language]


def database_fetch(statement: str, params: dict[str, Any], *, prepared: bool = True) -> list[tuple]:
    return fetch(connections[router.db_for_read(Product)], statement, params, prepared=prepared)


def _moment(moment: datetime) -> Any:
    """The moment as the database compares it: text on SQLite."""
    return connections[router.db_for_read(Product)].ops.adapt_datetimefield_value(moment)


def _next(stored: Iterable[Any], now: datetime) -> datetime | None:
    """The first of these times that is still to come, as hand-written statements return them."""
    return min((at for at in map(as_utc, filter(None, stored)) if at > now), default=None)


def _by_key(
    statement: Callable[[str], str],
    shop: Shop,
    model: type[Product] | type[Category],
    id_or_slug: str,
    *,
    now: datetime,
) -> Found | None:
    """A record by id if the key consists of digits (R-CAT-27), else or if there is none by slug, else by a slug that it
    had before (R-CAT-42). A key that can be none of them is not looked up."""
    found = _by_id(statement, shop, rules.as_id(id_or_slug), now=now) or _by_slug(statement, shop, id_or_slug, now=now)
    return found or _by_old_slug(statement, shop, model, id_or_slug, now=now)


def _by_old_slug(
    statement: Callable[[str], str], shop: Shop, model: type[Product] | type[Category], slug: str, *, now: datetime
) -> Found | None:
    moved = moved_row(shop, model, slug)
    found = _by_id(statement, shop, moved[0], now=now) if moved else None
    return replace(found, moved_to=moved[1]) if found and moved else None


def _by_id(statement: Callable[[str], str], shop: Shop, id: int | None, *, now: datetime) -> Found | None:
    return None if id is None else _by(statement("id"), shop, id, now=now)


def _by_slug(statement: Callable[[str], str], shop: Shop, slug: str, *, now: datetime) -> Found | None:
    if len(slug) > rules.MAX_SLUG_LENGTH or "\0" in slug:
        return None
    return _by(statement("slug"), shop, slug, now=now)


def _by(statement: str, shop: Shop, key: int | str, *, now: datetime) -> Found | None:
    found = database_fetch(statement, {"shop": shop.pk, "now": _moment(now), "key": key})
    if not found:
        return None
    ((text, *dates),) = found
    return Found(records.with_media_urls(shop, text), _next(dates, now))
