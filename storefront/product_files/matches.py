"""The outcome of matching a product of a file, and what the shop has for the keys of a batch."""

from dataclasses import dataclass, field
from typing import Any

from storefront.product_files.existing import Found
from storefront.product_files.parsed_products import ParsedProduct
from storefront.product_files.variant_matching import FoundVariant


@dataclass(frozen=True, slots=True)
class Match:
    """The existing product, or None for a new one; `conflict` is the reason why it is neither.

    `links` is true if the source's id for this product has to be stored. `variant` is set if the row is this variant of
    the product.
    """

    product: Found | None = None
    conflict: str = ""
    links: bool = False
    variant: FoundVariant | None = None


Matched = tuple[ParsedProduct, Match]
NEW = Match()


def conflict(text: str, **values: Any) -> Match:
    return Match(conflict=text % values)


@dataclass(slots=True)
class Existing:
    """The existing products that the keys of a batch name."""

    by_id: dict[int, Found] = field(default_factory=dict)
    by_slug: dict[str, Found] = field(default_factory=dict)
    by_sku: dict[str, list[Found]] = field(default_factory=dict)
    # Products in `by_sku` that have an id in the source.
    with_id: set[int] = field(default_factory=set)
    # Products by the shop's own ids.
    by_product_id: dict[int, Found] = field(default_factory=dict)
    # For rows that can be variants: the variants by the id in the source, and by SKU.
    variants_by_id: dict[int, FoundVariant] = field(default_factory=dict)
    variants_by_sku: dict[str, list[FoundVariant]] = field(default_factory=dict)
    # Variants in `variants_by_sku` that have an id in the source.
    variants_with_id: set[int] = field(default_factory=set)
    seen: dict[str, int] = field(default_factory=dict)
    lines: dict[int, tuple[int, bool]] = field(default_factory=dict)
    # The slugs of new products of the batch, each with its product's line.
    new_slugs: dict[str, int] = field(default_factory=dict)
