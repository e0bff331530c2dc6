"""What a product consists of beside its own row: variants, options with their values, media, its categories, and
the parts of a bundle.

A list that is given replaces the one that stands: an entry with an `id` changes that row, one without makes a new
row, and rows that no entry names are deleted. First everything is checked, then everything is written.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db.models import ProtectedError

from storefront.catalogue import records, rules, validation
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
from storefront.catalogue.validation import Errors
from storefront.kit.refusals import InvalidFields

Entry = Mapping[str, Any]

# By which name a row knows its product.
_OWNER: dict[Any, str] = {BundleItem: "bundle"}

VARIANT_FIELDS = (
    "name",
    "sku",
    "barcode",
    "price",
    "compare_price",
    "cost_price",
    "weight",
    "track_inventory",
    "stock_qty",
    "allow_backorders",
    "is_active",
    "option_values",
    "sort_order",
)
OPTION_FIELDS = ("name", "type", "required", "sort_order")
VALUE_FIELDS = ("label", "price", "sort_order")
MEDIA_FIELDS = ("file", "source_url", "alt", "sort_order")
BUNDLE_FIELDS = ("qty", "sort_order")


@dataclass
class Plan:
    """The rows one list is to become: (row, fields to write) in order, and those that go."""

    writes: list[tuple[Any, list[str]]] = field(default_factory=list)
    deletes: list[Any] = field(default_factory=list)

    def write(self) -> None:
        """Make it so, in as many statements as there are sets of fields that were given."""
        if self.deletes:
            rows = type(self.deletes[0])._default_manager
            rows.filter(pk__in=[row.pk for row in self.deletes]).delete()
        new, alike = [], defaultdict(list)
        for row, fields in self.writes:
            if row.pk is None:
                new.append(row)
            elif "file" in fields:
                # An upload is stored when its row is saved.
                row.save(update_fields=fields)
            else:
                # Only the given columns of a row that stands, so that stock sold meanwhile stays sold.
                alike[tuple(fields)].append(row)
        if new:
            type(new[0])._default_manager.bulk_create(new)
        for given, rows in alike.items():
            type(rows[0])._default_manager.bulk_update(rows, list(dict.fromkeys(given)))


@dataclass(frozen=True, kw_only=True)
class Lists:
    """The lists a product is given; None leaves the one that stands."""

    categories: Iterable[Category | int] | None = None
    options: Sequence[Entry] | None = None
    variants: Sequence[Entry] | None = None
    media: Sequence[Entry] | None = None
    bundle_items: Sequence[Entry] | None = None


@dataclass
class Plans:
    """What is to become of a product's lists, checked and not yet written."""

    categories: list[Category] | None
    media: Plan | None
    options: list[Plan]
    variants: Plan | None
    bundle_items: Plan | None

    def write(self, product: Product, now: datetime) -> None:
        """Make it so. Raises InvalidFields where a variant that goes is part of a bundle."""
        if self.categories is not None:
            _write_links(product, self.categories, now)
        # Pictures before variants, which may show them.
        for plan in (self.media, *self.options):
            if plan is not None:
                plan.write()
        if self.variants is not None:
            _write_variants(self.variants)
        if self.bundle_items is not None:
            self.bundle_items.write()


def plan_lists(product: Product, lists: Lists, now: datetime, errors: Errors) -> Plans:
    """Check every list that is given; what does not fit is added to `errors`."""
    media = None if lists.media is None else plan_media(product, lists.media, errors)
    variants, parts = lists.variants, lists.bundle_items
    pictures: list[Media] = []
    if variants is not None:
        pictures = [row for row, _ in media.writes] if media else list(_standing(Media, product).values())
    return Plans(
        categories=None if lists.categories is None else _own_categories(product, lists.categories, errors),
        media=media,
        options=[] if lists.options is None else plan_options(product, lists.options, errors),
        variants=None if variants is None else plan_variants(product, variants, pictures, now, errors),
        bundle_items=None if parts is None else plan_bundle(product, parts, errors),
    )


