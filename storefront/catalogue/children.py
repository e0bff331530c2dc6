"""A product's children, the rows that belong to it: variants, options with their values, media, its places in
categories, and the items of a bundle.

Every list of children changes by a `Plan` (`dated/plans.py`), made of the existing rows and the wanted ones and then
written. This module plans the lists of the API and the admin. An entry with an `id` changes that row, or deletes it
with `remove`; one without creates a row; rows that no entry names stay. Only categories, which are given by id, are a
complete list. All lists are checked before any is written. `product_files/updating.py` plans the children that a
product file names.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.db.models import ProtectedError
from django.utils.translation import gettext as _

from storefront.catalogue import records, rules, validation
from storefront.catalogue.dated import sale_periods
from storefront.catalogue.dated.plans import Entry, Plan, check_lengths, plan_entries, plan_of
from storefront.catalogue.fields import writable
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

# The field by which a row refers to its product.
_OWNER: dict[Any, str] = {BundleItem: "bundle"}

_OWN_OF_VARIANT = {"id", "shop", "product", "legacy_source_id", "image", "created_at", "updated_at"}
VARIANT_FIELDS = writable(Variant, _OWN_OF_VARIANT | {"regular_compare_price"})
OPTION_FIELDS = writable(Option, {"id", "shop", "product"})
VALUE_FIELDS = writable(OptionValue, {"id", "shop", "option"})
MEDIA_FIELDS = writable(Media, {"id", "shop", "product", "type", "width", "height", "focus"})
BUNDLE_FIELDS = writable(BundleItem, {"id", "shop", "bundle", "product", "variant"})


@dataclass(frozen=True, kw_only=True)
class Lists:
    """Changes of a product's lists. None: the existing list stays."""

    categories: Iterable[Category | int] | None = None
    options: Sequence[Entry] | None = None
    variants: Sequence[Entry] | None = None
    media: Sequence[Entry] | None = None
    bundle_items: Sequence[Entry] | None = None


@dataclass
class Plans:
    """The checked plans for a product's lists, not yet written. None: the existing list stays.

    In the order of writing: pictures before the variants that show them, options before their values.
    """

    categories: Plan | None = None
    media: Plan | None = None
    options: Plan | None = None
    values: Plan | None = None
    variants: Plan | None = None
    bundle_items: Plan | None = None

    def write(self) -> None:
        """Write all plans. Raises InvalidFields if a variant to delete is part of a bundle."""
        plans: Iterable[Plan | None] = vars(self).values()
        try:
            for plan in filter(None, plans):
                plan.write()
        except ProtectedError:
            problem = "A variant that is part of a bundle cannot be removed."
            raise InvalidFields(errors={"variants": [problem]}) from None


def plan_lists(product: Product, lists: Lists, now: datetime, errors: Errors) -> Plans:
    """Check and plan every list that is given. Problems are added to `errors`."""
    lists = _without_overlong(lists, errors)
    media = None if lists.media is None else plan_media(product, lists.media, errors)
    variants, items = lists.variants, lists.bundle_items
    pictures: list[Media] = []
    if variants is not None:
        pictures = media.rows if media else list(_existing(Media, product).values())
    options, values = (None, None) if lists.options is None else plan_options(product, lists.options, errors)
    plans = Plans(
        categories=None if lists.categories is None else plan_categories(product, lists.categories, now, errors),
        media=media,
        options=options,
        values=values,
        variants=None if variants is None else plan_variants(product, variants, pictures, now, errors),
        bundle_items=None if items is None else plan_bundle(product, items, errors),
    )
    check_lengths({name: plan.rows for name, plan in vars(plans).items() if plan and name != "values"}, errors)
    return plans


def _without_overlong(lists: Lists, errors: Errors) -> Lists:
    """The lists without those that are too long, which are added to `errors`."""
    if lists.categories is not None:
        lists = replace(lists, categories=list(lists.categories))
    too_long = check_lengths(vars(lists), errors)
    for number, option in enumerate(lists.options or ()):
        if check_lengths({"values": option.get("values")}, errors, within=f"options.{number}."):
            too_long.add("options")
    return replace(lists, **dict.fromkeys(too_long))


