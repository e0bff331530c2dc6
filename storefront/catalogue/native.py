"""Our own product file: JSON Lines, one product a line, with the members of the API's single read.

Ids and the times of making and changing are left out. Instead of ids it has names: `brand`, `vendor`,
`shipping_origin`, `tax_class`; categories as paths such as `Kitchen > Cups`, or as an object where a category has
more than a name: {path, sort_order, nodes: [{name, slug, description, ...}]} from the root down; `is_default` on a
variant; `bundle_items` by slug and option values. Uploaded pictures are named by their address; those of categories
are not in it.
"""

from collections.abc import Callable, Iterator
from decimal import Decimal
from functools import cache
from typing import Any

import orjson
from django.db import models

from storefront.catalogue import cells, rules
from storefront.catalogue import records as wire
from storefront.catalogue.cells import LIMITS
from storefront.catalogue.delimited import Table, UnreadableFile
from storefront.catalogue.incoming import (
    NAMED,
    BundlePart,
    CategoryNode,
    CategoryPath,
    Failure,
    MediaRecord,
    OptionRecord,
    Problem,
    ProductRecord,
    Read,
    Unfit,
    VariantRecord,
)
from storefront.catalogue.models import BundleItem, Category, MeasureField, Media, Option, OptionValue, Product, Variant
from storefront.catalogue.outgoing import branch
from storefront.catalogue.spool import Spool
from storefront.kit import clock, money
from storefront.shops.models import Shop

Member = Callable[[Any], Any]

# Columns that no file sets: ids, what follows from others, and when a row was made, changed or deleted.
LEFT_OUT = {"id", "shop", "product", "option", "bundle", "created_at", "updated_at", "deleted_at", "sort_name", "slug"}
LEFT_OUT |= {"lft", "rgt", "parent", "image", "banner", "file", "type", "default_variant", *NAMED}
_LEAST = {"billing_interval_count": 1, "damaged_qty": 0, "qty": 1}
# Members of the single read that mean nothing in another shop, and so are passed over without a word.
_IGNORED = {"id", "created_at", "updated_at", "deleted_at", "sort_name", "default_variant_id"}
_IGNORED |= {"vendor_id", "shipping_origin_id", "brand_id", "tax_class_id", "product_id", "shop_id"}
_LISTS = {"categories", "media", "variants", "options", "bundle_items"}


def recognises(table: Table) -> bool:
    """Whether the file holds JSON, which no table begins with."""
    return table.start()[:1] in ("{", "[")


def read(table: Table) -> Iterator[Read]:
    """Every product of the file; bundles come last, when their parts stand."""
    if table.start()[:1] != "{":
        raise UnreadableFile(
            'Expected JSON Lines, one product a line, such as {"name": "Mug", "price": "9.50"}; no list around them.'
        )
    unknown: set[str] = set()
    with Spool() as bundles:
        for line, text in table.lines():
            text = text.strip("\ufeff \t\r\n")
            if not text:
                continue
            found = _product(line, text, unknown)
            if isinstance(found, ProductRecord) and found.bundle_items:
                bundles.add(f"line {line}", line, [text])
            else:
                yield found
        for _, rows in bundles.groups():
            yield from (_product(line, text, unknown) for line, (text,) in rows)


def _product(line: int, text: str, unknown: set[str]) -> Read:
    try:
        given = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        return Failure([Problem(line, "", f"is not JSON ({error})")])
    if not isinstance(given, dict):
        return Failure([Problem(line, "", 'expected an object such as {"name": "Mug"}')])
    reader = _Reader(line)
    record = reader.product(given)
    for name in given.keys() - members(Product).keys() - _IGNORED - _LISTS - set(NAMED) - {"slug", "type"} - unknown:
        unknown.add(name)
        record.warn(name, "is not a member of a product; passed over")
    return Failure(reader.problems) if reader.problems else record


