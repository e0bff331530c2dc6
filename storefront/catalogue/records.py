"""Builds the records that integrations read: their columns, names and order.

Columns are taken from the models, so that the API has a new column at once. `shop_id` is left out: it is the same in
every row that a caller can see. The database writes records as JSON (`kit.json_sql`); the functions here return the SQL
expressions for it. Their aliases are `p` for products and `c` for categories. Products are in their state at `%(now)s`
(`dated/dates.py`).
"""

from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Any

from django.core.files.storage import default_storage
from django.db import models

from storefront.catalogue.dated import dates
from storefront.catalogue.models import (
    BundleItem,
    Category,
    Media,
    Option,
    OptionValue,
    Product,
    ProductCategory,
    Variant,
)
from storefront.catalogue.shown import SHOWN
from storefront.kit import json_sql
from storefront.kit.json_sql import Member, json_array, json_object
from storefront.shops.models import Shop

Record = dict[str, Any]

# Cost prices of variants are not public (R-CAT-6). Suppliers and group prices are in other tables.
HIDDEN_COLUMNS: dict[type[models.Model], set[str]] = {
    Product: {"shop_id"},
    Category: {"shop_id", "translations"},
    Variant: {"shop_id", "legacy_source_id", "cost_price", "image_id"},
    Option: {"shop_id", "product_id"},
    OptionValue: {"shop_id", "option_id"},
    ProductCategory: {"id", "shop_id"},
    Media: {"shop_id", "product_id", "source_url", "focus"},
    BundleItem: {"shop_id", "bundle_id"},
}


def _columns_from(model: type[models.Model], first: str) -> tuple[str, ...]:
    names = [str(column.column) for column in model._meta.concrete_fields]
    return tuple(names[names.index(first) :])


# Columns that come after a product's `media` and a variant's `image` (R-CAT-9, R-CAT-29).
OWN_MEMBERS = _columns_from(Product, "tags")
OWN_MEMBERS_OF_VARIANT = _columns_from(Variant, "sort_order")


@cache
def product() -> str:
    """A product as lists show it, without categories, variants and options (R-CAT-19)."""
    return _product([])


# A name for `chosen_product`: pictures have the member `focus`, which pages use, and no caller is shown.
FOCUS_OF_MEDIA = "media.focus"
# A name for `chosen_product`: categories have the member `translations`, which no caller is shown.
TRANSLATIONS_OF_CATEGORIES = "categories.translations"


@cache
def whole_product(*, for_apps: bool = False, with_translations: bool = False) -> str:
    """A product as the single read shows it, with its active categories (R-CAT-31), variants and options. Takes
    `%(shop)s`.

    With `for_apps` also the inactive categories and a bundle's items, so that an app can send back what it has read.
    `with_translations`: as TRANSLATIONS_OF_CATEGORIES.
    """
    return _product(_single(for_apps, with_translations=with_translations))


@cache
def stored_product() -> str:
    """A product for apps as its row is stored, without the effect of dates. Events compare these (`events.py`)."""
    return _product(_single(for_apps=True, is_stored=True), is_stored=True)


@cache
def page_members(*, is_single: bool = False) -> frozenset[str]:
    """The names for `chosen_product` of all that the shop's pages read: of a product in a list, or of a single one."""
    listed = {*_columns(Product, "p"), "media", FOCUS_OF_MEDIA}
    return frozenset(listed | {"categories", "variants", "options"} if is_single else listed)


# Each statement has up to 30 kilobytes.
@lru_cache(64)
def chosen_product(names: frozenset[str], *, for_apps: bool = False) -> str:
    """A product with these of the members of `whole_product`."""
    with_translations = TRANSLATIONS_OF_CATEGORIES in names
    return _product(_single(for_apps, with_translations=with_translations), names)