def plan_categories(product: Product, given: Iterable[Category | int], now: datetime, errors: Errors) -> Plan:
    """The product's links to exactly these categories, given by id or as rows. Existing links stay."""

    def put(link: ProductCategory | None, id: int) -> tuple[ProductCategory, list[str]]:
        return link or new_link(product, id, now), []

    links = [(link.category_id, link) for link in _existing(ProductCategory, product).values()]
    return plan_of(links, [(id, id) for id in _own_categories(product, given, errors)], put)


def new_link(product: Product, category_id: Any, now: datetime, sort_order: int = 0) -> ProductCategory:
    """An unsaved link to a category. `category_id` may be None if the link is never saved."""
    link = ProductCategory(product=product, category_id=category_id, sort_order=sort_order)
    # `shop_id` and not `shop`, which would be another query where products are read by the hundred.
    link.shop_id = product.shop_id
    link.created_at = link.updated_at = now
    return link


def plan_variants(
    product: Product, entries: Sequence[Entry], pictures: Sequence[Media], now: datetime, errors: Errors
) -> Plan:
    """The plan for the variants. `image_id` in an entry is the id of one of the product's pictures, `image` the URL of
    one, which may be a new picture."""
    plan, kept = plan_entries(
        Variant,
        _existing(Variant, product),
        entries,
        lambda: Variant(shop=product.shop, product=product, created_at=now, updated_at=now),
        VARIANT_FIELDS,
        errors,
        "variants",
        validation.check_stock,
    )
    # The first of several pictures with the same URL counts. New pictures have no id yet.
    pictures_by: dict[str, dict[Any, Media]] = {
        "image_id": {row.pk: row for row in pictures if row.pk},
        # Also by the original URL of a fetched picture, which programs may still have.
        "image": {url: row for row in reversed(pictures) for url in (row.source_url, _url(product, row)) if url},
    }
    for (number, entry), (variant, fields) in zip(kept, plan.writes, strict=True):
        variant.updated_at = now
        fields.append("updated_at")
        validation.check_sale(variant, entry, now, errors, within=f"variants.{number}.")
        fields[:] = sale_periods.columns_to_write(fields)
        if variant.pk is None:
            variant.track_inventory = rules.stock_tracking_default(entry).get(
                "track_inventory", variant.track_inventory
            )
        for member in ("image_id", "image"):
            if member in entry:
                variant.image = pictures_by[member].get(entry[member])
                fields.append("image")
                if variant.image is None and entry[member] is not None:
                    errors[f"variants.{number}.{member}"] = [_("This is not one of the product's pictures.")]
    return plan