class _Reader:
    """Reads one line; every problem is noted under the member's path, such as `variants.0.price`."""

    def __init__(self, line: int) -> None:
        self.line = line
        self.problems: list[Problem] = []

    def product(self, given: dict[str, Any]) -> ProductRecord:
        fields = self.fields(Product, given, "")
        if "type" in given:
            self.take(fields, "type", given["type"], _choice(Product.Type.values), "")
        name = fields.get("name", "")
        if "name" in given and not name:
            self.refuse("name", "is empty")
        slug = self.value(_text(None), given["slug"], "slug") if given.get("slug") is not None else None
        record = ProductRecord(self.line, [], fields)
        record.slug = cells.slug(slug) if slug else rules.slug_of(name, fallback="product")
        self._identify(record, bool(slug))
        if "name" not in given:
            record.only_update = "name: is needed to make a product"
        for kind in NAMED:
            if kind in given:
                record.named[kind] = self.value(_nullable(_text(200)), given[kind], kind) or None
        self._lists(given, record)
        if fields.get("stock_qty") is not None:
            self._settle(record, fields, "stock_qty")
        return record

    def _identify(self, record: ProductRecord, stated: bool) -> None:
        """By its slug; by its SKU where it states none; by the slug of its name where it has neither."""
        sku = record.fields.get("sku")
        record.keys.append(("sku", sku) if sku and not stated else ("slug", record.slug))

    def _lists(self, given: dict[str, Any], record: ProductRecord) -> None:
        if "categories" in given:
            record.categories = self.each(given["categories"], "categories", self.category)
        if "media" in given:
            record.media = self.each(given["media"], "media", self.media)
        if "variants" in given:
            record.variants = self.each(given["variants"], "variants", lambda *item: self.variant(record, *item))
            record.variants_complete = record.says_default = True
            if record.variants:
                record.fields.setdefault("type", Product.Type.VARIABLE)
            keys = [variant.key for variant in record.variants]
            if len(set(keys)) < len(keys):
                self.refuse("variants", "two have the same option_values")
        if "options" in given:
            record.options = self.each(given["options"], "options", self.option)
        if "bundle_items" in given:
            record.bundle_items = self.each(given["bundle_items"], "bundle_items", self.bundle_part)

    def category(self, given: Any, path: str) -> CategoryPath | None:
        if isinstance(given, str):
            names = [name.strip() for name in given.split(">")]
            nodes = [
                CategoryNode(self.value(_text(LIMITS[Category]["name"]), name, path) or "") for name in names if name
            ]
            return CategoryPath(tuple(nodes)) if nodes else None
        if not isinstance(given, dict) or not isinstance(given.get("path"), str):
            self.refuse(path, 'expected a path such as "Kitchen > Cups", or an object with such a path')
            return None
        place = self.value(_integer(models.IntegerField()), given.get("sort_order", 0), f"{path}.sort_order")
        if "nodes" in given:
            nodes = self.each(given["nodes"], f"{path}.nodes", self.category_node)
        else:
            plain = self.category(given["path"], path)
            nodes = list(plain.nodes) if plain else []
        return CategoryPath(tuple(nodes), place) if nodes else None

    def category_node(self, given: Any, path: str) -> CategoryNode | None:
        if not isinstance(given, dict) or not given.get("name"):
            self.refuse(path, "expected an object with a name")
            return None
        fields = self.fields(Category, given, path)
        if given.get("slug"):
            fields["slug"] = cells.slug(self.value(_text(None), given["slug"], f"{path}.slug") or "")
        return CategoryNode(fields.pop("name", ""), fields)

    def media(self, given: Any, path: str) -> MediaRecord | None:
        if isinstance(given, str):
            given = {"url": given}
        if not isinstance(given, dict):
            self.refuse(path, 'expected an address, or an object such as {"url": "https://...", "alt": ""}')
            return None
        url = self.value(_address, given.get("url"), f"{path}.url")
        return MediaRecord(url or "", self.fields(Media, given, path))

    def variant(self, record: ProductRecord, given: Any, path: str) -> VariantRecord | None:
        if not isinstance(given, dict):
            self.refuse(path, "expected an object")
            return None
        fields = self.fields(Variant, given, path)
        values = fields.pop("option_values", {})
        if not fields.get("name"):
            fields["name"] = " / ".join(values.values())[: LIMITS[Variant]["name"]]
        if fields.get("stock_qty") is not None:
            self._settle(record, fields, f"{path}.stock_qty")
        image = self.value(_nullable(_address), given.get("image"), f"{path}.image")
        default = self.value(_boolean, given.get("is_default", False), f"{path}.is_default")
        return VariantRecord(self.line, values, fields, image, "image" in given, bool(default))

    def option(self, given: Any, path: str) -> OptionRecord | None:
        if not isinstance(given, dict) or not given.get("name"):
            self.refuse(path, "expected an object with a name")
            return None
        fields = self.fields(Option, given, path)
        if "type" in given:
            self.take(fields, "type", given["type"], _choice(Option.Type.values), path)
        values = self.each(given.get("values", []), f"{path}.values", self.option_value)
        return OptionRecord(fields.pop("name", ""), fields, values)

    def option_value(self, given: Any, path: str) -> tuple[str, dict[str, Any]] | None:
        if not isinstance(given, dict) or not isinstance(given.get("label"), str):
            self.refuse(path, "expected an object with a label")
            return None
        fields = self.fields(OptionValue, given, path)
        return fields.pop("label", ""), fields

    def bundle_part(self, given: Any, path: str) -> BundlePart | None:
        if not isinstance(given, dict) or not isinstance(given.get("product"), str):
            self.refuse(path, "expected an object with the product's slug")
            return None
        variant = given.get("variant")
        if variant is not None and rules.json_errors({"option_values": variant}):
            self.refuse(f"{path}.variant", 'expected option values such as {"Colour": "Blue"}')
        fields = {"qty": 1, "sort_order": 0} | self.fields(BundleItem, given, path)
        return BundlePart(given["product"], variant, fields)

    def _settle(self, record: ProductRecord, fields: dict[str, Any], path: str) -> None:
        fields["stock_qty"] = Decimal(fields["stock_qty"])
        cells.settle_stock(record, fields, path, self.line)

    def each(self, given: Any, path: str, read_item: Callable[[Any, str], Any]) -> list[Any]:
        if not isinstance(given, list):
            self.refuse(path, "expected a list")
            return []
        items = [read_item(item, f"{path}.{number}") for number, item in enumerate(given)]
        return [item for item in items if item is not None]

    def fields(self, model: type[models.Model], given: dict[str, Any], path: str) -> dict[str, Any]:
        """The columns of the model that are among the members."""
        fields: dict[str, Any] = {}
        known = members(model)
        for name in given.keys() & known.keys():
            self.take(fields, name, given[name], known[name], path)
        return fields

    def take(self, fields: dict[str, Any], name: str, value: Any, parse: Member, path: str) -> None:
        try:
            fields[name] = parse(value)
        except Unfit as unfit:
            self.refuse(f"{path}.{name}" if path else name, str(unfit))

    def value(self, parse: Member, value: Any, path: str) -> Any:
        try:
            return parse(value)
        except Unfit as unfit:
            self.refuse(path, str(unfit))
            return None

    def refuse(self, path: str, reason: str) -> None:
        self.problems.append(Problem(self.line, path, reason))


