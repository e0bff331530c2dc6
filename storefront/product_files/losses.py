"""Counts the products of which a CSV format cannot hold everything, by what it cannot hold.

A format names the columns that it holds; any other one that is not at its default is a loss, so that a column that is
added later is counted before anybody thinks of it.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.db import models
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from storefront.catalogue.admin_pages.layout import LABELS
from storefront.kit.format import format_count
from storefront.kit.plain_names import plain_name
from storefront.product_files.existing import ExistingProduct
from storefront.product_files.export_values import variants_of
from storefront.product_files.native.members import members

# Columns that no merchant states, and those that mean nothing without another one that is counted.
_DERIVED = {"legacy_source_id", "published_on", "sitemap_lastmod", "regular_compare_price"}
_DERIVED |= {"source_url", "option_values", "sale_from", "sale_until", "dimension_unit", "billing_interval_count"}
_BLANK: tuple[Any, ...] = (None, "", {}, [])

NAMES = {"woocommerce": "WooCommerce", "shopify": "Shopify"}
Losses = Counter[str]


@dataclass(frozen=True)
class Held:
    """What a format holds: columns of a product and of a variant, separated by spaces. `alt` is true if it has
    texts of pictures. `others` finds what else it does not hold of a product."""

    product: str
    variant: str
    alt: bool
    others: Callable[[ExistingProduct], Iterator[str]]


def count_losses(held: Held, products: Iterable[ExistingProduct]) -> Losses:
    """The number of products by what the format cannot hold of them."""
    losses: Losses = Counter()
    for each in products:
        # Each kind once for a product.
        losses.update({*_of_product(held, each)})
    return losses


def sentences(format: str, losses: Losses) -> list[str]:
    """One for each kind of loss, the most frequent first."""
    return [
        ngettext(
            "Not in the file, because %(program)s has no place for it: %(kind)s (%(count)s product).",
            "Not in the file, because %(program)s has no place for it: %(kind)s (%(count)s products).",
            count,
        )
        % {"program": NAMES[format], "kind": kind, "count": format_count(count)}
        for kind, count in sorted(losses.items(), key=lambda each: (-each[1], each[0]))
    ]


def _of_product(held: Held, each: ExistingProduct) -> Iterator[str]:
    product, variants = each.product, variants_of(each)
    yield from _stated(product, held.product)
    for row in variants:
        for label in _stated(row, f"{held.variant} name sort_order"):
            yield _("%(label)s, of variants") % {"label": label}
    if any(row.name != " / ".join(row.option_values.values()) for row in variants):
        yield _("Names of variants")
    if not held.alt and any(row.alt for row in each.media):
        yield str(LABELS["alt"])
    for kind in ("vendor", "shipping_origin"):
        if getattr(product, f"{kind}_id"):
            yield str(LABELS[kind])
    if each.options:
        yield _("Options with prices")
    if each.bundle_items:
        yield _("Items of bundles")
    if any(link.sort_order for link in each.category_links):
        yield _("Positions in categories")
    names = [attribute["name"] for attribute in product.attributes]
    if len({*names}) < len(names):
        yield _("Attributes with the same name")
    yield from held.others(each)


def _stated(row: models.Model, held: str) -> Iterator[str]:
    """The labels of the row's columns that the format does not hold and that are not at their defaults."""
    names, defaults, labels = _columns(type(row), held)
    stored = vars(row)
    values = [stored[name] for name in names]
    # Nearly all rows; comparing column by column takes ten times as long.
    if values == defaults:
        return
    for value, default, label in zip(values, defaults, labels, strict=True):
        if value != default and value not in _BLANK:
            yield label


@cache
def _columns(model: type[models.Model], held: str) -> tuple[list[str], list[Any], list[Any]]:
    """The columns that the format does not hold, their defaults and their labels."""
    names = sorted(members(model).keys() - _DERIVED - {*held.split()})
    defaults = {column.name: column.get_default() for column in model._meta.concrete_fields}
    labels = [LABELS.get(name, capfirst(plain_name(name))) for name in names]
    return names, [defaults[name] for name in names], labels
