"""Changes standing products to what a file says, and only where it says something else.

Rows keep their ids: variants are found again by their option values, options by name, pictures by address. Variants
that a complete list leaves out are switched off, not deleted, since carts and orders may name them.
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from copy import deepcopy
from datetime import datetime
from functools import partial
from typing import Any

from django.db.models import Model

from storefront.catalogue import events, rules
from storefront.catalogue import records as wire
from storefront.catalogue.actions import write_search_text
from storefront.catalogue.incoming import CategoryPath, OptionRecord, ProductRecord, Unfit, VariantRecord, option_key
from storefront.catalogue.inserting import bundle_row, pictures
from storefront.catalogue.models import (
    BundleItem,
    Category,
    Media,
    Option,
    OptionValue,
    Product,
    ProductCategory,
    Variant,
)
from storefront.catalogue.references import References
from storefront.shops.models import Shop

Changes = dict[str, list[Any]]


def standing(shop: Shop, ids: Iterable[int]) -> dict[int, Product]:
    """These products of the shop, with all that a file can say of them."""
    found = Product.objects.filter(shop=shop, pk__in=ids).select_related(
        "brand", "vendor", "shipping_origin", "tax_class"
    )
    parts = ("variants", "options__values", "media", "category_links", "bundle_items__product", "bundle_items__variant")
    return found.prefetch_related(*parts).in_bulk()


def merge(
    *, shop: Shop, product: Product, record: ProductRecord, references: References, now: datetime, write: bool
) -> Changes:
    """What the record changes in the product, as {member: [before, after]}; written unless `write` is off.

    Raises Unfit where the record cannot be meant for this product.
    """
    merging = _Merge(shop, product, record, references, now)
    merging.compare()
    if write and merging.changes:
        # As new products of an import are told of only where an app is there to hear it.
        with events.told(shop, product.pk, now=now) if events.has_apps(shop) else nullcontext():
            merging.write()
    return merging.changes


class _Merge:
    """The differences between one product and its record, and the writes that settle them."""

    def __init__(
        self, shop: Shop, product: Product, record: ProductRecord, references: References, now: datetime
    ) -> None:
        self.shop, self.product, self.record = shop, product, record
        self.references, self.now = references, now
        self.changes: Changes = {}
        self.columns: set[str] = set()
        # In order: pictures stand before the variants that show them.
        self.work: list[Callable[[], Any]] = []
        self.images: dict[str, Media] = {}

    def compare(self) -> None:
        record, product = self.record, self.product
        has_variants = any(variant.is_active for variant in product.variants.all())
        if record.only_update and record.variants is not None and product.type != Product.Type.VARIABLE:
            raise Unfit(f"the product {product.slug} has no variations")
        if record.only_simple and has_variants:
            raise Unfit(record.only_simple)
        self._fields()
        self._media()
        if record.variants is not None:
            self._variants(record.variants)
        elif has_variants and record.fields.get("type", Product.Type.VARIABLE) != Product.Type.VARIABLE:
            self._switch_off(product.variants.all())
        if record.options is not None:
            self._options(record.options)
        if record.categories is not None:
            self._categories()
        if record.bundle_items is not None:
            self._bundle()

    def write(self) -> None:
        for step in self.work:
            step()
        product = self.product
        product.sort_name = rules.sort_name(product.name)
        if "published_on" not in self.record.fields:
            product.published_on = rules.published_on(product, self.now)
        product.updated_at = self.now
        product.save(update_fields=[*self.columns, "sort_name", "published_on", "updated_at"])
        if self.columns & {"name", "description", "sku"}:
            write_search_text(product)

    def _set(self, row: Any, fields: dict[str, Any], path: str = "") -> list[str]:
        """Set what differs, note it, and say which columns that were."""
        changed = []
        for name, value in fields.items():
            before = getattr(row, name)
            if before != value:
                self.changes[f"{path}{name}"] = [before, value]
                setattr(row, name, value)
                changed.append(name)
        return changed

    def _fields(self) -> None:
        self.columns.update(self._set(self.product, self.record.fields))
        for kind, name in self.record.named.items():
            row = getattr(self.product, kind)
            before = row.name if row else None
            if (before or "").casefold() != (name or "").casefold():
                self.changes[kind] = [before, name]
                setattr(self.product, f"{kind}_id", self.references.named(kind, name))
                self.columns.add(kind)

    def _media(self) -> None:
        rows = list(self.product.media.all())
        self.images = {wire.media_url(self.shop, row.file.name, row.source_url) or "": row for row in rows}
        wanted = pictures(self.record)
        for order, picture in enumerate(wanted):
            place = {"sort_order": order} if self.record.media is not None else {}
            fields = {**place, **picture.fields}
            if row := self.images.get(picture.url):
                if changed := self._set(row, fields, f"media {picture.url} "):
                    self._save(row, changed)
            else:
                place = {"sort_order": len(self.images)} | fields
                row = Media(shop=self.shop, product=self.product, source_url=picture.url, **place)
                self.images[picture.url] = row
                self.changes[f"media {picture.url}"] = [None, "added"]
                self.work.append(row.save)
        if self.record.media is not None:
            self._remove((row for row in rows if row not in [self.images[picture.url] for picture in wanted]), "media")

    def _variants(self, wanted: list[VariantRecord]) -> None:
        rows: dict[Any, Variant] = {}
        for row in self.product.variants.all():
            rows.setdefault(option_key(row.option_values), row)
        default = None
        for variant in wanted:
            row = rows.pop(variant.key) if variant.key in rows else self._new_variant(variant)
            self._change_variant(row, variant)
            default = row if variant.is_default else default
        if "attributes" not in self.record.fields:
            self._grow_axes(wanted)
        if self.record.variants_complete:
            self._switch_off(rows.values())
        if default is not None or self.record.says_default:
            self._choose_default(default)

    def _grow_axes(self, wanted: list[VariantRecord]) -> None:
        """Let the attributes name every value that variants are chosen by, and keep all that they name already."""
        attributes = deepcopy(self.product.attributes)
        named = {item["name"]: item for item in attributes}
        for name, value in (pair for variant in wanted for pair in variant.option_values.items()):
            if name not in named:
                named[name] = {"name": name, "values": [], "variation": True}
                attributes.append(named[name])
            if value not in named[name].setdefault("values", []):
                named[name]["values"].append(value)
        self.columns.update(self._set(self.product, {"attributes": attributes}))

    def _new_variant(self, variant: VariantRecord) -> Variant:
        self.changes[f"variant {variant.fields.get('name')}"] = [None, "added"]
        return Variant(
            shop=self.shop,
            product=self.product,
            option_values=variant.option_values,
            created_at=self.now,
            **rules.counts_stock(variant.fields),
            **variant.fields,
        )

    def _change_variant(self, row: Variant, variant: VariantRecord) -> None:
        changed = self._set(row, variant.fields, f"variant {row.name} ")
        shown = self.images.get(variant.image) if variant.image else None
        if (variant.says_image and (row.image_id is None) != (shown is None)) or (shown and row.image_id != shown.pk):
            if row.pk:
                self.changes[f"variant {row.name} image"] = [None, variant.image]
            changed.append("image")
        if row.pk is None or changed:
            self.work.append(lambda: self._save_variant(row, shown if variant.says_image else row.image, changed))

    def _save_variant(self, row: Variant, image: Media | None, changed: list[str]) -> None:
        row.image, row.updated_at = image, self.now
        row.save(update_fields=[*changed, "updated_at"] if row.pk else None)

    def _switch_off(self, rows: Iterable[Variant]) -> None:
        for row in rows:
            if changed := self._set(row, {"is_active": False}, f"variant {row.name} "):
                self._save(row, changed)

    def _choose_default(self, row: Variant | None) -> None:
        before = self.product.default_variant_id
        if row is None and before is None:
            return
        if row is None or row.pk != before:
            self.changes["default_variant"] = [before, row.name if row else None]
            self.columns.add("default_variant")
            self.work.append(lambda: setattr(self.product, "default_variant", row))

    def _options(self, wanted: list[OptionRecord]) -> None:
        rows = {row.name: row for row in self.product.options.all()}
        kept = []
        for order, option in enumerate(wanted):
            row = rows.get(option.name)
            fields = {"sort_order": order, **option.fields}
            if row is None:
                row = Option(shop=self.shop, product=self.product, name=option.name, **fields)
                self.changes[f"option {option.name}"] = [None, "added"]
                self.work.append(row.save)
            elif changed := self._set(row, fields, f"option {option.name} "):
                self._save(row, changed)
            kept.append(row)
            self._option_values(row, option)
        self._remove((row for row in rows.values() if row not in kept), "option")

    def _option_values(self, option: Option, wanted: OptionRecord) -> None:
        rows = {row.label: row for row in option.values.all()} if option.pk else {}
        kept = []
        for order, (label, given) in enumerate(wanted.values):
            path, fields = f"option {wanted.name} {label}", {"sort_order": order, **given}
            row = rows.get(label)
            if row is None:
                row = OptionValue(shop=self.shop, option=option, label=label, **fields)
                self.changes[path] = [None, "added"]
                self.work.append(row.save)
            elif changed := self._set(row, fields, f"{path} "):
                self._save(row, changed)
            kept.append(row)
        self._remove((row for row in rows.values() if row not in kept), f"option {wanted.name}")

    def _categories(self) -> None:
        links = {link.category_id: link for link in self.product.category_links.all()}
        kept = set()
        for path in self.record.categories or ():
            id = self.references.category(path)
            link = links.get(id) if id is not None else None
            named = "category " + " > ".join(path.names)
            if link is None and (id is None or id not in kept):
                self.changes[named] = [None, "added"]
                self.work.append(partial(self._link, path))
            elif link is not None:
                place = {} if path.sort_order is None else {"sort_order": path.sort_order}
                if changed := self._set(link, place, f"{named} "):
                    self._save(link, changed)
            kept.add(id)
        self._remove((link for id, link in links.items() if id not in kept), "category")

    def _link(self, path: CategoryPath) -> None:
        category = Category(pk=self.references.category(path))
        link = ProductCategory(shop=self.shop, product=self.product, category=category, sort_order=path.sort_order or 0)
        link.created_at = link.updated_at = self.now
        link.save()

    def _bundle(self) -> None:
        rows = list(self.product.bundle_items.all())
        before = [
            (row.product.slug, row.variant.option_values if row.variant else None, row.qty, row.sort_order)
            for row in rows
        ]
        wanted = [
            (part.product, part.variant, part.fields["qty"], part.fields["sort_order"])
            for part in self.record.bundle_items or ()
        ]
        if before != wanted:
            self.changes["bundle_items"] = [len(before), len(wanted)]
            self.work += [row.delete for row in rows]
            self.work.append(self._write_bundle)

    def _write_bundle(self) -> None:
        for part in self.record.bundle_items or ():
            BundleItem.objects.create(shop=self.shop, **bundle_row(self.shop, self.product.pk, part))

    def _save(self, row: Any, columns: Sequence[str]) -> None:
        if any(column.name == "updated_at" for column in row._meta.concrete_fields):
            row.updated_at = self.now
            columns = [*columns, "updated_at"]
        self.work.append(lambda: row.save(update_fields=columns))

    def _remove(self, rows: Iterable[Model], path: str) -> None:
        for row in rows:
            self.changes[f"{path} {row}"] = ["removed", None]
            self.work.append(row.delete)