@cache
def members(model: type[models.Model]) -> dict[str, Member]:
    """How each member that is a column of the model is understood."""
    columns = [column for column in model._meta.concrete_fields if column.name not in LEFT_OUT]
    return {
        column.name: _nullable(_member(column)) if column.null else _member(column)
        for column in columns
        if not column.is_relation
    }


def _member(column: Any) -> Member:
    if column.choices:
        return _choice([value for value, _ in column.choices])
    match column:
        case money.MoneyField():
            return _money
        case MeasureField():
            return lambda value: cells.measure()(_is(str, value, 'a decimal string such as "0.250"'))
        case models.BooleanField():
            return _boolean
        case models.IntegerField():
            return _integer(column)
        case models.DateTimeField():
            return lambda value: cells.moment(_is(str, value, "a time such as 2026-11-21T07:30:00Z"))
        case models.JSONField():
            return lambda value: _json(column.name, value)
        case models.URLField():
            return _address
    return _text(column.max_length)


def _nullable(parse: Member) -> Member:
    return lambda value: None if value is None else parse(value)


def _is(kind: type, value: Any, expected: str) -> Any:
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise Unfit(f"expected {expected}, found {cells.shown(orjson.dumps(value).decode())}")
    return value


def _text(limit: int | None) -> Member:
    return lambda value: cells.check_text(_is(str, value, "a text"), limit)


def _choice(values: list[str]) -> Member:
    def parse(value: Any) -> str:
        if value not in values:
            raise Unfit(f"expected one of {', '.join(values)}, found {cells.shown(str(value))}")
        return value

    return parse


