"""The native product file: JSON Lines, one product per line, with the members of the API's single read.

Ids and times of creation and change are left out. Names replace ids: `brand`, `vendor`, `shipping_origin`, `tax_class`.
Categories are paths such as `Kitchen > Cups`, or an object if a category has more than a name: {path, sort_order,
nodes: [{name, slug, description, ...}]}, root first. A variant can have `is_default`; `bundle_items` are given by slug
and option values; `up_sells` and `cross_sells` are lists of slugs. Uploaded pictures are given by URL; pictures of
categories are left out.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from decimal import Decimal
from functools import cache, lru_cache
from typing import Any

import orjson
from django.db import models
from django.utils.translation import gettext as _

from storefront.catalogue import parsing, rules
from storefront.catalogue.fields import MemberParser, boolean, kind_of, or_none, text_parser, url_parser
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
from storefront.catalogue.parsing import InvalidValue
from storefront.kit.money import problem_of
from storefront.kit.money_field import MoneyField
from storefront.product_files import parsers
from storefront.product_files.csv_reading import TOO_LONG, Table, UnreadableFile, is_cut
from storefront.product_files.native.members import RELATED, members
from storefront.product_files.parsed_products import (
    NAMED,
    CategoryNode,
    CategoryPath,
    Failure,
    Keys,
    ParsedBundleItem,
    ParsedMedia,
    ParsedOption,
    ParsedProduct,
    ParsedRelated,
    ParsedVariant,
    Problem,
    ReadResult,
)
from storefront.product_files.parsers import LIMITS
from storefront.product_files.row_store import RowStore
from storefront.product_files.rows import resembling
from storefront.product_files.stock_levels import read_level

# Members of the API's single read that have no meaning in another shop. They are ignored without a warning.
_IGNORED = {"id", "created_at", "updated_at", "deleted_at", "sort_name", "default_variant_id"}
_IGNORED |= {"vendor_id", "shipping_origin_id", "brand_id", "tax_class_id", "product_id", "shop_id"}
# Problems of a line that are reported.
MAX_PROBLEMS = 50
# Names of unknown members that are reported for a file.
MAX_UNKNOWN = 100
# Items of lists that have no limit of their own: values of an option, steps of a category's path, related products.
MAX_ITEMS = 1000
_LISTS = {"categories", "media", "variants", "options", "bundle_items", *RELATED.values()}
# Members by which a line states that it is a product and not one of its variants.
_ONLY_OF_PRODUCTS = {"slug", "type", "variants", "options", "bundle_items"}
_picture_url = url_parser(LIMITS[Media]["source_url"])


def recognises(table: Table) -> bool:
    """Whether the file begins like JSON, as no CSV file does."""
    return table.start()[:1] in ("{", "[")


def read(table: Table, currency: str) -> Iterator[ReadResult]:
    """Every product of the file; bundles come last, so that their items exist by then."""
    if table.start()[:1] != "{":
        raise UnreadableFile(
            _('Expected JSON Lines, one product a line, such as {"name": "Mug", "price": "9.50"}; no list around them.')
        )
    unknown: set[str] = set()
    with RowStore() as bundles:
        for line, text in table.lines():
            if is_cut(text):
                yield Failure([Problem(line, "", str(TOO_LONG))])
                continue
            text = text.strip("\ufeff \t\r\n")
            if not text:
                continue
            found = _product(line, text, unknown, currency)
            if isinstance(found, ParsedProduct) and found.bundle_items:
                bundles.add(f"line {line}", line, [text])
            else:
                yield found
        for group in bundles.groups():
            if isinstance(group, Failure):
                yield group
            else:
                yield from (_product(line, text, unknown, currency) for line, (text,) in group[1])


def skus(table: Table, *, of_variants: bool) -> Iterator[str]:
    """The SKU of every product of the file that has one, or of every variant."""
    for _unused, text in table.lines():
        with suppress(orjson.JSONDecodeError):
            given = orjson.loads(text.strip("\ufeff \t\r\n") or "{}")
            variants = given.get("variants") if isinstance(given, dict) else None
            for each in (variants if isinstance(variants, list) else ()) if of_variants else (given,):
                if isinstance(each, dict) and isinstance(sku := each.get("sku"), str) and sku.strip():
                    yield sku.strip()


def _product(line: int, text: str, unknown: set[str], currency: str) -> ReadResult:
    try:
        given = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        return Failure([Problem(line, "", _("is not JSON (%(error)s)") % {"error": error})])
    if not isinstance(given, dict):
        return Failure([Problem(line, "", _('expected an object such as {"name": "Mug"}'))])
    reader = _Reader(line, currency)
    parsed = reader.product(given)
    for name in sorted(given.keys() - _known() - unknown)[: MAX_UNKNOWN - len(unknown)]:
        unknown.add(name)
        parsed.warn(
            name,
            _("is not a product field; ignored.%(name)s") % {"name": resembling(name, sorted(_known() - _IGNORED))},
        )
    if reader.more:
        reader.problems.append(Problem(line, "", _("%(more)s more problems") % {"more": f"{reader.more:,}"}))
    if reader.problems and parsed.as_variant:
        parsed.problems = parsed.as_variant.problems = reader.problems
        return parsed
    return Failure(reader.problems) if reader.problems else parsed


@cache
def _known() -> frozenset[str]:
    """The members of a product that are read, or ignored without a warning."""
    return frozenset({*members(Product), *_IGNORED, *_LISTS, *NAMED, "slug", "type"})


# Cached, since thousands of products share a category.
@lru_cache(maxsize=10_000)
def _plain_path(text: str) -> CategoryPath | None:
    names = [name.strip() for name in text.split(">")]
    nodes = [CategoryNode(parsing.check_text(name, LIMITS[Category]["name"])) for name in names if name]
    return CategoryPath(parsers.check_levels(tuple(nodes))) if nodes else None


def _parser_of(model: type[models.Model], column: str) -> MemberParser:
    return kind_of(model._meta.get_field(column)).parse


class _Reader:
    """Reads one line. Every problem is recorded with the member's path, such as `variants.0.price`."""

    def __init__(self, line: int, currency: str) -> None:
        self.line, self.currency = line, currency
        self.problems: list[Problem] = []
        # How many are not among `problems`.
        self.more = 0

    def product(self, given: dict[str, Any]) -> ParsedProduct:
        fields = self.fields(Product, given, "")
        is_typed = "type" in given
        if is_typed:
            self.read_into(fields, "type", given["type"], _parser_of(Product, "type"), "")
        name = fields.get("name", "")
        if "name" in given and not name:
            self.refuse("name", _("is empty"))
        slug = self.value(text_parser(None), given["slug"], "slug") if given.get("slug") is not None else None
        stated = parsers.slug(slug) if slug else ""
        parsed = ParsedProduct(self.line, Keys(None, stated, fields.get("sku", ""), name), fields)
        parsed.slug, parsed.settles_type = stated or rules.slug_of(name, fallback="product"), is_typed
        if "name" not in given:
            parsed.refusal_if_new = _("name: is required for a new product")
        for kind in NAMED:
            if kind in given:
                parsed.related_names[kind] = self.value(or_none(text_parser(200)), given[kind], kind) or None
        self._lists(given, parsed)
        if fields.get("stock_qty") is not None:
            self._settle(parsed, fields, "stock_qty")
        if parsed.keys.sku and not given.keys() & _ONLY_OF_PRODUCTS:
            parsed.as_variant = self._as_variant(given, parsed)
        return parsed

    def _as_variant(self, given: dict[str, Any], parsed: ParsedProduct) -> ParsedProduct:
        """The line as one of an existing variant, which keeps its name."""
        fields = {name: value for name, value in parsed.fields.items() if name in members(Variant) and name != "name"}
        variant = ParsedVariant(self.line, {}, fields, states_options=False)
        found = ParsedProduct(self.line, parsed.keys, {}, variants=[variant], warnings=list(parsed.warnings))
        # Looked up once, since this runs for every line.
        ignored = _("is not a member of a variant; ignored")
        for name in sorted(given.keys() & _known() - fields.keys() - _IGNORED - {"name"}):
            found.warn(name, ignored)
        return found

    def _lists(self, given: dict[str, Any], parsed: ParsedProduct) -> None:
        if "categories" in given:
            parsed.categories = self.each(given["categories"], "categories", self.category)
        if "media" in given:
            parsed.media = self.each(given["media"], "media", self.media)
        if "variants" in given:
            parsed.variants = self.each(given["variants"], "variants", lambda *item: self.variant(parsed, *item))
            # A list without options is one of SKUs, which changes the variants that have these.
            is_complete = all(variant.states_options for variant in parsed.variants)
            parsed.variants_complete = parsed.states_default = is_complete
            if parsed.variants:
                parsed.fields.setdefault("type", Product.Type.VARIABLE)
            keys = [variant.key for variant in parsed.variants if variant.states_options]
            if len(set(keys)) < len(keys):
                self.refuse("variants", _("two variants have the same option_values"))
            if len(parsed.variants) > len(keys) + 1:
                reason = _("variants: several have no option_values, which those of a new product need")
                parsed.refusal_if_new = parsed.refusal_if_new or reason
        if "options" in given:
            parsed.options = self.each(given["options"], "options", self.option)
        if "bundle_items" in given:
            parsed.bundle_items = self.each(given["bundle_items"], "bundle_items", self.bundle_item)
        for kind, name in RELATED.items():
            if name in given:
                slugs = self.each(
                    given[name], name, lambda *item: self.value(text_parser(rules.MAX_SLUG_LENGTH), *item)
                )
                parsed.related[kind] = ParsedRelated(name, [("slug", slug) for slug in slugs])

    def category(self, given: Any, path: str) -> CategoryPath | None:
        if isinstance(given, str):
            return self.value(_plain_path, given, path)
        if not isinstance(given, dict) or not isinstance(given.get("path"), str):
            self.refuse(path, _('expected a path such as "Kitchen > Cups", or an object with such a path'))
            return None
        sort_order = self.value(
            _parser_of(ProductCategory, "sort_order"), given.get("sort_order", 0), f"{path}.sort_order"
        )
        if "nodes" in given:
            nodes = self.each(given["nodes"], f"{path}.nodes", self.category_node)
            nodes = self.value(parsers.check_levels, nodes, f"{path}.nodes") or []
        else:
            plain = self.category(given["path"], path)
            nodes = list(plain.nodes) if plain else []
        return CategoryPath(tuple(nodes), sort_order) if nodes else None

    def category_node(self, given: Any, path: str) -> CategoryNode | None:
        if not isinstance(given, dict) or not given.get("name"):
            self.refuse(path, _("expected an object with a name"))
            return None
        fields = self.fields(Category, given, path)
        if given.get("slug"):
            fields["slug"] = parsers.slug(self.value(text_parser(None), given["slug"], f"{path}.slug") or "")
        return CategoryNode(fields.pop("name", ""), fields)

    def media(self, given: Any, path: str) -> ParsedMedia | None:
        if isinstance(given, str):
            given = {"url": given}
        if not isinstance(given, dict):
            self.refuse(path, _('expected a URL, or an object such as {"url": "https://...", "alt": ""}'))
            return None
        url = self.value(_picture_url, given.get("url"), f"{path}.url")
        return ParsedMedia(url or "", self.fields(Media, given, path))

    def variant(self, parsed: ParsedProduct, given: Any, path: str) -> ParsedVariant | None:
        if not isinstance(given, dict):
            self.refuse(path, _("expected an object"))
            return None
        fields = self.fields(Variant, given, path)
        values = fields.pop("option_values", {})
        states_options = "option_values" in given
        if_new: dict[str, Any] = {}
        if not fields.get("name"):
            named = fields if states_options else if_new
            named["name"] = " / ".join(values.values())[: LIMITS[Variant]["name"]]
        if fields.get("stock_qty") is not None:
            self._settle(parsed, fields, f"{path}.stock_qty")
        image = self.value(or_none(_picture_url), given.get("image"), f"{path}.image")
        default = self.value(boolean, given.get("is_default", False), f"{path}.is_default")
        return ParsedVariant(
            self.line,
            values,
            fields,
            image,
            "image" in given,
            bool(default),
            states_options=states_options,
            if_new=if_new,
        )

    def option(self, given: Any, path: str) -> ParsedOption | None:
        if not isinstance(given, dict) or not given.get("name"):
            self.refuse(path, _("expected an object with a name"))
            return None
        fields = self.fields(Option, given, path)
        if "type" in given:
            self.read_into(fields, "type", given["type"], _parser_of(Option, "type"), path)
        values = self.each(given.get("values", []), f"{path}.values", self.option_value)
        return ParsedOption(fields.pop("name", ""), fields, values)

    def option_value(self, given: Any, path: str) -> tuple[str, dict[str, Any]] | None:
        if not isinstance(given, dict) or not isinstance(given.get("label"), str):
            self.refuse(path, _("expected an object with a label"))
            return None
        fields = self.fields(OptionValue, given, path)
        return fields.pop("label", ""), fields

    def bundle_item(self, given: Any, path: str) -> ParsedBundleItem | None:
        if not isinstance(given, dict) or not isinstance(given.get("product"), str):
            self.refuse(path, _("expected an object with the product's slug"))
            return None
        variant = given.get("variant")
        if variant is not None and rules.json_errors({"option_values": variant}):
            self.refuse(f"{path}.variant", _('expected option values such as {"Colour": "Blue"}'))
        fields = {"qty": 1, "sort_order": 0} | self.fields(BundleItem, given, path)
        return ParsedBundleItem(given["product"], variant, fields)

    def _settle(self, parsed: ParsedProduct, fields: dict[str, Any], path: str) -> None:
        fields["stock_qty"] = Decimal(fields["stock_qty"])
        read_level(parsed, fields, path, self.line)

    def each(self, given: Any, path: str, read_item: Callable[[Any, str], Any]) -> list[Any]:
        if not isinstance(given, list):
            self.refuse(path, _("expected a list"))
            return []
        most = rules.MAX_ENTRIES.get(path, MAX_ITEMS)
        if len(given) > most:
            self.refuse(path, rules.too_many_entries(len(given), most))
            return []
        items = [read_item(item, f"{path}.{number}") for number, item in enumerate(given)]
        return [item for item in items if item is not None]

    def fields(self, model: type[models.Model], given: dict[str, Any], path: str) -> dict[str, Any]:
        """The parsed values of the members that are columns of the model."""
        fields: dict[str, Any] = {}
        kinds = members(model)
        for name, value in given.items():
            if name in kinds:
                self.read_into(fields, name, value, kinds[name].parse, path)
                column, place = model._meta.get_field(name), f"{path}.{name}" if path else name
                if name in fields and fields[name] is None and not column.null:
                    self.refuse(place, _("is empty"))
                elif isinstance(column, MoneyField) and fields.get(name) is not None:
                    self.check_amount(fields[name], place)
        return fields

    def check_amount(self, amount: Decimal, path: str) -> None:
        if problem := problem_of(amount, self.currency):
            self.refuse(path, f"{problem}, found {str(amount)!r}")

    def read_into(self, fields: dict[str, Any], name: str, value: Any, parse: MemberParser, path: str) -> None:
        try:
            fields[name] = parse(value)
        except InvalidValue as unfit:
            self.refuse(f"{path}.{name}" if path else name, str(unfit))

    def value(self, parse: MemberParser, value: Any, path: str) -> Any:
        try:
            return parse(value)
        except InvalidValue as unfit:
            self.refuse(path, str(unfit))
            return None

    def refuse(self, path: str, reason: str) -> None:
        if len(self.problems) >= MAX_PROBLEMS:
            self.more += 1
            return
        self.problems.append(Problem(self.line, path, reason))
