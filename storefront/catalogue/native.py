"""Our own product file: JSON Lines, one product a line, with the members of the API's single read.

Ids and the times of making and changing are left out. Instead of ids it has names: `brand`, `vendor`,
`shipping_origin`, `tax_class`; categories as paths such as `Kitchen > Cups`, or as an object where a category has
more than a name: {path, sort_order, nodes: [{name, slug, description, ...}]} from the root down; `is_default` on a
variant; `bundle_items` by slug and option values. Uploaded pictures are named by their address; those of categories
are not in it.
"""

from collections.abc import Callable, Iterator
from decimal import Decimal
from functools import lru_cache
from typing import Any

import orjson
from django.db import models

from storefront.catalogue import cells, rules
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
from storefront.catalogue.models import BundleItem, Category, Media, Option, OptionValue, Product, Variant
from storefront.catalogue.native_members import Member, address_of, boolean, choice, integer, members, nullable, text_of
from storefront.catalogue.spool import Spool

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


# Once for each of a file's categories, which thousands of products share.
@lru_cache(maxsize=10_000)
def _plain_path(text: str) -> CategoryPath | None:
    names = [name.strip() for name in text.split(">")]
    nodes = [CategoryNode(cells.check_text(name, LIMITS[Category]["name"])) for name in names if name]
    return CategoryPath(tuple(nodes)) if nodes else None


class _Reader:
    """Reads one line; every problem is noted under the member's path, such as `variants.0.price`."""

    def __init__(self, line: int) -> None:
        self.line = line
        self.problems: list[Problem] = []

    def product(self, given: dict[str, Any]) -> ProductRecord:
        fields = self.fields(Product, given, "")
        if "type" in given:
            self.take(fields, "type", given["type"], choice(Product.Type.values), "")
        name = fields.get("name", "")
        if "name" in given and not name:
            self.refuse("name", "is empty")
        slug = self.value(text_of(None), given["slug"], "slug") if given.get("slug") is not None else None
        record = ProductRecord(self.line, [], fields)
        record.slug = cells.slug(slug) if slug else rules.slug_of(name, fallback="product")
        self._identify(record, bool(slug))
        if "name" not in given:
            record.only_update = "name: is needed to make a product"
        for kind in NAMED:
            if kind in given:
                record.named[kind] = self.value(nullable(text_of(200)), given[kind], kind) or None
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
            return self.value(_plain_path, given, path)
        if not isinstance(given, dict) or not isinstance(given.get("path"), str):
            self.refuse(path, 'expected a path such as "Kitchen > Cups", or an object with such a path')
            return None
        place = self.value(integer(models.IntegerField()), given.get("sort_order", 0), f"{path}.sort_order")
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
            fields["slug"] = cells.slug(self.value(text_of(None), given["slug"], f"{path}.slug") or "")
        return CategoryNode(fields.pop("name", ""), fields)

    def media(self, given: Any, path: str) -> MediaRecord | None:
        if isinstance(given, str):
            given = {"url": given}
        if not isinstance(given, dict):
            self.refuse(path, 'expected an address, or an object such as {"url": "https://...", "alt": ""}')
            return None
        url = self.value(address_of, given.get("url"), f"{path}.url")
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
        image = self.value(nullable(address_of), given.get("image"), f"{path}.image")
        default = self.value(boolean, given.get("is_default", False), f"{path}.is_default")
        return VariantRecord(self.line, values, fields, image, "image" in given, bool(default))

    def option(self, given: Any, path: str) -> OptionRecord | None:
        if not isinstance(given, dict) or not given.get("name"):
            self.refuse(path, "expected an object with a name")
            return None
        fields = self.fields(Option, given, path)
        if "type" in given:
            self.take(fields, "type", given["type"], choice(Option.Type.values), path)
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