def _boolean(value: Any) -> bool:
    return _is(bool, value, "true or false")


def _money(value: Any) -> Decimal:
    try:
        return money.parse(value)
    except ValueError:
        raise Unfit(f'expected a decimal string such as "12.50", found {cells.shown(str(value))}') from None


def _integer(column: models.IntegerField) -> Member:
    low = 0 if isinstance(column, models.PositiveIntegerField) else -cells.LARGEST_INTEGER
    low = _LEAST.get(getattr(column, "name", None) or "", low)
    high = 2**53 - 1 if isinstance(column, models.BigIntegerField) else cells.LARGEST_INTEGER

    def parse(value: Any) -> int:
        if not low <= _is(int, value, "a whole number") <= high:
            raise Unfit(f"expected a whole number from {low} to {high}, found {value}")
        return value

    return parse


def _json(name: str, value: Any) -> Any:
    if problems := rules.json_errors({name: value}):
        raise Unfit(problems[name][0].rstrip(".").replace("Expected", "expected"))
    if b"\\u0000" in orjson.dumps(value):
        raise Unfit("holds a NUL character")
    return value


def _address(value: Any) -> str:
    address = cells.check_text(_is(str, value, "an address"), LIMITS[Media]["source_url"])
    if not address.startswith(("https://", "http://")):
        raise Unfit(f"expected an address that begins with https:// or http://, found {cells.shown(address)}")
    return address


def dump(shop: Shop, product: Product, categories: dict[int, Category]) -> dict[str, Any]:
    """The product as a line of the file. Takes it as `merging.standing` reads it, and the shop's categories by id."""
    made = {"name": product.name, "slug": product.slug, "type": product.type, **_columns(product)}
    made |= {kind: row.name if (row := getattr(product, kind)) else None for kind in NAMED}
    made["media"] = [
        {"url": wire.media_url(shop, row.file.name, row.source_url), **_columns(row)} for row in product.media.all()
    ]
    made["categories"] = [_category(link, categories) for link in product.category_links.all()]
    made["variants"] = [_variant(shop, product, row) for row in product.variants.all()]
    made["options"] = [
        {**_columns(row), "type": row.type, "values": [_columns(value) for value in row.values.all()]}
        for row in product.options.all()
    ]
    if parts := list(product.bundle_items.all()):
        made["bundle_items"] = [
            {"product": row.product.slug, "variant": row.variant and row.variant.option_values, **_columns(row)}
            for row in parts
        ]
    return made


def _variant(shop: Shop, product: Product, row: Variant) -> dict[str, Any]:
    image = next((each for each in product.media.all() if each.pk == row.image_id), None)
    made = {**_columns(row), "image": wire.media_url(shop, image.file.name, image.source_url) if image else None}
    return made | ({"is_default": True} if row.pk == product.default_variant_id else {})


def _category(link: Any, categories: dict[int, Category]) -> str | dict[str, Any]:
    nodes = branch(link.category_id, categories)
    path = " > ".join(node.name for node in nodes)
    told = [_category_node(node) for node in nodes]
    if any(len(node) > 1 or ">" in node["name"] for node in told):
        return {"path": path, "sort_order": link.sort_order, "nodes": told}
    return {"path": path, "sort_order": link.sort_order} if link.sort_order else path


def _category_node(node: Category) -> dict[str, Any]:
    """The name, and what else differs from a category that a path alone makes."""
    defaults = {column.name: column.get_default() for column in Category._meta.concrete_fields}
    made = {
        name: value for name, value in _columns(node).items() if name == "name" or getattr(node, name) != defaults[name]
    }
    if node.slug != rules.slug_of(node.name, fallback="category"):
        made["slug"] = node.slug
    return made


def _columns(row: Any) -> dict[str, Any]:
    return {name: _wire(row._meta.get_field(name), getattr(row, name)) for name in members(row._meta.model)}


def _wire(column: Any, value: Any) -> Any:
    match column:
        case _ if value is None:
            return None
        case money.MoneyField():
            return money.to_wire(value)
        case MeasureField():
            return f"{value:.3f}"
        case models.DateTimeField():
            return clock.timestamp(value)
    return value
