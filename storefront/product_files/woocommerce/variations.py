"""Compares the variations of one product, and finds the attributes by which they are chosen."""

from typing import Any

from django.utils.translation import gettext as _

from storefront.product_files.parsed_products import ParsedProduct, ParsedVariant, Problem
from storefront.product_files.rows import RowReader


def without_repeats(variants: list[ParsedVariant]) -> list[ParsedVariant]:
    """The variations without rows that repeat another's options and SKU, as in files that were concatenated."""
    first: dict[Any, ParsedVariant] = {}
    for variant in variants:
        first.setdefault((variant.key, variant.sku) if variant.states_options else variant.line, variant)
    return list(first.values())


def problems_of_repeated_options(variants: list[ParsedVariant]) -> list[Problem]:
    """A problem for each variation that has the same option values as an earlier one."""
    first: dict[Any, int] = {}
    problems = []
    for variant in variants:
        if variant.states_options and first.setdefault(variant.key, variant.line) != variant.line:
            reason = _("has the same options as the variation on line %(value)s") % {"value": first[variant.key]}
            problems.append(Problem(variant.line, "", reason))
    return problems


def refusal_without_options(variants: list[ParsedVariant]) -> str:
    """The reason why a new product cannot have these variations: several have no options. An existing product's can be
    found by ID or SKU."""
    lines = [str(variant.line) for variant in variants if not variant.states_options]
    return f"the variations on lines {' and '.join(lines[:2])} have no attributes to choose by" if lines[1:] else ""


def with_variations(attributes: list[dict[str, Any]], variation_values: dict[str, list[str]]) -> list[dict[str, Any]]:
    """The attributes, with `variation` set for those that variations are chosen by."""
    by_name = {item["name"]: item for item in attributes}
    for name, values in variation_values.items():
        item = by_name.setdefault(name, {"name": name, "values": []})
        item["values"] = list(dict.fromkeys([*item["values"], *values]))
    return [item | {"variation": name in variation_values} for name, item in by_name.items()]


def preselect(variants: list[ParsedVariant], defaults: dict[str, str]) -> None:
    """Make the first variant with these option values, by name and without case, the default."""
    for variant in variants if defaults else []:
        chosen = {name.casefold(): value.casefold() for name, value in variant.option_values.items()}
        if all(defaults.get(name) == value for name, value in chosen.items()):
            variant.is_default = True
            return


def settle_shipping(parsed: ParsedProduct, row: RowReader, variations: list[RowReader]) -> None:
    """Set whether the product is shipped: not if its own row or all of its variations are virtual, since here all
    variants have the same setting. Adds a warning if some variations differ."""
    virtual = [each for each in variations if "virtual" in each["type"].lower()]
    is_shipped = "virtual" not in row["type"].lower() and (not virtual or len(virtual) < len(variations))
    parsed.fields["requires_shipping"] = is_shipped
    header = row.columns.header["type"]
    if virtual and is_shipped:
        reason = _("is virtual, as are not all of the product's variations; imported as one that is shipped")
        parsed.warn(header, reason, virtual[0].line)
    if downloadable := [each for each in variations if "downloadable" in each["type"].lower()]:
        reason = _("is downloadable, which only products without variants can be; imported as one that is not")
        parsed.warn(header, reason, downloadable[0].line)
