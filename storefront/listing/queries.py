"""Reads of the catalogue for integrations and pages. The database writes records as JSON, without model instances.
Integrations get this JSON unchanged (`..._json`), pages get it parsed. With a `language`, one of the shop's further
ones, records have their texts in it (`catalogue/translated_records.py`); None, and the main language: as stored."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import orjson
from django.db import connections, router
from django.db.models import Q, QuerySet
from pyroaring import BitMap64

from storefront.catalogue import records, rules, translated_slugs, translating
from storefront.catalogue.models import Category, Product
from storefront.catalogue.old_slugs import moved_row
from storefront.catalogue.records import Record
from storefront.catalogue.translated_records import (
    members_to_read,
    translated_category_json,
    translated_json,
    translated_product,
    translated_row,
)
from storefront.kit.sql import fetch
from storefront.listing import page_sql, sql
from storefront.listing.page import RELEVANCE, Listing
from storefront.listing.page import ProductFilters as ProductFilters
from storefront.shops.models import Shop
from storefront.sync.log import as_utc

# Products whose translations name the values of a list's filters.
MAX_SPEAKING = 1000


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
    return ProductPage(_texts(shop, rows, filters), total, until)


def narrowed_page(
    shop: Shop, filters: ProductFilters, ids: BitMap64, *, page: int, per_page: int, now: datetime
) -> ProductPage:
    """One page of those products of a list that have these ids, all of which the list has (`facets.facets_of`)."""
    if len(ids) <= page_sql.MAX_IDS:
        q = filters.q if filters.sort == RELEVANCE else ""
        few = ProductFilters(
            q=q,
            for_shoppers=filters.for_shoppers,
            sort=filters.sort,
            ids=tuple(ids),
            members=filters.members,
            language=filters.language,
        )
        return product_page(shop, few, page=page, per_page=per_page, now=now)
    sort = None if filters.sort == RELEVANCE else filters.sort
    listing = _listing(shop, ProductFilters(sort=sort, language=filters.language, members=filters.members), now)
    assert listing is not None
    rows = listing.page_among(ids, offset=min((page - 1) * per_page, 2**62), limit=per_page)
    return ProductPage(_texts(shop, rows, filters), len(ids))


def match_ids(
    shop: Shop, q: str, *, for_shoppers: bool = False, language: str | None = None, now: datetime
) -> BitMap64 | None:
    """The ids of the products that a search finds, whatever their dates; None if it has no words, and finds all."""
    listing = _listing(shop, ProductFilters(q=q, for_shoppers=for_shoppers, language=language), now)
    return BitMap64() if listing is None else listing.match_ids()


def first_products(
    shop: Shop, filters: ProductFilters, *, count: int, now: datetime, language: str | None = None
) -> list[Record]:
    """The first `count` products of a list, as pages show them, without counting the others."""
    filters = replace(filters, language=language or filters.language, members=records.page_members())
    listing = _listing(shop, filters, now)
    return [orjson.loads(text) for text in _texts(shop, listing.first_rows(count), filters)] if listing else []


def product_record(shop: Shop, id_or_slug: str, *, language: str | None = None, now: datetime) -> Record | None:
    """A published product by id, else by slug, else by an old slug, with its categories, variants and options."""
    members = records.page_members(is_single=True)
    reading = _Singles(shop, Product, now, _further(shop, language), members, as_stored=True)
    return _record(reading, reading.by_key(id_or_slug))


def product_record_of_page(shop: Shop, slug: str, *, language: str | None = None, now: datetime) -> Record | None:
    """A published product as its page shows it: by the slug, which pages are linked by and which can be another
    product's id, else by an old slug, else by id."""
    members = records.page_members(is_single=True)
    reading = _Singles(shop, Product, now, _further(shop, language), members, as_stored=True)
    return _record(reading, reading.of_page(slug))


@dataclass(frozen=True)
class Found:
    """JSON of the catalogue, the next moment at which a date changes it, if any, and the present slug of a record that
    was found by an old one."""

    json: str
    until: datetime | None
    moved_to: str | None = None


