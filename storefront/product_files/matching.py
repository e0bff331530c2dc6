"""Decides for each product of a file which existing product it is.

The keys, the most reliable first:

1. The id in the source that the file is from. If the source was not named for this import, the SKU, slug or name has to
   agree too, since another shop's file can have the same ids.
2. The slug, if the file states it.
3. The SKU, if only one product of the shop and only one of the file has it.
4. The name's slug, for a product that states nothing else. The names have to be the same too, ignoring case.
5. The SKUs of its variants, if they are those of one product: `owners.py` decides what that means.

A row that states neither a type nor a slug can also be a variant, by its id in the source or by its
SKU. `variant_matching.py` decides which variant of its product a variant is.

Keys that contradict each other, or that fit several products, are a conflict: such a product is neither created nor
changed, and the report names the products. No two products of a file are the same product of the shop.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any

from django.db import connection
from django.utils.translation import gettext as _

from storefront.catalogue.models import Variant
from storefront.kit.bulk_insert import BulkTable, allocate_ids
from storefront.product_files.dialect import dialect
from storefront.product_files.existing import Found
from storefront.product_files.matches import NEW, Existing, Match, Matched, conflict
from storefront.product_files.models import ExternalId, ExternalVariantId
from storefront.product_files.owners import owner_of, skus_of
from storefront.product_files.parsed_products import Keys, ParsedProduct
from storefront.product_files.product_keys import agrees, described, is_named, looked_up_slug, slug_before
from storefront.product_files.row_store import SeenProducts
from storefront.product_files.sources import Source
from storefront.product_files.variant_matching import (
    ANOTHER_SOURCE,
    FoundVariant,
    variants_by_id,
    variants_by_sku,
)
from storefront.shops.models import Shop

COLUMNS = {"sku": "text", "slug": "text", "id": "bigint"}


class Matcher:
    """Matches the products of one import. `skus` reads all SKUs of the file's products, or of its variants, if they are
    needed. `has_keys` is True if the file's format has keys of its own, so that SKUs of variants never suffice."""

    def __init__(
        self,
        shop: Shop,
        source: Source | None,
        seen: SeenProducts,
        skus: Callable[..., Iterable[str]],
        *,
        has_keys: bool = True,
    ) -> None:
        self.shop, self.source, self.seen, self._skus, self.has_keys = shop, source, seen, skus, has_keys
        # Variants that the import itself creates do not count.
        self._had_variants = Variant.objects.filter(shop=shop).exists()
        self._has_counted_skus = self._has_counted_variants = False

    def match(self, products: Sequence[ParsedProduct]) -> list[Match]:
        """A match for each of the products, given in the order of the file."""
        own_keys = [self._own_keys(parsed) for parsed in products]
        existing = self._existing(products, {key for keys in own_keys for key in keys})
        found = []
        for parsed, keys in zip(products, own_keys, strict=True):
            match = self._match(parsed, keys, existing)
            if not (match.conflict or match.variant or parsed.problems):
                self._note(parsed, keys, match, existing)
            found.append(match)
        return found

    def remember(self, created: Sequence[ParsedProduct], ids: Sequence[int], matched: Sequence[Matched]) -> None:
        """Remember that these products of the file are in the shop: those that were created, with their ids in
        ascending order, none in a dry run, and those that were matched."""
        parsed = [*created, *(parsed for parsed, _unused in matched)]
        self.seen.add_keys((key, each.line) for each in parsed for key in self._own_keys(each))
        self.seen.add_products(zip(ids, (each.line for each in created), strict=False), are_created=True)
        existing = ((match.product.id, each.line) for each, match in matched if match.product)
        self.seen.add_products(existing, are_created=False)

    def by_source_id(self, ids: set[int]) -> dict[int, int]:
        """The ids of existing products by these ids in the source."""
        return {id: found.id for id, found in self._by_id(ids).items()} if self.source and ids else {}

    def _existing(self, products: Sequence[ParsedProduct], own_keys: set[str]) -> Existing:
        existing = Existing(seen=self.seen.lines_of(own_keys))
        ids = {each.keys.external_id for each in products if each.keys.external_id}
        if self.source and ids:
            existing.by_id = self._by_id(ids)
        keys = [parsed.keys for parsed in products]
        slugs = {slug for parsed in products if (slug := looked_up_slug(parsed))}
        slugs |= {slug_before(slug) for slug in slugs if slug.isdigit()} | {slug.casefold() for slug in slugs}
        existing.by_slug = dict(products_by(self.shop, "slug", slugs))
        for sku, found in products_by(self.shop, "sku", {each.sku for each in keys if each.sku}):
            existing.by_sku.setdefault(sku, []).append(found)
        for same in existing.by_sku.values():
            same.sort()
        self._find_variants(products, existing)
        owners = {each.product.id for same in existing.variants_by_sku.values() for each in same}
        named = {found.id for same in existing.by_sku.values() for found in same}
        if self.source and ids and (named or owners):
            linked = ExternalId.objects.filter(source=self.source.pk, product__in=named | owners)
            existing.with_id = (
                named | owners if self.source.is_own else set(linked.values_list("product_id", flat=True))
            )
        own_ids = {each.product_id for each in keys if each.product_id}
        existing.by_product_id = dict(products_by(self.shop, "id", own_ids))
        candidates = named | {found.id for found in (*existing.by_id.values(), *existing.by_slug.values())} | own_ids
        existing.lines = self.seen.products(candidates | owners)
        return existing

    def _find_variants(self, products: Sequence[ParsedProduct], existing: Existing) -> None:
        """Look up the variants that rows can be, and those whose SKUs products without another key have."""
        if not self._had_variants:
            return
        keys = [parsed.keys for parsed in products if parsed.as_variant]
        ids = {each.external_id for each in keys if each.external_id}
        existing.variants_by_id = variants_by_id(self.shop, self.source, ids)
        skus = {each.sku for each in keys if each.sku}
        skus.update(*(skus_of(parsed) for parsed in products if not self._has_key(parsed.keys, existing)))
        existing.variants_by_sku = found = variants_by_sku(self.shop, skus)
        if ids and found and self.source:
            variants = [each.id for same in found.values() for each in same]
            linked = ExternalVariantId.objects.filter(source=self.source.pk, variant__in=variants)
            existing.variants_with_id = set(linked.values_list("variant_id", flat=True))

    def _has_key(self, keys: Keys, existing: Existing) -> bool:
        """Returns True if a key of a product is known."""
        is_found = keys.external_id in existing.by_id or keys.slug in existing.by_slug or keys.sku in existing.by_sku
        return is_found or bool(keys.product_id)

    def _by_id(self, ids: set[int]) -> dict[int, Found]:
        assert self.source
        if self.source.is_own:
            return dict(products_by(self.shop, "id", ids))
        linked = ExternalId.objects.filter(
            source=self.source.pk, external_id__in=ids, product__shop=self.shop, product__deleted_at=None
        )
        columns = ("slug", "sku", "name", "type")
        rows = linked.values_list("external_id", "product", *(f"product__{column}" for column in columns))
        return {external: Found(*found) for external, *found in rows}

    def _match(self, parsed: ParsedProduct, own_keys: list[str], existing: Existing) -> Match:
        keys = parsed.keys
        if parsed.as_variant and (match := self._as_variant(parsed, existing)):
            return match
        for key in own_keys:
            if line := existing.seen.get(key):
                return conflict(_("the product on line %(line)s has the same %(key)s"), line=line, key=described(key))
        match = self._by_keys(parsed, existing)
        if match.product and (line := existing.lines.get(match.product.id, (0, False))[0]):
            return conflict(_("is %(product)s, as is the product on line %(line)s"), product=match.product, line=line)
        if match.product and keys.external_id and self.source and not self.source.is_own:
            return Match(match.product, links=keys.external_id not in existing.by_id)
        return match

    def _by_keys(self, parsed: ParsedProduct, existing: Existing) -> Match:
        keys = parsed.keys
        if keys.product_id:
            found = existing.by_product_id.get(keys.product_id)
            return Match(found) if found else Match(conflict=_("its product was deleted during the import"))
        by_slug = self._by_slug(parsed, existing)
        named = [each for each in existing.by_sku.get(keys.sku, ()) if not existing.lines.get(each.id, (0, False))[1]]
        by_id = existing.by_id.get(keys.external_id or 0)
        if by_id:
            if by_slug and by_slug != by_id:
                return conflict(
                    _("ID %(external_id)s is %(by_id)s, but slug %(slug)s is %(by_slug)s"),
                    external_id=keys.external_id,
                    by_id=by_id,
                    slug=keys.slug,
                    by_slug=by_slug,
                )
            if not self._is_trusted(parsed, by_id):
                return conflict(
                    _(
                        "ID %(external_id)s is %(by_id)s, and neither SKU, slug nor name agrees; if the file is from "
                        "another shop, name it as the source of the import"
                    ),
                    external_id=keys.external_id,
                    by_id=by_id,
                )
        found = by_id or by_slug
        if found:
            if len(named) == 1 and named[0] != found and not self._repeats(keys.sku):
                stated = f"ID {keys.external_id}" if by_id else f"slug {keys.slug}"
                return conflict(
                    _("%(stated)s is %(found)s, but SKU %(sku)s is %(value)s"),
                    stated=stated,
                    found=found,
                    sku=keys.sku,
                    value=named[0],
                )
            return Match(found)
        match = self._by_sku(parsed, named, existing) if named else self._by_name(parsed, existing)
        return self._by_variants(parsed, existing) if match is NEW else match

    def _by_variants(self, parsed: ParsedProduct, existing: Existing) -> Match:
        """The match of a product that would be new, by the SKUs of its variants."""
        if self.has_keys and parsed.refusal_if_new:
            return NEW
        # Products of the file can share SKUs.
        found = {
            sku: others
            for sku in skus_of(parsed)
            if (same := existing.variants_by_sku.get(sku))
            and (others := [each for each in same if not existing.lines.get(each.product.id, (0, False))[1]])
        }
        if self._is_certain(parsed.keys):
            # In a source that is certain, an unknown id is a new product.
            found = {
                sku: same
                for sku, same in found.items()
                if any(each.product.id not in existing.with_id for each in same)
            }
        if not found:
            return NEW
        owner = owner_of(parsed, found)
        if owner and not self.has_keys:
            return Match(owner)
        sku, (variant, *_unused) = next(iter(found.items()))
        return conflict(
            _("SKU %(sku)s is %(variant)s; state that product's own ID, slug or SKU"), sku=sku, variant=variant
        )

    def _is_certain(self, keys: Keys) -> bool:
        return bool(keys.external_id and self.source and (self.source.is_named or self.source.is_stated))

    def _as_variant(self, parsed: ParsedProduct, existing: Existing) -> Match | None:
        """The match of a row that can be a product or a variant, if its ID or SKU is that of a variant."""
        keys = parsed.keys
        product = existing.by_id.get(keys.external_id or 0) or existing.by_slug.get(keys.slug)
        by_id = existing.variants_by_id.get(keys.external_id or 0)
        products = existing.by_sku.get(keys.sku, [])
        variants = existing.variants_by_sku.get(keys.sku, [])
        if by_id:
            return self._by_variant_id(keys, by_id, product, [*products, *variants])
        if product or not variants or any(is_named(each, keys) for each in products):
            return None
        if products or len(variants) > 1:
            same = [*map(str, products), *map(str, variants)]
            return conflict(_("SKU %(sku)s is that of %(others)s"), sku=keys.sku, others=_(" and of ").join(same[:3]))
        if keys.external_id and variants[0].id in existing.variants_with_id:
            return conflict(
                _("SKU %(sku)s is %(found)s, which has another ID%(hint)s"),
                sku=keys.sku,
                found=variants[0],
                hint=ANOTHER_SOURCE,
            )
        return Match(variants[0].product, variant=variants[0])

    def _by_variant_id(
        self, keys: Keys, by_id: FoundVariant, product: Found | None, same_sku: Sequence[Found | FoundVariant]
    ) -> Match:
        assert self.source
        stated = _("ID %(id)s is %(found)s") % {"id": keys.external_id, "found": by_id}
        if product:
            return conflict(_("%(stated)s, but it is also %(product)s"), stated=stated, product=product)
        if keys.sku and keys.sku != by_id.sku:
            if len(same_sku) == 1:
                return conflict(
                    _("%(stated)s, but SKU %(sku)s is %(found)s"), stated=stated, sku=keys.sku, found=same_sku[0]
                )
            if not self.source.is_named:
                return conflict(_("%(stated)s, and the SKU does not agree%(hint)s"), stated=stated, hint=ANOTHER_SOURCE)
        return Match(by_id.product, variant=by_id)

    def _by_slug(self, parsed: ParsedProduct, existing: Existing) -> Found | None:
        """The product with the stated slug. For digits, which imports once changed to `product-` and the digits, it is
        also the one with that slug, if its SKU or name agrees."""
        slug = parsed.keys.slug
        found = existing.by_slug.get(slug)
        if found is None and (folded := existing.by_slug.get(slug.casefold())):
            # Products of one file can differ by case alone.
            found = None if existing.lines.get(folded.id, (0, False))[1] else folded
        if found or not slug.isdigit():
            return found
        before = existing.by_slug.get(slug_before(slug))
        if before is None or before.id in existing.lines:
            return None
        return before if agrees(replace(parsed.keys, slug=""), before) else None

    def repeats_variant(self, sku: str) -> bool:
        """Returns True if several variants of the file have the SKU."""
        if not self._has_counted_variants:
            self.seen.count_texts(f"variant {sku}" for sku in self._skus(of_variants=True))
            self._has_counted_variants = True
        return self.seen.is_repeated(f"variant {sku}")

    def _by_name(self, parsed: ParsedProduct, existing: Existing) -> Match:
        slug = looked_up_slug(parsed)
        if not slug:
            return NEW
        if other := existing.by_slug.get(slug):
            if is_named(other, parsed.keys):
                return Match(other)
            return conflict(_("the slug of its name is that of %(other)s; state a slug or an SKU"), other=other)
        if line := existing.new_slugs.get(slug):
            return conflict(_("the product on line %(line)s has the same slug"), line=line)
        return NEW

    def _is_trusted(self, parsed: ParsedProduct, found: Found) -> bool:
        """Returns True if the id identifies the product: its source was named, another key agrees, or the file states
        no other key. The source stated in a file is not enough, since a copy of a shop has the domain of the
        original."""
        assert self.source
        keys = parsed.keys
        return self.source.is_named or not (keys.slug or keys.sku or keys.name) or agrees(keys, found)

    def _by_sku(self, parsed: ParsedProduct, named: list[Found], existing: Existing) -> Match:
        keys = parsed.keys
        if self._is_certain(keys):
            # In a source that is certain, an unknown id is a new product, even if it shares the SKU of others.
            named = [each for each in named if each.id not in existing.with_id]
        if not named:
            return NEW
        if len(named) > 1:
            return Match(conflict=f"SKU {keys.sku} is that of {' and of '.join(map(str, named[:3]))}")
        if self._repeats(keys.sku):
            return conflict(
                _("several products of the file have the SKU %(sku)s, which %(value)s has"),
                sku=keys.sku,
                value=named[0],
            )
        if keys.external_id and named[0].id in existing.with_id:
            return conflict(
                _(
                    "SKU %(sku)s is %(value)s, which has another ID; if the file is from another shop, name it as the "
                    "source of the import"
                ),
                sku=keys.sku,
                value=named[0],
            )
        return Match(named[0])

    def _repeats(self, sku: str) -> bool:
        """Returns True if several products of the file have the SKU."""
        if not self._has_counted_skus:
            self.seen.count_texts(f"product {sku}" for sku in self._skus(of_variants=False))
            self._has_counted_skus = True
        return self.seen.is_repeated(f"product {sku}")

    def _own_keys(self, parsed: ParsedProduct) -> list[str]:
        """The keys that no other product of the file can have."""
        keys = parsed.keys
        if not keys.name:
            return []
        found = [f"ID {keys.external_id}"] if keys.external_id else []
        found += [f"slug {keys.slug}"] if keys.slug else []
        if not found:
            found = [f"SKU and name {keys.sku}\n{keys.name}"] if keys.sku else [f"name {keys.name}"]
        return found

    def _note(self, parsed: ParsedProduct, own_keys: list[str], match: Match, existing: Existing) -> None:
        """Add this product to the keys that later products of the same batch are compared with."""
        for key in own_keys:
            existing.seen.setdefault(key, parsed.line)
        if match.product:
            existing.lines.setdefault(match.product.id, (parsed.line, False))
        else:
            existing.new_slugs.setdefault(parsed.slug, parsed.line)


def link(source: Source, ids: Sequence[tuple[int, int]]) -> None:
    """Store (id in the source, product) pairs, in place of those of deleted products."""
    ExternalId.objects.filter(source=source.pk, external_id__in=[external for external, _unused in ids]).delete()
    BulkTable(ExternalId, {"source_id": source.pk}).insert(
        {"id": id, "external_id": external, "product_id": product}
        for id, (external, product) in zip(allocate_ids(ExternalId, len(ids)), ids, strict=True)
    )


def products_by(shop: Shop, column: str, values: Collection[Any]) -> list[tuple[Any, Found]]:
    """(value, product) of the shop's existing products that have one of these values in the column, unordered."""
    if not values:
        return []
    statement, params = dialect.products_by(column, COLUMNS[column], shop.pk, list(values))
    with connection.cursor() as cursor:
        cursor.execute(statement, params)
        return [(value, Found(*columns)) for value, *columns in cursor.fetchall()]