def plan_variants(
    product: Product, entries: Sequence[Entry], pictures: Sequence[Media], now: datetime, errors: Errors
) -> Plan:
    """Variants as they are to be. `image_id` in an entry is one of the product's pictures, `image` the address of one,
    which may be as new as the variant."""
    plan = _plan(
        Variant,
        _standing(Variant, product),
        entries,
        lambda: Variant(shop=product.shop, product=product, created_at=now, updated_at=now),
        VARIANT_FIELDS,
        errors,
        "variants",
        validation.check_variant,
    )
    # Of two pictures of one address, the first; new ones have no id to be meant by.
    by: dict[str, dict[Any, Media]] = {
        "image_id": {row.pk: row for row in pictures if row.pk},
        "image": {_address(product, row): row for row in reversed(pictures)},
    }
    for number, (entry, (variant, fields)) in enumerate(zip(entries, plan.writes, strict=True)):
        variant.updated_at = now
        fields.append("updated_at")
        if variant.pk is None:
            variant.track_inventory = rules.counts_stock(entry).get("track_inventory", variant.track_inventory)
        for member in ("image_id", "image"):
            if member in entry:
                variant.image = by[member].get(entry[member])
                fields.append("image")
                if variant.image is None and entry[member] is not None:
                    errors[f"variants.{number}.{member}"] = ["Not one of this product's pictures."]
    return plan


def plan_media(product: Product, entries: Sequence[Entry], errors: Errors) -> Plan:
    """Pictures as they are to be, in this order unless `sort_order` says otherwise. `url` in an entry is what the
    record shows: another address than that of the file that stands takes the file's place."""
    standing = _standing(Media, product)
    plan = _plan(
        Media,
        standing,
        [_with_source(product, entry, standing.get(entry.get("id") or 0)) for entry in entries],
        lambda: Media(shop=product.shop, product=product),
        MEDIA_FIELDS,
        errors,
        "media",
        validation.check_media,
    )
    for number, entry in enumerate(entries):
        if "source_url" not in entry and (problems := errors.pop(f"media.{number}.source_url", None)):
            errors[f"media.{number}.url"] = problems
    return plan


def plan_options(product: Product, entries: Sequence[Entry], errors: Errors) -> list[Plan]:
    """Options and then their values, as they are to be."""
    options = _plan(
        Option,
        _standing(Option, product),
        entries,
        lambda: Option(shop=product.shop, product=product),
        OPTION_FIELDS,
        errors,
        "options",
    )
    standing: dict[int, dict[int, OptionValue]] = defaultdict(dict)
    for value in OptionValue.objects.filter(shop=product.shop, option__product=product.pk):
        standing[value.option_id][value.pk] = value
    values = Plan()
    for number, (entry, (option, _)) in enumerate(zip(entries, options.writes, strict=True)):
        if "values" in entry or option.pk is None:
            given, path = entry.get("values") or (), f"options.{number}.values"
            of_option = _plan_values(option, standing.get(option.pk, {}), given, errors, path)
            values.writes += of_option.writes
            values.deletes += of_option.deletes
    return [options, values]


def plan_bundle(product: Product, entries: Sequence[Entry], errors: Errors) -> Plan:
    """The parts of a bundle as they are to be: `product_id` and perhaps `variant_id`, `qty` of it."""
    plan = _plan(
        BundleItem,
        _standing(BundleItem, product),
        entries,
        lambda: BundleItem(shop=product.shop, bundle=product),
        BUNDLE_FIELDS,
        errors,
        "bundle_items",
    )
    # Locked in a fixed order, so that none of them is deleted meanwhile.
    named = {entry["product_id"] for entry in entries if entry.get("product_id")}
    found = Product.objects.select_for_update(no_key=True).filter(shop=product.shop, pk__in=named, deleted_at=None)
    goods = set(found.order_by("pk").values_list("pk", flat=True))
    named = {entry["variant_id"] for entry in entries if entry.get("variant_id")}
    variants = Variant.objects.filter(shop=product.shop, pk__in=named).in_bulk()
    for number, (entry, (item, fields)) in enumerate(zip(entries, plan.writes, strict=True)):
        within = f"bundle_items.{number}."
        if "product_id" in entry or item.pk is None:
            # What it was a variant of is another product now, unless that is said as well.
            item.product_id, item.variant_id = entry.get("product_id"), entry.get("variant_id")
            fields += ["product", "variant"]
            if item.product_id not in goods:
                errors[f"{within}product_id"] = ["The shop has no such product."]
            elif item.product_id == product.pk:
                errors[f"{within}product_id"] = ["A bundle cannot hold itself."]
        elif "variant_id" in entry:
            item.variant_id = entry["variant_id"]
            fields.append("variant")
        if item.variant_id is not None and "variant" in fields:
            variant = variants.get(item.variant_id)
            if variant is None or variant.product_id != item.product_id:
                errors[f"{within}variant_id"] = ["Not a variant of this product."]
    return plan


