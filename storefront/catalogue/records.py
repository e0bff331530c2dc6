"""Records as integrations see them: which columns, under which names, in which order.

Columns come from the tables themselves, so that a new column is in the API at once. Only `shop_id` stays out: it is
the tenancy's, the same in every row a caller can see. The database writes a record as JSON (`kit.json_sql`); what is
here are the SQL expressions that it does so by. Products are `p` in them, categories `c`.
"""

from collections.abc import Iterable
from functools import cache
from typing import Any

from django.core.files.storage import default_storage
from django.db import connections, models, router

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
from storefront.kit import json_sql
from storefront.kit.json_sql import Member
from storefront.shops.models import Shop

Record = dict[str, Any]

HIDDEN_COLUMNS: dict[type[models.Model], set[str]] = {
    Product: {"shop_id"},
    Category: {"shop_id"},
    Variant: {"shop_id", "legacy_source_id", "cost_price", "image_id"},
    Option: {"shop_id", "product_id"},
    OptionValue: {"shop_id", "option_id"},
    ProductCategory: {"id", "shop_id"},
    Media: {"shop_id", "product_id", "source_url"},
    BundleItem: {"shop_id", "bundle_id"},
}
# What follows `media` in a product: ours, after everything that the contract names. Of variants likewise.
OWN_MEMBERS = ("tags", "attributes", "sort_name")
OWN_MEMBERS_OF_VARIANT = ("sort_order", "created_at", "updated_at")


@cache
def vendor() -> str:
    """The kind of database that the catalogue is read from; a process uses one."""
    return connections[router.db_for_read(Product)].vendor


@cache
def product() -> str:
    """A product as lists show it."""
    return _product([])


@cache
def whole_product(*, for_apps: bool = False) -> str:
    """A product as the single read shows it, with its categories, variants and options. Takes `%(shop)s`.

    Apps see the categories that are switched off too, and the parts of a bundle: what they read they may write back.
    """
    pivot = _object(_columns(ProductCategory, "l").items())
    # The pluses keep SQLite from going by the shop's indexes, which hold all its links, categories and variants; a
    # product has few.
    categories = _array(
        category(("pivot", pivot)),
        "catalogue_productcategory l JOIN catalogue_category c ON c.id = l.category_id"
        " WHERE +l.shop_id = %(shop)s AND +c.shop_id = %(shop)s AND l.product_id = p.id"
        + ("" if for_apps else " AND c.is_active"),
        "c._lft, c.id",
    )
    variants = _array(
        _variant(),
        "catalogue_variant v LEFT JOIN catalogue_media m ON m.id = v.image_id"
        " WHERE +v.shop_id = %(shop)s AND v.product_id = p.id",
        "v.sort_order, v.id",
    )
    options = _array(
        _option(), "catalogue_option o WHERE +o.shop_id = %(shop)s AND o.product_id = p.id", "o.sort_order, o.id"
    )
    single = [("categories", categories), ("variants", variants), ("options", options)]
    return _product([*single, ("bundle_items", _bundle_items())] if for_apps else single)


def category(*more: Member) -> str:
    """A category, with more members at its end."""
    return _text(_object([*_columns(Category, "c").items(), *more]))


def finished(shop: Shop, text: str) -> str:
    """A record that the database wrote, with what it leaves to us."""
    return json_sql.finished(text, lambda file: media_url(shop, file))


def media_url(shop: Shop, file: str | None, source_url: str | None = None) -> str | None:
    """Where a picture is: the uploaded file's absolute URL, else the address it was imported with."""
    if not file:
        return source_url or None
    url = default_storage.url(file)
    return shop.base_url + url if url.startswith("/") else url


def _product(single: list[Member]) -> str:
    members = _columns(Product, "p")
    own = [(name, members.pop(name)) for name in OWN_MEMBERS]
    media = _array(_media(), "catalogue_media m WHERE m.product_id = p.id", "m.sort_order, m.id")
    return _text(_object([*members.items(), ("media", media), *single, *own]))


def _media() -> str:
    members = _columns(Media, "m") | {"file": json_sql.picture(vendor(), "m.file", "m.source_url")}
    return _object(("url" if name == "file" else name, value) for name, value in members.items())


def _variant() -> str:
    members = _columns(Variant, "v")
    own = [(name, members.pop(name)) for name in OWN_MEMBERS_OF_VARIANT]
    return _object([*members.items(), ("image", json_sql.picture(vendor(), "m.file", "m.source_url")), *own])


def _bundle_items() -> str:
    source = "catalogue_bundleitem b WHERE +b.shop_id = %(shop)s AND b.bundle_id = p.id"
    return _array(_object(_columns(BundleItem, "b").items()), source, "b.sort_order, b.id")


def _option() -> str:
    value = _object(_columns(OptionValue, "e").items())
    values = _array(value, "catalogue_optionvalue e WHERE e.option_id = o.id", "e.sort_order, e.id")
    return _object([*_columns(Option, "o").items(), ("values", values)])


def _text(record: str) -> str:
    """PostgreSQL's JSON would be read by its driver."""
    return f"CAST({record} AS text)"


def _columns(model: type[models.Model], alias: str) -> dict[str, str]:
    """What each of the table's columns that records show is written by, in their order."""
    return {
        str(field.column): json_sql.column(vendor(), field, f"{alias}.{field.column}")
        for field in model._meta.concrete_fields
        if field.column not in HIDDEN_COLUMNS[model]
    }


def _object(members: Iterable[Member]) -> str:
    return json_sql.written_object(vendor(), members)


def _array(item: str, source: str, order: str) -> str:
    return json_sql.written_array(vendor(), item, source, order)