def plan_media(product: Product, entries: Sequence[Entry], errors: Errors) -> Plan:
    """The plan for the pictures; new ones come last unless they have a `sort_order`. `url` in an entry is the URL that
    the record shows, or showed before the picture was fetched: another URL replaces the file."""
    existing = _existing(Media, product)
    plan, _kept = plan_entries(
        Media,
        existing,
        [_with_source_url(product, entry, existing.get(entry.get("id") or 0)) for entry in entries],
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


def plan_options(product: Product, entries: Sequence[Entry], errors: Errors) -> tuple[Plan, Plan]:
    """The plans for the options and for their values."""
    options, kept = plan_entries(
        Option,
        _existing(Option, product),
        entries,
        lambda: Option(shop=product.shop, product=product),
        OPTION_FIELDS,
        errors,
        "options",
    )
    existing: dict[int, dict[int, OptionValue]] = defaultdict(dict)
    for value in OptionValue.objects.filter(shop=product.shop, option__product=product.pk):
        existing[value.option_id][value.pk] = _of_shop(product, value)
    values = Plan()
    for (number, entry), (option, _names) in zip(kept, options.writes, strict=True):
        if "values" in entry or option.pk is None:
            of_option = _plan_values(
                option, existing.get(option.pk, {}), entry.get("values") or (), errors, f"options.{number}."
            )
            values.writes += of_option.writes
            values.deletes += of_option.deletes
    return options, values


def plan_bundle(product: Product, entries: Sequence[Entry], errors: Errors) -> Plan:
    """The plan for the items of a bundle, each with `product_id`, `variant_id` for a variant, and `qty`."""
    plan, kept = plan_entries(
        BundleItem,
        _existing(BundleItem, product),
        entries,
        lambda: BundleItem(shop=product.shop, bundle=product),
        BUNDLE_FIELDS,
        errors,
        "bundle_items",
    )
    # Locked, so that none of the products is deleted meanwhile, and in a fixed order.
    product_ids = {entry["product_id"] for entry in entries if entry.get("product_id")}
    found = Product.objects.select_for_update(no_key=True).filter(
        shop=product.shop, pk__in=product_ids, deleted_at=None
    )
    products = {each.pk: each for each in found.order_by("pk").only("is_gift_card", "type")}
    variant_ids = {entry["variant_id"] for entry in entries if entry.get("variant_id")}
    variants = Variant.objects.filter(shop=product.shop, pk__in=variant_ids).in_bulk()
    for (number, entry), (item, fields) in zip(kept, plan.writes, strict=True):
        within = f"bundle_items.{number}."
        if "product_id" in entry or item.pk is None:
            # The previous variant does not belong to the new product, so the entry has to name one.
            item.product_id, item.variant_id = entry.get("product_id"), entry.get("variant_id")
            fields += ["product", "variant"]
            if item.product_id not in products:
                errors[f"{within}product_id"] = [_("The shop has no product with this id.")]
            elif item.product_id == product.pk:
                errors[f"{within}product_id"] = [_("A bundle cannot contain itself.")]
            elif problem := rules.bundle_item_problem(products[item.product_id]):
                errors[f"{within}product_id"] = [problem]
        elif "variant_id" in entry:
            item.variant_id = entry["variant_id"]
            fields.append("variant")
        if item.variant_id is not None and "variant" in fields:
            variant = variants.get(item.variant_id)
            if variant is None or variant.product_id != item.product_id:
                errors[f"{within}variant_id"] = [_("This variant does not belong to the product.")]
    return plan


def _with_source_url(product: Product, entry: Entry, existing: Media | None) -> Entry:
    if "url" not in entry:
        return entry
    given = {name: value for name, value in entry.items() if name != "url"}
    if existing is None or not existing.file:
        return given | {"source_url": entry["url"]}
    # The original URL of a fetched picture identifies the same picture.
    is_same = entry["url"] and entry["url"] in (_url(product, existing), existing.source_url)
    return given if is_same else given | {"source_url": entry["url"], "file": ""}


def _url(product: Product, picture: Media) -> str | None:
    """The URL of a picture as its record shows it."""
    return records.media_url(product.shop, picture.file.name, picture.source_url)


def _own_categories(product: Product, given: Iterable[Category | int], errors: Errors) -> list[int]:
    """The ids of the given categories, which must be the shop's own."""
    ids = [rules.as_id(str(each.pk if isinstance(each, Category) else each)) for each in given]
    own = Category.objects.filter(shop=product.shop, pk__in=[id for id in ids if id is not None]).order_by("pk")
    found = list(own.values_list("pk", flat=True))
    if None in ids or len(found) < len(set(ids)):
        errors["categories"] = [_("The shop has no category with this id.")]
    return found


def _plan_values(
    option: Option, existing: dict[int, OptionValue], entries: Sequence[Entry], errors: Errors, within: str
) -> Plan:
    path = f"{within}values"
    plan, _kept = plan_entries(
        OptionValue,
        existing,
        entries,
        lambda: OptionValue(shop=option.shop, option=option),
        VALUE_FIELDS,
        errors,
        path,
    )
    if option.type == Option.Type.TEXT and len(plan.rows) > 1:
        errors[path] = [_("A text option can have only one value, which holds its price.")]
    check_lengths({"values": plan.rows}, errors, within=within)
    return plan


def _existing(model: Any, product: Product) -> dict[int, Any]:
    if product.pk is None:
        return {}
    # Locked, since the plan depends on these rows; in the order of their ids, as sales lock them.
    rows = model.objects.select_for_update(no_key=True).filter(
        shop=product.shop, **{_OWNER.get(model, "product"): product}
    )
    return {row.pk: _of_shop(product, row) for row in rows.order_by("pk")}


def _of_shop(product: Product, row: Any) -> Any:
    """Set the row's shop without a query, since prices are checked by the shop's currency."""
    row.shop = product.shop
    return row