def _single(for_apps: bool, is_stored: bool = False, with_translations: bool = False) -> list[Member]:
    """The members that only the single read shows."""
    pivot = json_object(_columns(ProductCategory, "l").items())
    # The pluses keep SQLite from using the indexes by shop, which hold all links, categories and variants of the shop;
    # a product has few.
    categories = json_array(
        category(("pivot", pivot), with_translations=with_translations),
        "catalogue_productcategory l JOIN catalogue_category c ON c.id = l.category_id"
        " WHERE +l.shop_id = %(shop)s AND +c.shop_id = %(shop)s AND l.product_id = p.id"
        + ("" if for_apps else f" AND {SHOWN}"),
        "c._lft, c.id",
    )
    variants = json_array(
        _variant(is_stored),
        "catalogue_variant v LEFT JOIN catalogue_media m ON m.id = v.image_id"
        " WHERE +v.shop_id = %(shop)s AND v.product_id = p.id",
        "v.sort_order, v.id",
    )
    options = json_array(
        _option(), "catalogue_option o WHERE +o.shop_id = %(shop)s AND o.product_id = p.id", "o.sort_order, o.id"
    )
    single = [("categories", categories), ("variants", variants), ("options", options)]
    return [*single, ("bundle_items", _bundle_items())] if for_apps else single


def category(*more: Member, with_translations: bool = False) -> str:
    """A category with `more` members at its end, and with its translations after them if they are wanted."""
    found = [*_columns(Category, "c").items(), *more]
    if with_translations:
        found.append(("translations", json_sql.column(Category._meta.get_field("translations"), "c.translations")))
    return _text(json_object(found))


def with_media_urls(shop: Shop, text: str) -> str:
    """A record that the database wrote, with the URLs of its pictures, which the database cannot know."""
    return json_sql.fill_placeholders(text, lambda file: media_url(shop, file))


def media_url(shop: Shop, file: str | None, source_url: str | None = None) -> str | None:
    """A picture's URL: the absolute URL of the uploaded file, else the URL that it was imported with."""
    if not file:
        return source_url or None
    url = default_storage.url(file)
    return shop.base_url + url if url.startswith("/") else url


def _product(single: list[Member], names: frozenset[str] | None = None, *, is_stored: bool = False) -> str:
    members = _columns(Product, "p", {} if is_stored else dates.product_columns("p"))
    own = [(name, members.pop(name)) for name in OWN_MEMBERS]
    with_focus = names is not None and FOCUS_OF_MEDIA in names
    media = json_array(
        _media(with_focus=with_focus), "catalogue_media m WHERE m.product_id = p.id", "m.sort_order, m.id"
    )
    every = [*members.items(), ("media", media), *single, *own]
    return _text(json_object(member for member in every if names is None or member[0] in names))


def _media(*, with_focus: bool) -> str:
    members = _columns(Media, "m") | {"file": json_sql.file_url("m.file", "m.source_url")}
    if with_focus:
        members["focus"] = json_sql.column(Media._meta.get_field("focus"), "m.focus")
    return json_object(("url" if name == "file" else name, value) for name, value in members.items())


def _variant(is_stored: bool) -> str:
    members = _columns(Variant, "v", {} if is_stored else dates.sale_columns("v"))
    own = [(name, members.pop(name)) for name in OWN_MEMBERS_OF_VARIANT]
    return json_object([*members.items(), ("image", json_sql.file_url("m.file", "m.source_url")), *own])


def _bundle_items() -> str:
    source = "catalogue_bundleitem b WHERE +b.shop_id = %(shop)s AND b.bundle_id = p.id"
    return json_array(json_object(_columns(BundleItem, "b").items()), source, "b.sort_order, b.id")


def _option() -> str:
    """An option with its values (R-CAT-30)."""
    value = json_object(_columns(OptionValue, "e").items())
    values = json_array(value, "catalogue_optionvalue e WHERE e.option_id = o.id", "e.sort_order, e.id")
    return json_object([*_columns(Option, "o").items(), ("values", values)])


def _text(record: str) -> str:
    """Cast the record to text, since PostgreSQL's driver would parse JSON."""
    return f"CAST({record} AS text)"


def _columns(model: type[models.Model], alias: str, dated: Mapping[str, str] | None = None) -> dict[str, str]:
    """The SQL expressions of the columns that records show, by name, in the table's order. `dated` has expressions that
    replace columns, by name."""
    dated = dated or {}
    return {
        str(field.column): json_sql.column(field, dated.get(str(field.column), f"{alias}.{field.column}"))
        for field in model._meta.concrete_fields
        if field.column not in HIDDEN_COLUMNS[model]
    }
