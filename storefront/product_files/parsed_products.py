"""Products as readers parse them from a file of any format.

A parsed product holds only what the file states. An absent field keeps its value in an existing product, and has its
default in a new one. A blank value in the file is present, and clears the field, or
keeps it where nothing could be meant by a blank one: prices, choices such as yes and no, the status.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, ClassVar, Literal

from storefront.catalogue.search_texts import Spelling
from storefront.kit.bulk_insert import Packed

# (column, value) that identifies a product, such as ("sku", "A-1").
ProductKey = tuple[str, Any]


@dataclass(frozen=True, slots=True)
class Problem:
    """An entry of the report about a line of a file. A product with an error is not imported; one with a warning is. A
    note is about the file as a whole, such as its encoding.

    A conflict is a product that is not imported because its keys do not identify one product. A skipped one is in the
    shop already, and the import changes nothing about it.
    """

    line: int
    column: str
    reason: str
    severity: Literal["error", "warning", "note", "conflict", "skipped"] = "error"
    # The key of the product in the file, such as `SKU A-1`; empty if the problem is not about a whole product.
    key: str = ""

    def __str__(self) -> str:
        place = self.column or (self.key if self.severity in ("conflict", "skipped") else "")
        return f"line {self.line}, {place}: {self.reason}" if place else f"line {self.line}: {self.reason}"


REPORT_COLUMNS = ("line", "key", "what", "reason")


def report_row(problem: Problem) -> tuple[str, str, str, str]:
    """The problem as a row of the report: line, key of the product, severity, and the reason with its column."""
    reason = f"{problem.column}: {problem.reason}" if problem.column else problem.reason
    return str(problem.line), problem.key, problem.severity, reason


class CompactPickle:
    """Pickles an object of two fields or more as its values alone, in two thirds of the time. The reading process
    sends thousands of these objects."""

    __slots__: tuple[str, ...] = ()
    _values: ClassVar[Callable[[Any], tuple[Any, ...]]]

    def __init_subclass__(cls) -> None:
        if cls.__slots__:
            cls._values = attrgetter(*cls.__slots__)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), type(self)._values(self)


@dataclass(slots=True)
class CategoryNode(CompactPickle):
    """One step of a category path; `fields` are used if the category has to be created."""

    name: str
    fields: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class CategoryPath:
    """A category by the names from its root down, and the product's sort order in it."""

    nodes: tuple[CategoryNode, ...]
    sort_order: int | None = None
    names: tuple[str, ...] = field(init=False)
    # The names case-folded, to look up the category.
    key: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        self.names = tuple(node.name for node in self.nodes)
        self.key = tuple(name.casefold() for name in self.names)

    def __reduce__(self) -> tuple[Any, ...]:
        return CategoryPath, (self.nodes, self.sort_order)


@dataclass(slots=True)
class ParsedMedia(CompactPickle):
    """A picture by its URL, which is stored and never fetched."""

    url: str
    fields: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class ParsedVariant(CompactPickle):
    """A variant, identified by its id in the source, its SKU or its option values (`variant_matching.py`).

    `states_options` is False if the file has no option values for it, as in a list of SKUs and prices. `if_new` are
    fields that only a new variant gets, where `fields` lack them. `any_value` is the value that the file's format
    has for a variant that fits any value, if it has one. `shared_values` are those that all of the file's variants of
    the product have alike: option values only where the shop's variants have these options.
    """

    line: int
    option_values: dict[str, str]
    fields: dict[str, Any]
    image: str | None = None
    states_image: bool = False
    is_default: bool = False
    external_id: int | None = None
    states_options: bool = True
    if_new: dict[str, Any] = field(default_factory=dict)
    any_value: str = ""
    shared_values: dict[str, str] = field(default_factory=dict)

    @property
    def new_fields(self) -> dict[str, Any]:
        return self.if_new | self.fields if self.if_new else self.fields

    @property
    def key(self) -> tuple[tuple[str, str], ...]:
        return option_key(self.option_values)

    @property
    def key_without_any(self) -> tuple[tuple[str, str], ...]:
        return option_key({name: value for name, value in self.option_values.items() if value != self.any_value})

    @property
    def sku(self) -> str:
        return self.fields.get("sku", "")


@dataclass(slots=True)
class ParsedOption(CompactPickle):
    """An option of the product, with its values as (label, fields)."""

    name: str
    fields: dict[str, Any]
    values: list[tuple[str, dict[str, Any]]]


@dataclass(slots=True)
class ParsedBundleItem:
    """A bundle item by slug and option values, since ids mean nothing in another shop."""

    product: str
    variant: dict[str, str] | None
    fields: dict[str, Any]


@dataclass(slots=True)
class ParsedRelated(CompactPickle):
    """The keys of related products, and the column that states them."""

    header: str
    keys: list[ProductKey]


@dataclass(slots=True)
class ParsedMetafield(CompactPickle):
    """A metafield of Shopify's with its key and label; None as values if its cell is blank."""

    key: str
    name: str
    values: list[str] | None


