"""Updates existing products from a file, and writes only what differs.

Rows keep their ids: variants are matched by `variant_matching.py`, options by name, pictures by URL. Variants that a
complete list lacks are deactivated, not deleted, since carts and orders may refer to them.
"""

from collections import defaultdict
from contextlib import nullcontext
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from storefront.catalogue import events, records, rules, translated_slugs
from storefront.catalogue.dated.plans import Plan, plan_of
from storefront.catalogue.dated.sale_periods import columns_to_write
from storefront.catalogue.models import (
    BundleItem,
    Media,
    Product,
    Variant,
)
from storefront.catalogue.parsing import InvalidValue
from storefront.kit.money import ZERO
from storefront.product_files import patches
from storefront.product_files.baselines import Baselines
from storefront.product_files.cleared import Headers, header_of, warn_of_cleared
from storefront.product_files.creating import bundle_item_row
from storefront.product_files.existing import ExistingProduct
from storefront.product_files.impact import Effect, effect_of
from storefront.product_files.list_updates import Changes, ListUpdates
from storefront.product_files.new_rows import all_pictures
from storefront.product_files.parsed_products import (
    ParsedMedia,
    ParsedProduct,
    ParsedVariant,
    Problem,
)
from storefront.product_files.product_writes import ProductWrites
from storefront.product_files.references import References
from storefront.product_files.sale_periods import STATED, settled
from storefront.product_files.shopify import metafields
from storefront.product_files.stated_prices import SALE_ENDS
from storefront.product_files.stock_levels import settle_level
from storefront.shops.models import Shop

# Columns that are part of search texts, and the brand.
SEARCHED = {"name", "description", "sku", "tags", "attributes", "brand"}


def update_product(
    *,
    shop: Shop,
    existing: ExistingProduct,
    parsed: ParsedProduct,
    variant_rows: list[Variant | None],
    references: References,
    baselines: Baselines,
    headers: Headers,
    new_pictures: list[tuple[int, str]],
    variant_links: list[tuple[int, int]],
    now: datetime,
    prices_at: datetime,
    write: bool,
    writes: ProductWrites,
    emits: bool = False,
    effects: list[Effect] | None = None,
) -> Changes:
    """Apply the parsed product to the existing one; returns the changes as {member: [before, after]}. Sale periods that
    run at `prices_at` apply. `headers` are those of the file, by column.

    `variant_rows` are the existing variants that the parsed ones are, None for new ones. Without `write`, only
    compares. The product's own row is added to `writes`, which the caller flushes; with `emits`, it is written at once
    and events are recorded. Ids and addresses of new pictures are added to `new_pictures`, new variants with ids in the
    source to `variant_links`, what the changes do to the shop to `effects`. Raises InvalidValue if the parsed product
    cannot update this product.
    """
    updating = _ProductUpdate(shop, existing, parsed, variant_rows, references, headers, now, prices_at)
    updating.compare()
    if updating.changes:
        differing = baselines.differing(parsed, existing, variant_rows)
        updating = _ProductUpdate(shop, existing, differing, variant_rows, references, headers, now, prices_at)
        updating.compare()
        # Warnings of this comparison alone; a product that waited in the spool has them already.
        parsed.warnings += [each for each in updating.warnings if each not in parsed.warnings]
        warn_of_cleared(differing, variant_rows, updating.assignments, updating.plans, headers)
    if effects is not None and updating.changes:
        effects.append(effect_of(existing, updating.assignments, updating.plans.media, parsed.line))
    if write and updating.changes:
        with events.emitting_changes(shop, existing.product.pk, now=now) if emits else nullcontext():
            updating.write(writes)
            if emits:
                writes.flush()
        new_pictures += [(row.pk, row.source_url) for row in updating.new_media]
        variant_links += updating.new_variant_links()
    return updating.changes


