"""Rows as integrations see them: which columns, under which names, in which order, and each value's wire form.

Columns come from the tables themselves, so that a new column is in the API at once. Only `shop_id` stays out: it is
the tenancy's, the same in every row a caller can see. Rows are plain tuples of a cursor, for which SQLite has no
decimals and no time zones; the converters take what either database gives.
"""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from functools import cache
from typing import Any

import orjson
from django.core.files.storage import default_storage
from django.db import connections, models, router

from storefront.catalogue.models import Category, MeasureField, Option, OptionValue, Product, ProductCategory, Variant
from storefront.kit import money
from storefront.shops.models import Shop

Record = dict[str, Any]
Convert = Callable[[Any], Any]

HIDDEN_COLUMNS = {
    Product: {"shop_id"},
    Category: {"shop_id"},
    Variant: {"shop_id", "legacy_source_id", "cost_price", "image_id"},
    Option: {"shop_id", "product_id"},
    OptionValue: {"shop_id", "option_id"},
    ProductCategory: {"id", "shop_id"},
}
MEDIA_MEMBERS = ("id", "type", "url", "alt", "width", "height", "sort_order")
# What follows `media` in a product: ours, after everything that the contract names.
OWN_MEMBERS = ("tags", "attributes", "sort_name")


@cache
def columns(model: type[models.Model]) -> tuple[str, ...]:
    """The table's columns that its records show, in their order."""
    found = (str(field.column) for field in model._meta.concrete_fields)
    return tuple(column for column in found if column not in HIDDEN_COLUMNS[model])


@cache
def vendor() -> str:
    """The kind of database that the catalogue is read from; a process uses one."""
    return connections[router.db_for_read(Product)].vendor


@cache
def select_list(model: type[models.Model], alias: str) -> str:
    """Those columns for a SELECT, on PostgreSQL in their wire form already: it writes them faster than Python does."""
    fields = {field.column: field for field in model._meta.concrete_fields}
    written = (WRITTEN_BY_POSTGRESQL.get(_kind(fields[column])) for column in columns(model))
    if vendor() != "postgresql":
        written = (None for _ in columns(model))
    return ", ".join(
        form.format(f"{alias}.{column}") if form else f"{alias}.{column}"
        for column, form in zip(columns(model), written, strict=True)
    )


@cache
def converters(model: type[models.Model]) -> tuple[tuple[str, Convert], ...]:
    """The columns whose values the database gives in another form than the wire's."""
    shown, ready = set(columns(model)), set(WRITTEN_BY_POSTGRESQL) if vendor() == "postgresql" else set()
    kinds = ((field.column, _kind(field)) for field in model._meta.concrete_fields if field.column in shown)
    return tuple((column, CONVERTERS[kind]) for column, kind in kinds if kind in CONVERTERS.keys() - ready)


def record(model: type[models.Model], values: Sequence[Any]) -> Record:
    """One row of `select_list` as its record."""
    made = dict(zip(columns(model), values, strict=True))
    for column, convert in converters(model):
        value = made[column]
        if value is not None:
            made[column] = convert(value)
    return made


def product_record(shop: Shop, row: Sequence[Any], **single: Any) -> Record:
    """A row of product columns followed by its media as JSON; `single` holds what only the single read has."""
    made = record(Product, row[:-1])
    own = {member: made.pop(member) for member in OWN_MEMBERS}
    return {**made, "media": media_records(shop, row[-1]), **single, **own}


def media_records(shop: Shop, rows_as_json: str | None) -> list[Record]:
    """The product's media in order, from one JSON array of [id, type, file, source_url, alt, width, height, order]."""
    if not rows_as_json:
        return []
    rows = orjson.loads(rows_as_json)
    rows.sort(key=lambda row: (row[7], row[0]))
    return [
        dict(zip(MEDIA_MEMBERS, (id, type, media_url(shop, file, source), *rest), strict=True))
        for id, type, file, source, *rest in rows
    ]


def media_url(shop: Shop, file: str | None, source_url: str | None = None) -> str | None:
    """Where a picture is: the uploaded file's absolute URL, else the address it was imported with."""
    if not file:
        return source_url or None
    url = default_storage.url(file)
    return shop.base_url + url if url.startswith("/") else url


def category_record(shop: Shop, row: Sequence[Any], **more: Any) -> Record:
    """A row of category columns as its record, images as absolute URLs."""
    made = record(Category, row)
    for member in ("image", "banner"):
        made[member] = media_url(shop, made[member])
    return made | more


def variant_record(shop: Shop, row: Sequence[Any]) -> Record:
    """A row of variant columns followed by its picture's file and source address; never a cost price."""
    *values, file, source_url = row
    made = record(Variant, values)
    ours = {member: made.pop(member) for member in ("sort_order", "created_at", "updated_at")}
    return made | {"image": media_url(shop, file, source_url)} | ours


def option_records(rows: Iterable[Sequence[Any]]) -> list[Record]:
    """Options with their values, from rows of option columns followed by one value's columns, in order."""
    width = len(columns(Option))
    options: dict[int, Record] = {}
    for row in rows:
        option = options.setdefault(row[0], record(Option, row[:width]) | {"values": []})
        if row[width] is not None:
            option["values"].append(record(OptionValue, row[width:]))
    return list(options.values())


def wire_time(moment: datetime | str) -> str:
    """`kit.clock.timestamp` for what a cursor gives, which is always UTC: aware, naive, or text without a zone."""
    if isinstance(moment, str):
        moment = datetime.fromisoformat(moment)
    return moment.replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def _kind(field: models.Field) -> str:
    return next((kind for kind, types in KINDS.items() if isinstance(field, types)), "")


# The columns whose wire form is not what a cursor gives. Their scale is in the column, so that PostgreSQL's own text of
# a number has it too; its booleans arrive as such.
KINDS: dict[str, Any] = {
    "money": money.MoneyField,
    "measure": MeasureField,
    "time": models.DateTimeField,
    "flag": models.BooleanField,
    "json": models.JSONField,
}
CONVERTERS: dict[str, Convert] = {
    "money": "{:.2f}".format,
    "measure": "{:.3f}".format,
    "time": wire_time,
    "flag": bool,
    "json": orjson.loads,
}
WRITTEN_BY_POSTGRESQL = {
    "money": "{}::text",
    "measure": "{}::text",
    "time": """to_char({} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')""",
    "flag": "{}",
}
