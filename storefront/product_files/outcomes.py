"""Sorts the products of a batch: those to create, update, skip or refuse, those in conflict, and those that wait."""

from dataclasses import dataclass, field

from storefront.catalogue.models import Product, Variant
from storefront.product_files.existing import ExistingProduct, existing_products
from storefront.product_files.impact import Effect
from storefront.product_files.matches import Match
from storefront.product_files.matching import Matcher
from storefront.product_files.parsed_products import ParsedProduct
from storefront.product_files.spool import Spool
from storefront.product_files.updating import Changes
from storefront.product_files.variant_matching import (
    Contradiction,
    VariantKeys,
    pair_variants,
    variants_by_id,
    variants_by_sku,
)
from storefront.shops.models import Shop


@dataclass
class Outcome:
    """The result of one batch, counted once its transaction is committed."""

    created: list[ParsedProduct] = field(default_factory=list)
    created_ids: list[int] = field(default_factory=list)
    updated: list[tuple[ParsedProduct, str, Changes]] = field(default_factory=list)
    # What the changes of a comparison do to the shop.
    effects: list[Effect] = field(default_factory=list)
    refused: list[ParsedProduct] = field(default_factory=list)
    matched: list[tuple[ParsedProduct, Match]] = field(default_factory=list)
    # Rows of variable products, which are imported when all of the file has been read.
    pending: list[tuple[ParsedProduct, Match]] = field(default_factory=list)
    unreadable: list[ParsedProduct] = field(default_factory=list)
    # (id in the source, variant) of variants that were created, or found by another key.
    variant_links: list[tuple[int, int]] = field(default_factory=list)
    # The lines of existing products that have such variants.
    lines_of_links: set[int] = field(default_factory=set)
    # Skipped products, each with the reason.
    skipped: list[tuple[ParsedProduct, str]] = field(default_factory=list)
    conflicts: list[tuple[ParsedProduct, str]] = field(default_factory=list)
    # The products as the file states them, by the ids of those that `sort` took in their place.
    replaced: dict[int, ParsedProduct] = field(default_factory=dict)

    def put_aside(self, spool: Spool) -> None:
        """Move new and differing products, and those whose ids in the source are to be stored, into the spool, as the
        file states them, so that they are not counted."""
        linked = self.lines_of_links | {parsed.line for parsed, match in self.matched if match.links}
        changed = [parsed for parsed, _, _ in self.updated] + [each for each, _ in self.skipped if each.line in linked]
        for parsed in sorted([*self.created, *changed], key=lambda parsed: parsed.line):
            spool.add(self.replaced.get(id(parsed), parsed))
        lines = {parsed.line for parsed in changed}
        self.created, self.updated = [], []
        self.skipped = [each for each in self.skipped if each[0].line not in lines]
        self.matched = [each for each in self.matched if each[0].line not in lines]


@dataclass(frozen=True, slots=True)
class Update:
    """A product of the file with the existing one, and the existing variants that its variants are."""

    parsed: ParsedProduct
    existing: ExistingProduct
    variant_rows: list[Variant | None]
    found: str


def sort(parsed: ParsedProduct, match: Match, outcome: Outcome, *, update: bool) -> None:
    """Add the product to the list of the outcome that tells what is done with it."""
    if match.product and match.product.type == Product.Type.VARIABLE:
        taken = parsed.if_variable or parsed
        outcome.replaced[id(taken)] = parsed
        parsed = taken
    if match.conflict:
        outcome.conflicts.append((parsed, match.conflict))
    elif match.product and parsed.reason_to_keep:
        outcome.skipped.append((parsed, parsed.reason_to_keep))
    elif update and match.product and waits(parsed, match):
        outcome.pending.append((parsed, match))
    elif parsed.problems and not match.variant and (update or not match.product):
        outcome.unreadable.append(parsed)
    elif match.product:
        outcome.matched.append((parsed, match))
    elif parsed.refusal_if_new:
        outcome.refused.append(parsed)
    else:
        outcome.created.append(parsed)


def paired_updates(shop: Shop, outcome: Outcome, matcher: Matcher, *, lock: bool) -> list[Update]:
    """The matched products with their existing ones, and which variant is which. Those of which that is not certain
    become conflicts of the outcome."""
    matched = [(parsed, match, match.product) for parsed, match in outcome.matched if match.product]
    products = existing_products(shop, [found.id for _, _, found in matched], lock=lock)
    keys = _variant_keys(shop, matcher, [(parsed, products[found.id]) for parsed, _, found in matched])
    updates = []
    outcome.matched = []
    for parsed, match, found in matched:
        try:
            rows = pair_variants(parsed, products[found.id], keys)
        except Contradiction as contradiction:
            outcome.conflicts.append((parsed, str(contradiction)))
            continue
        outcome.matched.append((parsed, match))
        updates.append(Update(parsed, products[found.id], rows, f"{found}"))
        links = [
            (variant.external_id, row.pk)
            for variant, row in zip(parsed.variants or (), rows, strict=True)
            if row and variant.external_id and variant.external_id not in keys.by_id
        ]
        if links and matcher.source and not matcher.source.is_own:
            outcome.variant_links += links
            outcome.lines_of_links.add(parsed.line)
    return updates


def _variant_keys(shop: Shop, matcher: Matcher, updates: list[tuple[ParsedProduct, ExistingProduct]]) -> VariantKeys:
    """The variants that the keys of these products' variants name, read with two queries."""
    ids = {each.external_id for parsed, _ in updates for each in parsed.variants or () if each.external_id}
    skus: set[str] = set()
    for parsed, existing in updates:
        stated = {each.sku for each in parsed.variants or () if each.sku}
        skus |= stated - {row.sku for row in existing.variants}
    by_id = variants_by_id(shop, matcher.source, ids)
    by_sku = variants_by_sku(shop, skus)
    return VariantKeys(matcher.source, by_id, by_sku, matcher.repeats_variant)


def waits(parsed: ParsedProduct, match: Match) -> bool:
    """Returns True for a row of a variable product that other rows of the file can belong to: one of its variants, or
    its own if it comes without variants."""
    assert match.product
    if parsed.keys.product_id or match.product.type != Product.Type.VARIABLE:
        return False
    if match.variant or states_variants_alone(parsed):
        return True
    is_own_row = parsed.as_variant is not None or parsed.fields.get("type") == Product.Type.VARIABLE
    return is_own_row and not parsed.variants


def states_variants_alone(parsed: ParsedProduct) -> bool:
    """Returns True for rows of variants whose product has no row: single rows can be variants of it, too."""
    return bool(parsed.variants and parsed.refusal_if_new) and parsed.as_variant is None and not parsed.fields
