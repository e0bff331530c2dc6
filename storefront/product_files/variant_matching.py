"""Decides for each variant of a file which existing variant of its product it is: by the id in the source, then by a
SKU that only one variant of the product and of the file has, then by the option values.

What never happens: two variants of a product with the same options, a variant that is renamed because another shop's
file happens to have its id, or one that is changed although its keys name two. Such a product is a conflict, and
stays as it is as a whole.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from django.db import connection
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from storefront.catalogue.models import Product, Variant
from storefront.kit.bulk_insert import BulkTable, allocate_ids
from storefront.product_files.dialect import dialect
from storefront.product_files.existing import ExistingProduct, Found
from storefront.product_files.models import ExternalVariantId
from storefront.product_files.parsed_products import ParsedProduct, ParsedVariant, option_key
from storefront.product_files.sources import Source
from storefront.shops.models import Shop

ANOTHER_SOURCE = _lazy("; if the file is from another shop, name it as the source of the import")


class FoundVariant(NamedTuple):
    """An existing variant, with its product."""

    id: int
    name: str
    sku: str
    product: Found

    def __str__(self) -> str:
        return _("the variant %(variant)s of %(product)s") % {"variant": _described(self), "product": self.product}


class Contradiction(Exception):
    """The reason why a product of the file cannot be applied to its existing product."""


@dataclass(frozen=True, slots=True)
class VariantKeys:
    """The variants of the shop that the keys of a batch name. `repeats` returns True for a SKU that several rows of the
    file have."""

    source: Source | None = None
    by_id: dict[int, FoundVariant] = field(default_factory=dict)
    by_sku: dict[str, list[FoundVariant]] = field(default_factory=dict)
    repeats: Callable[[str], bool] = lambda sku: False


def variants_by_id(shop: Shop, source: Source | None, ids: Collection[int]) -> dict[int, FoundVariant]:
    """The shop's variants by these ids in the source. A shop's own export has no ids of variants."""
    if source is None or source.is_own or not ids:
        return {}
    return dict(_fetch(dialect.variants_by_id(shop.pk, source.pk, list(ids))))


def variants_by_sku(shop: Shop, skus: Collection[str]) -> dict[str, list[FoundVariant]]:
    """The shop's variants that have one of these SKUs, by SKU, in the order of their ids."""
    by_sku: dict[str, list[FoundVariant]] = {}
    for sku, found in _fetch(dialect.variants_by_sku(shop.pk, list(skus))) if skus else ():
        by_sku.setdefault(sku, []).append(found)
    for same in by_sku.values():
        same.sort()
    return by_sku


def _fetch(statement: tuple[str, list[Any]]) -> list[tuple[Any, FoundVariant]]:
    with connection.cursor() as cursor:
        cursor.execute(*statement)
        rows = [
            (key, FoundVariant(id, name, sku, Found(*product))) for key, id, name, sku, *product in cursor.fetchall()
        ]
    # A product that is no longer variable keeps its variants, but does not sell them.
    return [(key, found) for key, found in rows if found.product.type == Product.Type.VARIABLE]


def pair_variants(parsed: ParsedProduct, existing: ExistingProduct, keys: VariantKeys) -> list[Variant | None]:
    """For each variant of the parsed product the existing one that it is, or None for a new one. Raises
    Contradiction."""
    if not parsed.variants:
        return []
    _take_shared_values(parsed.variants, existing)
    pairing = _Pairing(parsed, existing, keys)
    pairing.by_id()
    pairing.by_sku()
    pairing.by_options()
    pairing.refuse_same_options()
    return pairing.rows


def _take_shared_values(wanted: Sequence[ParsedVariant], existing: ExistingProduct) -> None:
    """Let values that do not differ in the file be option values, where the product's variants have these options."""
    if any(each.shared_values for each in wanted):
        names = {name for row in existing.variants for name in row.option_values}
        for each in wanted:
            shared = {name: value for name, value in each.shared_values.items() if name in names}
            each.option_values = each.option_values | shared


