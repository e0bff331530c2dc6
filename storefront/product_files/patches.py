"""What a file leaves as it is in an existing product: attributes and options that it has no columns for, and a list
price that agrees with its variants."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from copy import copy, deepcopy
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _

from storefront.catalogue import rules
from storefront.catalogue.dated.sale_periods import COLUMNS, lift, settle
from storefront.catalogue.models import Product, Variant
from storefront.catalogue.parsing import InvalidValue
from storefront.catalogue.variant_prices import follow
from storefront.kit import translations
from storefront.product_files.existing import ExistingProduct
from storefront.product_files.parsed_products import ParsedProduct

_WATCHED = {*COLUMNS, "is_active"}


def takes_variants_away(parsed: ParsedProduct, existing: ExistingProduct) -> bool:
    """Returns True if the file states a type without variants for a product that sells some."""
    is_without = parsed.variants is None and parsed.fields.get("type", Product.Type.VARIABLE) != Product.Type.VARIABLE
    return is_without and any(variant.is_active for variant in existing.variants)


def check_type(parsed: ParsedProduct, existing: ExistingProduct) -> None:
    """Raise InvalidValue if the product would lose its variants, or its own price, only because rows of the file were
    left out."""
    if parsed.settles_type:
        return
    if takes_variants_away(parsed, existing):
        raise InvalidValue(
            _("the product %(slug)s has variants, and the file has it as one without; it stays as it is")
            % {"slug": existing.product.slug}
        )
    is_variable = existing.product.type == Product.Type.VARIABLE
    if parsed.fields.get("type") == Product.Type.VARIABLE and not is_variable and not parsed.variants:
        raise InvalidValue(
            _(
                "the product %(slug)s has no variants, and the file has it as one with variants, but none of them; it "
                "stays as it is"
            )
            % {"slug": existing.product.slug}
        )


def ends_reduction(fields: dict[str, Any], row: Any) -> bool:
    """Returns True if a stated price ends the sale of the row, which is its compare price above the price."""
    if "price" not in fields or "compare_price" in fields or row.sale_price is not None:
        return False
    return bool(row.price < row.compare_price <= fields["price"])


def check_options(parsed: ParsedProduct, existing: ExistingProduct, rows: Sequence[Variant | None]) -> None:
    """Raise InvalidValue if variants have options that the file has no columns for: they would match none of its
    variants. `rows` are the existing variants that the parsed ones are. One that was found by its SKU can get other
    options, but not fewer."""
    if parsed.only_options is None:
        return
    renamed = {
        row.pk
        for row, each in zip(rows, parsed.variants or (), strict=True)
        if row and len(each.option_values) >= len(row.option_values)
    }
    active = (each.option_values for each in existing.variants if each.is_active and each.pk not in renamed)
    if more := sorted({name for values in active for name in values} - parsed.only_options):
        raise InvalidValue(
            _("its variants have the option %(value)s, for which the file has no columns") % {"value": more[0]}
        )


def merged_attributes(
    parsed: ParsedProduct,
    existing: ExistingProduct,
    rows: Sequence[Variant | None],
    stated: list[dict[str, Any]],
) -> list[dict[str, Any]]:
    """The stated attributes, with those that the file has no columns for. Those that variants are chosen by stay, and
    stay marked, also if the file lacks these variants. `rows` are the existing variants that the parsed ones are."""
    chosen = {name for variant in existing.variants for name in variant.option_values}
    pairs = zip(rows, parsed.variants or (), strict=True)
    after = {row.pk: each.option_values for row, each in pairs if row and each.states_options}
    kept = {name for row in existing.variants for name in after.get(row.pk, row.option_values)}
    unnamed = {item["name"].casefold(): item for item in stated}
    merged = []
    for item in existing.product.attributes:
        new = unnamed.pop(item["name"].casefold(), None)
        if new is not None:
            marked = {"variation": True} if item.get("variation") and item["name"] in chosen else {}
            merged.append(item | new | marked)
        elif parsed.attributes_are_partial or item["name"] in kept:
            merged.append(item)
    return merged + list(unnamed.values())


def merged_translations(product: Product, stated: Any) -> Any:
    """The product's translations with the stated ones. Raises InvalidValue if they are too much to store."""
    found = translations.merged(product.translations, stated)
    if problems := rules.json_errors({"translations": found}):
        raise InvalidValue(f"translations: {problems['translations'][0]}")
    return found


def with_option_values(
    attributes: list[dict[str, Any]],
    before: dict[int, dict[str, str]],
    stated: Sequence[tuple[Variant | None, dict[str, str]]],
) -> list[dict[str, Any]]:
    """The product's attributes with the stated option values of variants, None for new ones. A value that a variant had
    `before`, by variant, and that no variant has any more, is replaced; others stay."""
    after = before | {row.pk: values for row, values in stated if row}
    used = {pair for values in after.values() for pair in values.items()}
    found = deepcopy(attributes)
    by_name = {item["name"]: item for item in found}
    for row, values in stated:
        old = before[row.pk] if row else {}
        for name, value in values.items() if values != old else ():
            if name not in by_name:
                by_name[name] = {"name": name, "values": [], "variation": True}
                found.append(by_name[name])
            listed = by_name[name].setdefault("values", [])
            replaced = old.get(name)
            if replaced in listed and (name, replaced) not in used:
                listed[listed.index(replaced)] = value
                by_name[name]["values"] = list(dict.fromkeys(listed))
            elif value not in listed:
                listed.append(value)
    return found


def list_prices(
    product: Product,
    existing: Sequence[Variant],
    new: Sequence[Variant],
    assignments: Iterable[tuple[Any, str, Any]],
    now: datetime,
) -> dict[str, Any]:
    """The prices of the product that follow from its variants, once the values of `assignments`, (row, column, value),
    are set in them; empty if neither prices nor the choice of variants change."""
    written: dict[int, dict[str, Any]] = defaultdict(dict)
    for row, name, value in assignments:
        if name in _WATCHED:
            written[id(row)][name] = value
    if not new and not any(written.get(id(row)) for row in existing):
        return {}
    variants = []
    for row in (*existing, *new):
        variants.append(copy(row))
        for name, value in written.get(id(row), {}).items():
            setattr(variants[-1], name, value)
    result = copy(product)
    lift(result)
    follow(result, variants)
    settle(result, now)
    return {name: getattr(result, name) for name in COLUMNS}
