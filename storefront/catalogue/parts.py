"""What a product consists of beside its own row: variants, options with their values, media, its categories.

A list that is given replaces the one that stands: an entry with an `id` changes that row, one without makes a new
row, and rows that no entry names are deleted. First everything is checked, then everything is written.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db.models import ProtectedError

from storefront.catalogue import rules, validation
from storefront.catalogue.models import Category, Media, Option, OptionValue, Product, ProductCategory, Variant
from storefront.catalogue.validation import Errors
from storefront.kit.refusals import InvalidFields

Entry = Mapping[str, Any]

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


@dataclass
class Plan:
    """The rows one list is to become: (row, fields to write) in order, and those that go."""

    writes: list[tuple[Any, list[str]]] = field(default_factory=list)
    deletes: list[Any] = field(default_factory=list)

    def write(self) -> list[Any]:
        """Make it so; the rows that stand then."""
        for row in self.deletes:
            row.delete()
        for row, fields in self.writes:
            # Only the given columns of a row that stands, so that stock sold meanwhile stays sold.
            row.save(update_fields=fields if row.pk else None)
        return [row for row, _ in self.writes]


@dataclass(frozen=True, kw_only=True)
class Lists:
    """The lists a product is given; None leaves the one that stands."""

    categories: Iterable[Category | int] | None = None
    options: Sequence[Entry] | None = None
    variants: Sequence[Entry] | None = None
    media: Sequence[Entry] | None = None


@dataclass
class Plans:
    """What is to become of a product's lists, checked and not yet written."""

    categories: list[Category] | None
    media: Plan | None
    options: list[Plan]
    variants: Plan | None

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


def plan_lists(product: Product, lists: Lists, now: datetime, errors: Errors) -> Plans:
    """Check every list that is given; what does not fit is added to `errors`."""
    media = None if lists.media is None else plan_media(product, lists.media, errors)
    pictures = set(_standing(Media, product)) - {row.pk for row in (media.deletes if media else ())}
    return Plans(
        categories=None if lists.categories is None else _own_categories(product, lists.categories, errors),
        media=media,
        options=[] if lists.options is None else plan_options(product, lists.options, errors),
        variants=None if lists.variants is None else plan_variants(product, lists.variants, pictures, now, errors),
    )


def plan_variants(
    product: Product, entries: Sequence[Entry], pictures: set[int], now: datetime, errors: Errors
) -> Plan:
    """Variants as they are to be. `image_id` in an entry is one of the product's pictures."""
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
    for number, (entry, (variant, fields)) in enumerate(zip(entries, plan.writes, strict=True)):
        variant.updated_at = now
        fields.append("updated_at")
        if variant.pk is None:
            variant.track_inventory = rules.counts_stock(entry).get("track_inventory", variant.track_inventory)
        if "image_id" in entry:
            if entry["image_id"] is not None and entry["image_id"] not in pictures:
                errors[f"variants.{number}.image_id"] = ["Not one of this product's pictures."]
            variant.image_id = entry["image_id"]
            fields.append("image")
    return plan


def plan_media(product: Product, entries: Sequence[Entry], errors: Errors) -> Plan:
    """Pictures as they are to be, in this order unless `sort_order` says otherwise."""
    return _plan(
        Media,
        _standing(Media, product),
        entries,
        lambda: Media(shop=product.shop, product=product),
        MEDIA_FIELDS,
        errors,
        "media",
        validation.check_media,
    )


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
    plans = [options]
    for number, (entry, (option, _)) in enumerate(zip(entries, options.writes, strict=True)):
        if "values" in entry or option.pk is None:
            plans.append(_plan_values(option, entry.get("values") or (), errors, f"options.{number}.values"))
    return plans


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


def _plan_values(option: Option, entries: Sequence[Entry], errors: Errors, path: str) -> Plan:
    standing = {} if option.pk is None else {value.pk: value for value in option.values.all()}
    if option.type == Option.Type.TEXT and len(entries) > 1:
        errors[path] = ["A text option has at most one value, which carries its price."]
    return _plan(
        OptionValue,
        standing,
        entries,
        lambda: OptionValue(shop=option.shop, option=option),
        VALUE_FIELDS,
        errors,
        path,
    )


def _standing(model: Any, product: Product) -> dict[int, Any]:
    if product.pk is None:
        return {}
    # Locked, since what is written depends on what stands.
    return {row.pk: row for row in model.objects.select_for_update().filter(shop=product.shop, product=product)}


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
            row = new()
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