class _ProductUpdate(ListUpdates):
    """The differences between one product and its parsed product, and the plans that write them."""

    def __init__(
        self,
        shop: Shop,
        existing: ExistingProduct,
        parsed: ParsedProduct,
        variant_rows: list[Variant | None],
        references: References,
        headers: Headers,
        now: datetime,
        prices_at: datetime,
    ) -> None:
        super().__init__(existing, parsed, references, now)
        self.shop, self.variant_rows, self.headers, self.prices_at = shop, variant_rows, headers, prices_at
        self.columns: set[str] = set()
        self.warnings: list[Problem] = []
        # The product's attributes as they become.
        self.attributes = existing.product.attributes
        # The product's pictures by URL, including new ones. A fetched picture has two URLs: the address that it was
        # imported with, which the same file names again, and its own, which an export of the shop names.
        self.images: dict[str, Media] = {}
        self.urls_of: dict[int, set[str]] = {}
        self.new_media: list[Media] = []

    def compare(self) -> None:
        parsed, product = self.parsed, self.product
        patches.check_type(parsed, self.existing)
        if parsed.refusal_if_new and parsed.variants and product.type != Product.Type.VARIABLE:
            raise InvalidValue(_("the product %(slug)s has no variations") % {"slug": product.slug})
        patches.check_options(parsed, self.existing, self.variant_rows)
        self._fields()
        self._media()
        if parsed.variants is not None:
            self._variants(parsed.variants)
        elif patches.takes_variants_away(parsed, self.existing):
            if parsed.is_partial:
                raise InvalidValue(_("its variants may be among the rows of the file that cannot be read"))
            self.plans.variants = Plan(self._switched_off(self.existing.variants))
        self._follow_variants()
        if parsed.options is not None:
            self.update_options(parsed.options)
        if parsed.categories is not None:
            self.update_categories(parsed.categories)
        if parsed.bundle_items is not None:
            self.update_bundle_items()

    def write(self, writes: ProductWrites) -> None:
        for row, name, value in self.assignments:
            setattr(row, name, value)
        if self.plans.bundle_items is not None:
            # Looked up here, since in a dry run the items may not exist yet.
            items = [bundle_item_row(self.shop, self.product.pk, item) for item in self.parsed.bundle_items or ()]
            self.plans.bundle_items.writes = [(BundleItem(shop=self.shop, **item), []) for item in items]
        self.plans.write()
        product = self.product
        product.sort_name = rules.sort_name(product.name)
        if "published_on" not in self.parsed.fields:
            product.published_on = rules.published_on(product, self.now)
        product.updated_at = self.now
        columns = [*columns_to_write(self.columns), "sort_name", "published_on", "updated_at"]
        is_searched = bool(self.columns & SEARCHED) or self.plans.variants is not None
        writes.add(product, columns, is_searched=is_searched)

    def _fields(self) -> None:
        fields = self._settled(self._without_prices_of_variants(), self.product, self.parsed.line)
        if "attributes" in fields and self.parsed.merges_attributes:
            merged = patches.merged_attributes(self.parsed, self.existing, self.variant_rows, fields["attributes"])
            fields = fields | {"attributes": merged}
        if "translations" in fields and self.parsed.merges_translations:
            fields = fields | {"translations": patches.merged_translations(self.product, fields["translations"])}
        self.attributes = fields.get("attributes", self.attributes)
        changed = self.set(self.product, fields)
        if "translations" in changed:
            self._check_slugs(fields["translations"])
        self.columns.update(changed)
        for kind, name in self.parsed.related_names.items():
            row = getattr(self.product, kind)
            before = row.name if row else None
            if (before or "").casefold() != (name or "").casefold():
                self.changes[kind] = [before, name]
                self.assignments.append((self.product, f"{kind}_id", self.references.id_of(kind, name)))
                self.columns.add(kind)

        if self.parsed.metafields:
            self._set_attributes(metafields.merged(self.attributes, self.parsed.metafields))

    def _check_slugs(self, translations: Any) -> None:
        row = Product(pk=self.product.pk, shop=self.shop, translations=translations)
        for language, problem in translated_slugs.problems(row).items():
            raise InvalidValue(f"translations: {language}: {problem}")

    def _set_attributes(self, attributes: list[dict[str, Any]]) -> None:
        problems = rules.json_errors({"attributes": attributes})
        if problems and attributes != self.product.attributes:
            raise InvalidValue(f"attributes: {problems['attributes'][0]}")
        self.attributes = attributes
        self.columns.update(self.set(self.product, {"attributes": attributes}))

    def _without_prices_of_variants(self) -> dict[str, Any]:
        """The fields without prices of a row that is one product, if the shop's has variants, which have their own."""
        fields, product = self.parsed.fields, self.product
        prices = fields.get(STATED)
        if prices is None or fields.get("type", product.type) != Product.Type.VARIABLE or not self.existing.variants:
            return fields
        if prices.regular is not None or prices.sale is not None:
            self.parsed.warn_once_if_updated(
                "", _("the price of a product with variants, which have their own; ignored")
            )
        return {name: value for name, value in fields.items() if name != STATED}

    def _settled(self, fields: dict[str, Any], row: Any, line: int) -> dict[str, Any]:
        """The fields with the prices and the stock that hold for this row. Adds a warning for a sale that is left out,
        and for a level that the row cannot have."""

        def warn(reason: str, column: str = "") -> None:
            if reason == SALE_ENDS:
                self.parsed.warn_once_if_updated(self.headers.get("sale price", ""), reason, line)
            else:
                self._warn(reason, line, column)

        fields = settle_level(fields, row, lambda reason: warn(reason, header_of("stock_qty", self.headers)))
        fields = settled(fields, self.prices_at, row, warn)
        if row is not None and patches.ends_reduction(fields, row):
            warn(_("the price is not below the compare price any more; the sale ends"))
            fields = fields | {"compare_price": ZERO}
        return fields

    def _warn(self, reason: str, line: int, column: str = "") -> None:
        self.warnings.append(Problem(line, column, reason, "warning"))

    def _follow_variants(self) -> None:
        """Keep the price that lists sort by that of the cheapest variant, if a price or the choice of variants changes,
        unless the file states it."""
        plan, product = self.plans.variants, self.product
        type = next((value for row, name, value in self.assignments if row is product and name == "type"), product.type)
        if plan is not None and type == Product.Type.VARIABLE and "price" not in self.parsed.fields:
            new = [row for row, _unused in plan.writes if row.pk is None]
            prices = patches.list_prices(product, self.existing.variants, new, self.assignments, self.prices_at)
            self.columns.update(self.set(product, prices))

    def _media(self) -> None:
        # Equal content is stored once, so several pictures can have the same URL.
        addresses: dict[str, list[str]] = defaultdict(list)
        existing = []
        for row in self.existing.media:
            url = records.media_url(self.shop, row.file.name, row.source_url) or ""
            address = row.source_url or url
            existing.append((address, row))
            addresses[url].append(address)
            self.urls_of[row.pk] = {url, address}
            for name in (url, address):
                self.images.setdefault(name, row)
        is_complete = self.parsed.media is not None and not self.parsed.is_partial

        def put(row: Media | None, wanted: tuple[int, ParsedMedia]) -> tuple[Media, list[str]]:
            order, picture = wanted
            path, fields = f"media {picture.url}", {"sort_order": order} if is_complete else {}
            fields |= picture.fields
            if row is not None:
                return row, self.set(row, fields, f"{path} ")
            self.changes[path] = [None, "added"]
            fields = {"sort_order": len(existing) + len(self.new_media)} | fields
            row = Media(shop=self.shop, product=self.product, source_url=picture.url, **fields)
            self.images.setdefault(picture.url, row)
            self.new_media.append(row)
            return row, []

        wanted = [
            (addresses[picture.url].pop(0) if addresses.get(picture.url) else picture.url, (order, picture))
            for order, picture in enumerate(all_pictures(self.parsed))
        ]
        self.plans.media = plan = plan_of(existing, wanted, put)
        if is_complete:
            self.record_removed(plan, "media")
        else:
            plan.deletes = []

    def _variants(self, wanted: list[ParsedVariant]) -> None:
        before = {row.pk: row.option_values for row in self.existing.variants}
        pairs = list(zip(self.variant_rows, wanted, strict=True))
        self.plans.variants = plan = Plan([self._put_variant(row, variant) for row, variant in pairs])
        if "attributes" not in self.parsed.fields:
            stated = [(row, each.option_values) for row, each in pairs if each.states_options]
            self._set_attributes(patches.with_option_values(self.attributes, before, stated))
        rows = [row for row, _unused in plan.writes]
        if self.parsed.variants_complete and not self.parsed.is_partial:
            named = {row.pk for row in self.variant_rows if row}
            plan.writes += self._switched_off([row for row in self.existing.variants if row.pk not in named])
        default = next((row for row, each in zip(rows[::-1], wanted[::-1], strict=True) if each.is_default), None)
        if default is not None or self.parsed.states_default:
            self._choose_default(default)

    def _put_variant(self, row: Variant | None, wanted: ParsedVariant) -> tuple[Variant, list[str]]:
        image = self.images.get(wanted.image) if wanted.image else None
        if row is None:
            return self._new_variant(wanted, image), []
        fields = self._settled(wanted.fields, row, wanted.line)
        if wanted.states_options:
            fields = {"option_values": wanted.option_values, **fields}
        changed = self.set(row, fields, f"variant {row.name} ")
        if wanted.states_image and not self._has_picture(row, wanted.image):
            self.changes[f"variant {row.name} image"] = [None, wanted.image]
            self.assignments.append((row, "image", image))
            changed.append("image")
        return row, self.with_updated_at(row, columns_to_write(changed))

    def _has_picture(self, variant: Variant, url: str | None) -> bool:
        if variant.image_id is None or not url:
            return variant.image_id is None and not url
        return url in self.urls_of.get(variant.image_id, ())

    def _new_variant(self, wanted: ParsedVariant, image: Media | None) -> Variant:
        fields = self._settled(wanted.new_fields, None, wanted.line)
        self.changes[f"variant {fields.get('name')}"] = [None, "added"]
        return Variant(
            shop=self.shop,
            product=self.product,
            option_values=wanted.option_values,
            image=image if wanted.states_image else None,
            created_at=self.now,
            updated_at=self.now,
            **rules.stock_tracking_default(wanted.new_fields),
            **fields,
        )

    def new_variant_links(self) -> list[tuple[int, int]]:
        """(id in the source, variant) of each new variant that has such an id, once they are written."""
        writes = self.plans.variants.writes if self.plans.variants else []
        return [
            (each.external_id, row.pk)
            for each, existing, (row, _unused) in zip(
                self.parsed.variants or (), self.variant_rows, writes, strict=False
            )
            if existing is None and each.external_id
        ]

    def _switched_off(self, rows: list[Variant]) -> list[tuple[Variant, list[str]]]:
        """The variants, as they stop selling because the file lacks them; the report names their number."""
        if count := sum(row.is_active for row in rows):
            text = ngettext(
                "%(count)s variant that the file lacks is switched off",
                "%(count)s variants that the file lacks are switched off",
                count,
            )
            self._warn(text % {"count": f"{count:,}"}, self.parsed.line)
        return [
            (row, self.with_updated_at(row, self.set(row, {"is_active": False}, f"variant {row.name} ")))
            for row in rows
        ]

    def _choose_default(self, row: Variant | None) -> None:
        before = self.product.default_variant_id
        if row is None and before is None:
            return
        if row is None or row.pk != before:
            self.changes["default_variant"] = [before, row.name if row else None]
            self.columns.add("default_variant")
            self.assignments.append((self.product, "default_variant", row))
