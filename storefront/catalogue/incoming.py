"""What every product file is read into, whatever its format.

A record holds only what the file says: a member that is absent leaves a standing product as it is and takes its
default in a new one; a blank cell is present and clears.
"""

from dataclasses import dataclass, field
from typing import Any, Literal


class Unfit(Exception):
    """A cell that cannot be used, and why, as a phrase that follows the column's name."""


@dataclass(frozen=True, slots=True)
class Problem:
    """What was wrong, and where. An error kept its product out; a warning did not."""

    line: int
    column: str
    reason: str
    severity: Literal["error", "warning"] = "error"

    def __str__(self) -> str:
        column = f", {self.column}" if self.column else ""
        return f"line {self.line}{column}: {self.reason}"


class Sent:
    """Rows that pass from one process to another by the thousand: pickled as their values alone, twice as fast."""

    __slots__: tuple[str, ...] = ()

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(getattr(self, name) for name in self.__slots__)


@dataclass(slots=True)
class CategoryNode:
    """One step of a category path; `fields` are used where the category has to be made."""

    name: str
    fields: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class CategoryPath:
    """A category by the names from its root down, and the product's place in it."""

    nodes: tuple[CategoryNode, ...]
    sort_order: int | None = None
    names: tuple[str, ...] = field(init=False)
    # The names without case, by which a category is found.
    key: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        self.names = tuple(node.name for node in self.nodes)
        self.key = tuple(name.casefold() for name in self.names)


@dataclass(slots=True)
class MediaRecord(Sent):
    """A picture by its address, which is kept and never fetched."""

    url: str
    fields: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class VariantRecord(Sent):
    """A variant; within its product the option values tell which."""

    line: int
    option_values: dict[str, str]
    fields: dict[str, Any]
    image: str | None = None
    says_image: bool = False
    is_default: bool = False

    @property
    def key(self) -> tuple[tuple[str, str], ...]:
        return option_key(self.option_values)


@dataclass(slots=True)
class OptionRecord(Sent):
    """A choice on top of the product, with its values as (label, fields)."""

    name: str
    fields: dict[str, Any]
    values: list[tuple[str, dict[str, Any]]]


@dataclass(slots=True)
class BundlePart:
    """A part of a bundle, by slug and option values, since ids mean nothing in another shop."""

    product: str
    variant: dict[str, str] | None
    fields: dict[str, Any]


@dataclass(slots=True)
class ProductRecord(Sent):
    """A product as a file tells it.

    `keys` are (column, value) pairs that name the standing product it may be, the surest first. `named` holds brand,
    vendor, shipping origin and tax class by name; None takes it away. `if_new` are fields of a product that has to
    be made, beneath `fields`. With `only_update` set, that is why it fails where no product stands; with
    `only_simple`, where the product that stands has variants.
    """

    line: int
    keys: list[tuple[str, Any]]
    fields: dict[str, Any]
    slug: str = ""
    named: dict[str, str | None] = field(default_factory=dict)
    categories: list[CategoryPath] | None = None
    media: list[MediaRecord] | None = None
    variants: list[VariantRecord] | None = None
    # Whether `variants` are all there are; else those that stand beside them stay as they are.
    variants_complete: bool = False
    # Whether the file tells which variant is chosen at first, so that none is a statement too.
    says_default: bool = False
    options: list[OptionRecord] | None = None
    bundle_items: list[BundlePart] | None = None
    if_new: dict[str, Any] = field(default_factory=dict)
    only_update: str = ""
    only_simple: str = ""
    warnings: list[Problem] = field(default_factory=list)

    def warn(self, column: str, reason: str, line: int | None = None) -> None:
        self.warnings.append(Problem(line or self.line, column, reason, "warning"))


@dataclass(frozen=True, slots=True)
class Failure:
    """A product that could not be read, and every reason found."""

    problems: list[Problem]


Read = ProductRecord | Failure
NAMED = ("brand", "vendor", "shipping_origin", "tax_class")


def option_key(values: dict[str, str]) -> tuple[tuple[str, str], ...]:
    """Option values as a key: their order does not matter."""
    return tuple(sorted(values.items()))