@dataclass(slots=True)
class Keys(CompactPickle):
    """The keys by which a file identifies a product, the most reliable first. `external_id` is the id in the program
    that wrote the file. `slug` is only set if the file states it. `product_id` is the shop's own, of a product that the
    import has found by its variants."""

    external_id: int | None = None
    slug: str = ""
    sku: str = ""
    name: str = ""
    product_id: int | None = None

    def __str__(self) -> str:
        if self.external_id:
            return f"ID {self.external_id}"
        if self.slug:
            return f"slug {self.slug}"
        if self.sku:
            return f"SKU {self.sku}"
        return f"name {self.name}" if self.name else ""


@dataclass(slots=True)
class PackedVariant(CompactPickle):
    """A variant's row, the place of its picture among the product's, and its id in the source."""

    row: Packed
    picture: int | None
    external_id: int | None


@dataclass(slots=True)
class NewRows(CompactPickle):
    """A new product's rows without the later columns of `new_rows.NewTables`. `words` are those for spelling, `media`
    has each picture's address and row, `default` is the place of the default variant, `options` has each option's row
    with those of its values, `slugs` are those of further languages, by language."""

    product: Packed
    search: Packed
    words: frozenset[Spelling]
    media: list[tuple[str, Packed]]
    variants: list[PackedVariant]
    default: int | None
    options: list[tuple[Packed, list[Packed]]]
    slugs: dict[str, str]


@dataclass(slots=True)
class ParsedProduct(CompactPickle):
    """A product as a file states it.

    `slug` is the one that the product gets if it is new. `related_names` holds the names of brand, vendor, shipping
    origin and tax class; None removes it. `if_new` are fields that only a new product gets, where `fields` lack them.
    `rows` are the packed rows of a new product, which replace its other values (`new_rows.with_new_rows`).
    `refusal_if_new` is the reason why the product cannot be created, if it can only update an existing one, and
    `reason_to_keep` the one why an existing product stays as it is.

    Rows that do not state whether they are a product or a variant are read as both. `as_variant` is the reading as one
    variant of a product that the file does not name; `if_variable` that as variants of the product that the file names,
    which counts if that product is variable. `problems` are why there is no reading as a product.
    """

    line: int
    keys: Keys
    fields: dict[str, Any]
    slug: str = ""
    related_names: dict[str, str | None] = field(default_factory=dict)
    categories: list[CategoryPath] | None = None
    media: list[ParsedMedia] | None = None
    variants: list[ParsedVariant] | None = None
    # True if `variants` is the complete list; if not, other existing variants stay as they are.
    variants_complete: bool = False
    # True if the file states the default variant, so that none means there is no default.
    states_default: bool = False
    options: list[ParsedOption] | None = None
    bundle_items: list[ParsedBundleItem] | None = None
    # Related products by kind of relation, as far as the file states them.
    related: dict[str, ParsedRelated] = field(default_factory=dict)
    # The attributes that columns of a Shopify file state, blank ones included. None: the file has no such column.
    metafields: list[ParsedMetafield] | None = None
    if_new: dict[str, Any] = field(default_factory=dict)
    rows: NewRows | None = None
    # True if the file may have more rows of the product, which cannot be read: then nothing is removed or deactivated.
    is_partial: bool = False
    # True if translations that the file does not state stay.
    merges_translations: bool = False
    # True if attributes keep what the file's format cannot state; if the product can have more attributes, or
    # categories, than the file has columns for, which stay.
    merges_attributes: bool = False
    attributes_are_partial: bool = False
    categories_are_partial: bool = False
    # The names of options, if variants can have more of them than the file has columns for.
    only_options: frozenset[str] | None = None
    # True if the file states the product's type beyond doubt, so that it counts also where variants stop selling.
    settles_type: bool = False
    refusal_if_new: str = ""
    as_variant: "ParsedProduct | None" = None
    if_variable: "ParsedProduct | None" = None
    problems: list[Problem] = field(default_factory=list)
    reason_to_keep: str = ""
    # Line and key of each row, where the file has them apart and only the shop knows that they are one product.
    joined_rows: list[tuple[int, str]] = field(default_factory=list)
    warnings: list[Problem] = field(default_factory=list)
    # Warnings if the product is new, and those if it is updated, of which a report has one for each column.
    new_warnings: list[Problem] = field(default_factory=list)
    update_warnings: list[Problem] = field(default_factory=list)

    def warn_if_new(self, column: str, reason: str, line: int | None = None) -> None:
        self.new_warnings.append(Problem(line or self.line, column, reason, "warning"))

    def warn_once_if_updated(self, column: str, reason: str, line: int | None = None) -> None:
        self.update_warnings.append(Problem(line or self.line, column, reason, "warning"))

    def warn(self, column: str, reason: str, line: int | None = None) -> None:
        self.warnings.append(Problem(line or self.line, column, reason, "warning"))


@dataclass(frozen=True, slots=True)
class Failure:
    """A product that could not be parsed, with every reason found."""

    problems: list[Problem]


@dataclass(frozen=True, slots=True)
class Notice:
    """A warning about the file that concerns no single product."""

    problem: Problem


ReadResult = ParsedProduct | Failure | Notice
NAMED = ("brand", "vendor", "shipping_origin", "tax_class")


def option_key(values: dict[str, str]) -> tuple[tuple[str, str], ...]:
    """Option values as a hashable key, independent of their order."""
    return tuple(sorted(values.items()))