def product_json(
    shop: Shop,
    id_or_slug: str,
    *,
    now: datetime,
    members: frozenset[str] | None = None,
    language: str | None = None,
) -> Found | None:
    """The same as JSON, with these members alone if they are given."""
    return _Singles(shop, Product, now, _further(shop, language), members).by_key(id_or_slug)


def categories_json(shop: Shop, *, language: str | None = None, now: datetime) -> Found:
    """All categories of the shop that are shown, as a list in the tree's order, each with `products_count`
    (R-CAT-33)."""
    language = _further(shop, language)
    statement = sql.categories(with_translations=language is not None)
    rows = database_fetch(statement, {"shop": shop.pk, "now": _moment(now)})
    texts = [records.with_media_urls(shop, text) for text, *_ in rows]
    if language is not None:
        texts = [translated_category_json(text, language) for text in texts]
    return Found(f"[{','.join(texts)}]", _next(rows[0][1:] if rows else (), now))


def category_json(shop: Shop, id_or_slug: str, *, language: str | None = None, now: datetime) -> Found | None:
    """One category that is shown, by id, else by slug, else by an old slug, with `products_count` (R-CAT-35)."""
    return _Singles(shop, Category, now, _further(shop, language)).by_key(id_or_slug)


def _listing(shop: Shop, filters: ProductFilters, now: datetime) -> Listing | None:
    """None if no product can match: no text contains a NUL, which PostgreSQL refuses as a parameter. A slug that is too
    long is not looked up either, since lists are cached by their slug."""
    category = filters.category or ""
    if "\0" in filters.q or "\0" in category or len(category) > rules.MAX_SLUG_LENGTH:
        return None
    filters = _filters_in_language(shop, filters)
    since = None if filters.updated_since is None else _moment(filters.updated_since)
    return Listing(database_fetch, shop.pk, languages_of_search(shop, filters.language), filters, _moment(now), since)


def _filters_in_language(shop: Shop, filters: ProductFilters) -> ProductFilters:
    """The filters of a list in a further language: what translates the records is read with them."""
    language = _further(shop, filters.language)
    if language is None:
        return filters
    return replace(filters, members=members_to_read(filters.members))


def main_slug(shop: Shop, category: str | None, language: str | None) -> str | None:
    """The slug in the main language of the category that has this one in a further language; else the slug itself."""
    further = _further(shop, language)
    if not category or further is None or "\0" in category or len(category) > rules.MAX_SLUG_LENGTH:
        return category
    found = translated_slugs.found_row(shop, Category, category, further)
    return found[1] if found else category


def _record(reading: "_Singles", found: "Found | None") -> Record | None:
    """The record that was found, in the language of the reading. Categories then have the slug of the main language,
    too; in a shop with further languages, `slugs` are the product's in each."""
    if found is None:
        return None
    record = orjson.loads(found.json)
    if reading.shop.further_languages:
        record["slugs"] = translated_slugs.slugs_of(reading.shop, record)
    if reading.language is None:
        return record
    categories = [category | {"main_slug": category["slug"]} for category in record["categories"]]
    return translated_product(record | {"categories": categories}, reading.language)


def _texts(shop: Shop, rows: Iterable[tuple], filters: ProductFilters) -> list[str]:
    language = _further(shop, filters.language)
    if language is None:
        return [records.with_media_urls(shop, row[0]) for row in rows]
    return [translated_row(shop, row[0], language, filters.members) for row in rows]


def _further(shop: Shop, language: str | None) -> str | None:
    return None if language in ("", shop.language) else language


def languages_of_search(shop: Shop, language: str | None) -> list[str]:
    """The languages in which the words of a search are stemmed: that of the page or call, and the shop's main one."""
    further = _further(shop, language)
    return [shop.language] if further is None else [further, shop.language]