class _Pairing:
    """The variants of one product of the file, and the rows that they were found to be so far."""

    def __init__(self, parsed: ParsedProduct, existing: ExistingProduct, keys: VariantKeys) -> None:
        self.existing, self.keys = existing, keys
        self.wanted: Sequence[ParsedVariant] = parsed.variants or []
        self.rows: list[Variant | None] = [None] * len(self.wanted)
        product = existing.product
        self.product = Found(product.pk, product.slug, product.sku, product.name, product.type)
        self._by_pk = {row.pk: row for row in existing.variants}
        self._taken: dict[int, ParsedVariant] = {}
        self._stated_skus = Counter(each.sku for each in self.wanted if each.sku)
        self._by_sku: dict[str, list[Variant]] = defaultdict(list)
        for row in existing.variants:
            if row.sku:
                self._by_sku[row.sku].append(row)

    def by_id(self) -> None:
        for place, wanted in enumerate(self.wanted):
            found = self.keys.by_id.get(wanted.external_id or 0)
            if found is None:
                continue
            stated = {"id": wanted.external_id, "found": found, "hint": self._hint()}
            row = self._by_pk.get(found.id)
            if row is None:
                text = _("ID %(id)s is %(found)s, but its product is %(product)s%(hint)s")
                raise Contradiction(text % {**stated, "product": self.product})
            named = self._only_with_sku(wanted)
            if named is not None and named is not row:
                text = _("ID %(id)s is %(found)s, but SKU %(sku)s is that of the variant %(variant)s")
                raise Contradiction(text % {**stated, "sku": wanted.sku, "variant": _described(named)})
            if not self._is_trusted(wanted, row):
                text = _("ID %(id)s is %(found)s, and neither SKU nor options agree%(hint)s")
                raise Contradiction(text % stated)
            self._take(place, row)

    def by_sku(self) -> None:
        for place, wanted in enumerate(self.wanted):
            named = None if self.rows[place] else self._only_with_sku(wanted)
            if named is not None and named.pk not in self._taken:
                self._take(place, named)

    def by_options(self) -> None:
        left: dict[Hashable, list[Variant]] = defaultdict(list)
        for row in self.existing.variants:
            if row.pk not in self._taken:
                left[option_key(row.option_values)].append(row)
        for place, wanted in enumerate(self.wanted):
            if self.rows[place]:
                continue
            same = left.get(wanted.key) or left.get(wanted.key_without_any)
            found = same.pop(0) if same else None
            if found is None and not wanted.states_options and self.existing.variants:
                raise Contradiction(self._unknown(wanted))
            self._refuse_sku_of_another_product(wanted, found)
            if found is not None:
                self._take(place, found)

    def refuse_same_options(self) -> None:
        """Raises Contradiction if a variant would get the options of another one of the product."""
        changed: dict[Hashable, str] = {}
        for row, wanted in zip(self.rows, self.wanted, strict=True):
            if wanted.states_options and (row is None or option_key(row.option_values) != wanted.key):
                changed[wanted.key] = f"line {wanted.line}"
        for existing in self.existing.variants:
            taken = self._taken.get(existing.pk)
            own = option_key(existing.option_values)
            key = taken.key if taken and taken.states_options else own
            if key == own and key in changed:
                raise Contradiction(
                    _("the variant on %(place)s would have the same options as the variant %(existing)s")
                    % {"place": changed[key], "existing": _described(existing)}
                )

    def _take(self, place: int, row: Variant) -> None:
        wanted = self.wanted[place]
        if other := self._taken.get(row.pk):
            raise Contradiction(
                _("lines %(first)s and %(second)s are the same variant, %(variant)s")
                % {"first": other.line, "second": wanted.line, "variant": _described(row)}
            )
        self._taken[row.pk], self.rows[place] = wanted, row

    def _only_with_sku(self, wanted: ParsedVariant) -> Variant | None:
        """The one variant of the product with this SKU, if no other variant of the file states it."""
        rows = self._by_sku.get(wanted.sku, ())
        return rows[0] if len(rows) == 1 and self._stated_skus[wanted.sku] == 1 else None

    def _is_trusted(self, wanted: ParsedVariant, row: Variant) -> bool:
        """Returns True if the id identifies the variant: its source was named, the SKU or the options agree, or the
        file states neither. Another shop's file can have the same ids."""
        if self.keys.source and self.keys.source.is_named:
            return True
        if wanted.sku and wanted.sku == row.sku:
            return True
        if wanted.states_options:
            return wanted.key == option_key(row.option_values)
        return not wanted.sku

    def _refuse_sku_of_another_product(self, wanted: ParsedVariant, row: Variant | None) -> None:
        if not wanted.sku or (row is not None and row.sku == wanted.sku) or wanted.sku in self._by_sku:
            return
        found = self.keys.by_sku.get(wanted.sku, ())
        if len(found) == 1 and found[0].product.id != self.product.id and not self.keys.repeats(wanted.sku):
            raise Contradiction(
                _("SKU %(sku)s is %(value)s, but the product of line %(line)s is %(product)s")
                % {"sku": wanted.sku, "value": found[0], "line": wanted.line, "product": self.product}
            )

    def _unknown(self, wanted: ParsedVariant) -> str:
        same = [each.line for each in self.wanted if wanted.sku and each.sku == wanted.sku]
        if len(same) > 1:
            text = _("lines %(first)s and %(second)s have the same SKU %(sku)s")
            return text % {"first": same[0], "second": same[1], "sku": wanted.sku}
        if len(rows := self._by_sku.get(wanted.sku, ())) > 1:
            variants = _(" and ").join(map(_described, rows[:3]))
            return _("SKU %(sku)s is that of the variants %(variants)s") % {"sku": wanted.sku, "variants": variants}
        stated = [f"ID {wanted.external_id}"] if wanted.external_id else []
        stated += [f"SKU {wanted.sku}"] if wanted.sku else []
        text = (
            _("%(product)s has no variant with the %(keys)s (line %(line)s); a new one needs its options")
            if stated
            else _("%(product)s has no variant without options (line %(line)s); a new one needs its options")
        )
        return text % {"product": self.product, "keys": _(" or ").join(stated), "line": wanted.line}

    def _hint(self) -> str:
        return "" if self.keys.source and self.keys.source.is_named else str(ANOTHER_SOURCE)


def _described(variant: Variant | FoundVariant) -> str:
    return f"“{variant.name}”" + (f" (SKU {variant.sku})" if variant.sku else "")


def link_variants(shop: Shop, source: Source, links: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Store (id in the source, variant) pairs; returns those that were stored. An id that another variant has stays
    with it, unless that one's product is deleted."""
    if not links:
        return []
    known = variants_by_id(shop, source, {external for external, _unused in links})
    # The first of several rows with an id counts.
    free = {external: variant for external, variant in reversed(links) if external not in known}
    with connection.cursor() as cursor:
        cursor.execute(*dialect.delete_variant_ids(source.pk, list(free)))
    BulkTable(ExternalVariantId, {"source_id": source.pk}).insert(
        {"id": id, "external_id": external, "variant_id": variant}
        for id, (external, variant) in zip(allocate_ids(ExternalVariantId, len(free)), free.items(), strict=True)
    )
    return list(free.items())