def _with_source(product: Product, entry: Entry, standing: Media | None) -> Entry:
    if "url" not in entry:
        return entry
    given = {name: value for name, value in entry.items() if name != "url"}
    if standing is None or not standing.file:
        return given | {"source_url": entry["url"]}
    return given if entry["url"] == _address(product, standing) else given | {"source_url": entry["url"], "file": ""}


def _address(product: Product, picture: Media) -> str | None:
    """Where a picture is, as its record says."""
    return records.media_url(product.shop, picture.file.name, picture.source_url)


def _write_links(product: Product, categories: Iterable[Category], now: datetime) -> None:
    """Put the product in exactly these categories; it keeps its place in those it is in already."""
    wanted = {category.pk for category in categories}
    links = ProductCategory.objects.filter(shop=product.shop, product=product)
    links.exclude(category__in=wanted).delete()
    missing = wanted - set(links.values_list("category_id", flat=True))
    ProductCategory.objects.bulk_create(
        ProductCategory(shop=product.shop, product=product, category_id=id, created_at=now, updated_at=now)
        for id in sorted(missing)
    )


def _own_categories(product: Product, given: Iterable[Category | int], errors: Errors) -> list[Category]:
    """The shop's categories that are meant, by id or as rows."""
    ids = [rules.as_id(str(each.pk if isinstance(each, Category) else each)) for each in given]
    found = list(Category.objects.filter(shop=product.shop, pk__in=[id for id in ids if id is not None]))
    if None in ids or len(found) < len(set(ids)):
        errors["categories"] = ["The shop has no such category."]
    return found


def _write_variants(plan: Plan) -> None:
    """Write the planned variants. Raises InvalidFields where one that goes is part of a bundle."""
    try:
        plan.write()
    except ProtectedError:
        raise InvalidFields(errors={"variants": ["A variant that is part of a bundle cannot be removed."]}) from None


def _plan_values(
    option: Option, standing: dict[int, OptionValue], entries: Sequence[Entry], errors: Errors, path: str
) -> Plan:
    if option.type == Option.Type.TEXT and len(entries) > 1:
        errors[path] = ["A text option has at most one value, which carries its price."]
    return _plan(
        OptionValue,
        standing,
        entries,
        lambda: OptionValue(shop_id=option.shop_id, option=option),
        VALUE_FIELDS,
        errors,
        path,
    )


def _standing(model: Any, product: Product) -> dict[int, Any]:
    if product.pk is None:
        return {}
    # Locked, since what is written depends on what stands; in the order of their ids, as sales lock them.
    rows = model.objects.select_for_update(no_key=True).filter(
        shop=product.shop, **{_OWNER.get(model, "product"): product}
    )
    return {row.pk: row for row in rows.order_by("pk")}


def _plan(
    model: Any,
    standing: dict[int, Any],
    entries: Sequence[Entry],
    new: Callable[[], Any],
    fields: Sequence[str],
    errors: Errors,
    path: str,
    check: Callable[..., None] = validation.check_nothing,
) -> Plan:
    plan, left = Plan(), dict(standing)
    for number, entry in enumerate(entries):
        within = f"{path}.{number}."
        row = new() if entry.get("id") is None else left.pop(entry["id"], None)
        if row is None:
            errors[f"{within}id"] = [f"This product has no such {model._meta.verbose_name}."]
            plan.writes.append((new(), []))
            continue
        values = {"sort_order": number} | {name: entry[name] for name in fields if name in entry}
        if row.pk is None:
            values = {name: "" for name in _needed(model) if name not in values} | values
        given = validation.assign(row, values, errors, within=within)
        check(row, errors, within=within)
        plan.writes.append((row, given))
    plan.deletes = list(left.values())
    return plan


def _needed(model: Any) -> list[str]:
    # A name left out is an empty one, which the column then refuses by name.
    return [name for name in ("name", "label") if name in {column.name for column in model._meta.concrete_fields}]