def words_of(shop: Shop, ids: BitMap64, language: str) -> dict[str, str]:
    """Texts of attributes and their values in this language, by `translating.key`, as products of a list have them. The
    first MAX_SPEAKING with translations are read; none in the main language."""
    if language in ("", shop.language):
        return {}
    rows = Product.objects.filter(shop=shop, pk__in=ids[: page_sql.MAX_IDS]).exclude(translations=None).order_by("pk")
    found: dict[str, str] = {}
    for texts in rows.values_list("translations", flat=True)[:MAX_SPEAKING]:
        for name, text in ((texts or {}).get(language) or {}).items():
            if name.startswith(translating.ATTRIBUTE):
                found.setdefault(name, text)
    return found


def database_fetch(statement: str, params: dict[str, Any], *, prepared: bool = True) -> list[tuple]:
    return fetch(connections[router.db_for_read(Product)], statement, params, prepared=prepared)


def _moment(moment: datetime) -> Any:
    """The moment as the database compares it: text on SQLite."""
    return connections[router.db_for_read(Product)].ops.adapt_datetimefield_value(moment)


def _next(stored: Iterable[Any], now: datetime) -> datetime | None:
    """The first of these times that is still to come, as hand-written statements return them."""
    return min((at for at in map(as_utc, filter(None, stored)) if at > now), default=None)


@dataclass(frozen=True)
class _Singles:
    """Reads one product or category of a shop, in a further language if one is given."""

    shop: Shop
    model: type[Product] | type[Category]
    now: datetime
    language: str | None
    members: frozenset[str] | None = None
    # Found by the slugs of the language, and read with all translations, but not translated.
    as_stored: bool = False

    def by_key(self, id_or_slug: str) -> Found | None:
        """A record by id if the key consists of digits (R-CAT-27), else or if there is none by slug, else by a slug
        that it had before (R-CAT-42). A key that can be none of them is not looked up."""
        found = self._by_id(rules.as_id(id_or_slug)) or self._by_slug(id_or_slug)
        return found or self._by_old_slug(id_or_slug)

    def of_page(self, slug: str) -> Found | None:
        """A record by slug, else by an old slug or that of another language, else by id."""
        found = self._by_slug(slug) or self._by_old_slug(slug)
        if found is None and (moved := translated_slugs.moved_row(self.shop, self.model, slug, self.language or "")):
            found = self._by_id(moved[0])
        return found or self._by_id(rules.as_id(slug))

    def _by_old_slug(self, slug: str) -> Found | None:
        moved = self._translated(slug, is_current=False) or moved_row(self.shop, self.model, slug)
        found = self._by_id(moved[0]) if moved else None
        return replace(found, moved_to=moved[1]) if found and moved else None

    def _by_id(self, id: int | None) -> Found | None:
        return None if id is None else self._by("id", id)

    def _by_slug(self, slug: str) -> Found | None:
        """By the slug of the language, else by that of the main one (R-CAT-45)."""
        if len(slug) > rules.MAX_SLUG_LENGTH or "\0" in slug:
            return None
        translated = self._translated(slug, is_current=True)
        return (self._by_id(translated[0]) if translated else None) or self._by("slug", slug)

    def _translated(self, slug: str, *, is_current: bool) -> tuple[int, str] | None:
        """Id and main slug of the row that has, or had, this slug in the language."""
        if self.language is None:
            return None
        return translated_slugs.found_row(self.shop, self.model, slug, self.language, is_current=is_current)

    def _by(self, key: str, value: int | str) -> Found | None:
        found = database_fetch(self._statement(key), {"shop": self.shop.pk, "now": _moment(self.now), "key": value})
        if not found:
            return None
        ((text, *dates),) = found
        return Found(self._text(records.with_media_urls(self.shop, text)), _next(dates, self.now))

    def _statement(self, key: str) -> str:
        translates = self.language is not None
        if self.model is Category:
            return sql.category(key, with_translations=translates)
        return sql.product(key, members_to_read(self.members) if translates else self.members, translates)

    def _text(self, text: str) -> str:
        if self.language is None or self.as_stored:
            return text
        if self.model is Category:
            return translated_category_json(text, self.language)
        return translated_json(text, self.language, self.members)
