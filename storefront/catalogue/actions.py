"""Changes of the catalogue. Each action is one transaction, checks that every id is the shop's own, and names the
fields that are invalid. When it returns, slugs, sort names, search texts and the tree's bounds are up to date."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Case, DateTimeField, F, QuerySet, Value, When
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from storefront import audit
from storefront.audit.values import column_values
from storefront.catalogue import (
    auditing,
    children,
    events,
    rules,
    search_index,
    translated_slugs,
    tree,
    validation,
)
from storefront.catalogue.children import Lists
from storefront.catalogue.dated import sale_periods
from storefront.catalogue.dated.plans import Entry, Plan
from storefront.catalogue.events import Snapshot
from storefront.catalogue.models import Category, Product, ProductSearch
from storefront.catalogue.product_quota import check_room
from storefront.catalogue.validation import Errors
from storefront.kit.refusals import InvalidFields, NotFound, Refusal
from storefront.shops.changes import publish_change
from storefront.shops.models import Shop

# Columns that callers cannot set.
OWN_COLUMNS = {"id", "shop", "sort_name", "published_on", "created_at", "updated_at", "deleted_at", "lft", "rgt"}
OWN_COLUMNS |= {"regular_compare_price"}


class CategoryHasChildren(Refusal):
    code = "category_has_children"
    message = _lazy("Move or delete its subcategories first.")


class PartOfBundle(Refusal):
    code = "part_of_bundle"


@transaction.atomic
def create_product(
    *,
    shop: Shop,
    now: datetime,
    categories: Iterable[Category | int] = (),
    options: Sequence[Entry] = (),
    variants: Sequence[Entry] = (),
    media: Sequence[Entry] = (),
    bundle_items: Sequence[Entry] = (),
    slug: str | None = None,
    **fields: Any,
) -> Product:
    """Create a product with its children, completely or not at all. Without `slug`, one is made from the name.

    `fields` are those of Product, references as rows or ids. See `catalogue.children` for the lists. Raises
    InvalidFields and QuotaReached.
    """
    check_room(shop)
    product = Product(shop=shop, created_at=now, updated_at=now)
    lists = Lists(categories=categories, options=options, variants=variants, media=media, bundle_items=bundle_items)
    _write_product(product, {"name": "", **rules.stock_tracking_default(fields), **fields}, slug, lists, now)
    after = events.emit_changes(shop, Snapshot(), [product.pk], now)
    auditing.record_products(shop, Snapshot(), after, [product.pk], now=now)
    return product


@transaction.atomic
def update_product(
    *,
    shop: Shop,
    product: Product,
    now: datetime,
    categories: Iterable[Category | int] | None = None,
    options: Sequence[Entry] | None = None,
    variants: Sequence[Entry] | None = None,
    media: Sequence[Entry] | None = None,
    bundle_items: Sequence[Entry] | None = None,
    slug: str | None = None,
    before: Snapshot | None = None,
    **changes: Any,
) -> Product:
    """Change these fields and lists of the product. All others keep their present values, not those of `product`.

    A caller that has already written to the product passes the snapshot from `before` that, so that events and audit
    entries cover its changes. Raises InvalidFields, and NotFound for a product that is deleted or another shop's.
    """
    fresh = _locked(shop, product, is_deleted=False)
    fresh.shop = shop
    before = before or events.take_snapshot(shop, [fresh.pk])
    lists = Lists(categories=categories, options=options, variants=variants, media=media, bundle_items=bundle_items)
    _write_product(fresh, changes, slug, lists, now)
    after = events.emit_changes(shop, before, [fresh.pk], now)
    auditing.record_products(shop, before, after, [fresh.pk], now=now)
    return fresh


@transaction.atomic
def delete_product(*, shop: Shop, product: Product, now: datetime) -> None:
    """Mark the product as deleted. Orders keep their copies, and its slug can be used again.

    Raises NotFound, and PartOfBundle if a bundle that is not deleted contains it.
    """
    fresh = _locked(shop, product, is_deleted=False)
    bundle = Product.objects.filter(shop=shop, deleted_at=None, bundle_items__product=fresh).first()
    if bundle is not None:
        raise PartOfBundle(
            _("%(product)s is part of the bundle %(bundle)s. Remove it from the bundle first.")
            % {"product": fresh.name, "bundle": bundle.name}
        )
    with events.emitting_changes(shop, fresh.pk, now=now) as before:
        fresh.deleted_at = fresh.updated_at = now
        fresh.save(update_fields=["deleted_at", "updated_at"])
    ProductSearch.objects.filter(product=fresh).delete()
    auditing.record_products(shop, before, Snapshot(), [fresh.pk], now=now)
    publish_change(shop.pk)


@transaction.atomic
def restore_product(*, shop: Shop, product: Product, now: datetime) -> Product:
    """Restore a deleted product as a draft, with a new slug if its own is in use. Apps get `product.created`, since
    they got `product.deleted` before.

    Raises NotFound for a product that is not deleted or another shop's.
    """
    check_room(shop)
    fresh = _locked(shop, product, is_deleted=True)
    if _existing(shop, Product).filter(slug=fresh.slug).exists():
        fresh.slug = unique_slug(shop, fresh.slug)
    fresh.deleted_at, fresh.status = None, Product.Status.DRAFT
    fresh.translations = translated_slugs.without_conflicts(fresh)
    _set_derived_fields(fresh, now)
    columns = ["deleted_at", "status", "slug", "translations", "sort_name", "published_on", "updated_at"]
    _save(fresh, columns, None)
    search_index.write_text(fresh)
    after = events.emit_changes(shop, Snapshot(), [fresh.pk], now)
    auditing.record_products(shop, Snapshot(), after, [fresh.pk], now=now, action="product.restored")
    publish_change(shop.pk)
    return fresh


@transaction.atomic
def set_status(*, shop: Shop, products: QuerySet[Product], status: str, now: datetime) -> int:
    """Set the status of these products, except deleted ones. Returns how many had another status.

    A few statements for every `events.BATCH_ROWS` products. `published_on` follows `rules.published_on`.
    """
    public_from: Any = Case(When(publish_at__gt=now, then=F("publish_at")), default=Value(now))
    if status != Product.Status.ACTIVE:
        public_from = Value(None)
    published_on = Case(
        When(published_on__lte=now, then=F("published_on")), default=public_from, output_field=DateTimeField()
    )
    existing = Product.objects.filter(shop=shop, deleted_at=None)
    affected = existing.filter(pk__in=products.order_by().values("pk")).exclude(status=status)
    found = list(affected.select_for_update(no_key=True).order_by("pk").values_list("pk", "name", "status"))
    for start in range(0, len(found), events.BATCH_ROWS):
        changing = found[start : start + events.BATCH_ROWS]
        batch = [pk for pk, _unused, _unused in changing]
        existing.filter(pk__in=batch).update(status=status, published_on=published_on, updated_at=now)
        events.emit_updated(shop, batch, now)
        auditing.record_statuses(shop, changing, status, now)
    publish_change(shop.pk)
    return len(found)


@transaction.atomic
def finish_product_update(*, product: Product, before: Snapshot, now: datetime) -> None:
    """Update what is derived from a product's row after other code has written it, such as a form of the admin: sort
    name, first publication, time of change, search text. Emits events and records audit entries for the changes since
    `before`."""
    _set_derived_fields(product, now)
    product.save(update_fields=["sort_name", "published_on", "updated_at"])
    search_index.write_text(product)
    after = events.emit_changes(product.shop, before, [product.pk], now)
    auditing.record_products(product.shop, before, after, [product.pk], now=now)
    publish_change(product.shop_id)


def unique_slug(shop: Shop, name: str, *, model: type[Product] | type[Category] = Product) -> str:
    """A slug made from the name that no existing product (or category) of the shop has: mug, mug-2, mug-3."""
    slug = rules.slug_of(name, fallback=str(model._meta.verbose_name))
    taken = set(_existing(shop, model).filter(slug__startswith=slug).values_list("slug", flat=True))
    taken |= translated_slugs.taken(shop, model, beginning=slug)
    if slug not in taken:
        return slug
    return next(numbered for n in range(2, len(taken) + 3) if (numbered := f"{slug}-{n}") not in taken)


@transaction.atomic
def create_category(
    *,
    shop: Shop,
    now: datetime,
    name: str,
    parent: Category | int | None = None,
    slug: str | None = None,
    **fields: Any,
) -> Category:
    """Create a category, at the top level or under a parent of the same shop. Raises InvalidFields."""
    tree.lock(shop)
    category = Category(shop=shop, created_at=now, updated_at=now)
    errors: Errors = {}
    validation.assign(category, {"name": name, "parent": parent, **_writable(fields)}, errors)
    _choose_slug(category, slug, errors)
    translated_slugs.check(category, fields, errors)
    if errors:
        raise InvalidFields(errors=errors)
    _save(category, None, slug)
    audit.record_created(shop=shop, object=category, now=now)
    return _renumber(category)


@transaction.atomic
def update_category(
    *, shop: Shop, category: Category, now: datetime, slug: str | None = None, **changes: Any
) -> Category:
    """Change these fields of the category. A new `parent` moves it with its subcategories.

    Raises InvalidFields, also for a move under itself or one of its descendants, and NotFound.
    """
    tree.lock(shop)
    fresh = Category.objects.select_for_update().filter(shop=shop, pk=category.pk).first()
    if fresh is None:
        raise NotFound
    before = column_values(fresh)
    errors: Errors = {}
    given = validation.assign(fresh, _writable(changes), errors)
    if "parent" in given and fresh.parent is not None and tree.is_within(fresh.parent, category):
        errors["parent_id"] = [_("A category cannot be moved under itself or one of its subcategories.")]
    _choose_slug(fresh, slug, errors)
    translated_slugs.check(fresh, given, errors)
    if errors:
        raise InvalidFields(errors=errors)
    fresh.updated_at = now
    _save(fresh, [*given, "slug", "updated_at"], slug)
    after = column_values(fresh)
    audit.record_change(shop=shop, action="category.updated", object=fresh, before=before, after=after, now=now)
    return _renumber(fresh)


@transaction.atomic
def delete_category(*, shop: Shop, category: Category, now: datetime) -> None:
    """Delete a category without subcategories. Its products stay. Raises CategoryHasChildren and NotFound."""
    tree.lock(shop)
    fresh = Category.objects.filter(shop=shop, pk=category.pk).first()
    if fresh is None:
        raise NotFound
    if fresh.children.exists():
        raise CategoryHasChildren
    audit.record_deleted(shop=shop, rows=[fresh], now=now)
    fresh.delete()
    tree.renumber(shop)
    publish_change(shop.pk)


def _locked(shop: Shop, product: Product, *, is_deleted: bool) -> Product:
    rows = Product.objects.select_for_update(no_key=True).filter(shop=shop, pk=product.pk)
    fresh = rows.filter(deleted_at__isnull=not is_deleted).first()
    if fresh is None:
        raise NotFound
    return fresh


def _write_product(product: Product, changes: dict[str, Any], slug: str | None, lists: Lists, now: datetime) -> None:
    is_new = product.pk is None
    errors: Errors = {}
    # Changes apply to the prices of this moment, even if the worker has not written them yet.
    sale_periods.settle(product, now)
    given = validation.assign(product, _writable(changes), errors)
    _choose_slug(product, slug, errors)
    translated_slugs.check(product, given, errors)
    validation.check_product(product, errors)
    validation.check_sale(product, changes, now, errors)
    plans = children.plan_lists(product, lists, now, errors)
    _check_type(product, given, plans, errors)
    _check_default_variant(product, plans.variants, errors)
    if errors:
        raise InvalidFields(errors=errors)

    _set_derived_fields(product, now)
    derived = ["slug", "type", "default_variant", "sort_name", "published_on", "updated_at"]
    _save(product, None if is_new else sale_periods.columns_to_write([*given, *derived]), slug)
    plans.write()
    search_index.write_text(product)
    publish_change(product.shop_id)


def _check_type(product: Product, given: list[str], plans: children.Plans, errors: Errors) -> None:
    """Make a product with variants variable, and one with bundle items a bundle. Another type that is given with them
    is an error."""
    if plans.variants is not None:
        has_variants = bool(plans.variants.rows)
    else:
        has_variants = product.pk is not None and product.variants.exists()
    if has_variants:
        _require_type(
            Product.Type.VARIABLE, _("A product with variants must have the type %(type)s."), product, given, errors
        )
    if plans.bundle_items is not None and plans.bundle_items.rows:
        _require_type(
            Product.Type.BUNDLE, _("A product with bundle items must have the type %(type)s."), product, given, errors
        )


def _require_type(type: Product.Type, text: str, product: Product, given: list[str], errors: Errors) -> None:
    if product.type == type:
        return
    if "type" in given or product.type == Product.Type.VARIABLE:
        errors.setdefault("type", []).append(text % {"type": type})
    product.type = type


def _check_default_variant(product: Product, variants: Plan | None, errors: Errors) -> None:
    chosen = product.default_variant_id
    if chosen is None:
        return
    if variants is not None and any(row.pk == chosen for row in variants.deletes):
        product.default_variant = None
    elif product.default_variant is None or product.default_variant.product_id != product.pk:
        errors.setdefault("default_variant_id", []).append(_("This variant does not belong to the product."))


def _set_derived_fields(product: Product, now: datetime) -> None:
    product.sort_name = rules.sort_name(product.name)
    product.published_on = rules.published_on(product, now)
    product.updated_at = now


def _choose_slug(row: Product | Category, slug: str | None, errors: Errors) -> None:
    if slug is None:
        row.slug = row.slug or unique_slug(row.shop, row.name, model=type(row))
    elif not rules.is_slug(slug):
        expected = _("Expected 1 to %(most)s characters without spaces or any of / \\ ? # %%.")
        errors["slug"] = [expected % {"most": rules.MAX_SLUG_LENGTH}]
    elif _is_taken(row, slug):
        errors["slug"] = [_taken(row)]
    else:
        row.slug = slug


def _save(row: Product | Category, fields: list[str] | None, slug: str | None) -> None:
    """Save the row. If another transaction has just used its slug, a generated slug is generated again; a given `slug`
    raises InvalidFields."""
    for _attempt in range(5):
        try:
            with transaction.atomic():
                row.save(update_fields=fields)
            return
        except IntegrityError:
            errors: Errors = {}
            translated_slugs.check(row, ["translations"], errors)
            if errors:
                raise InvalidFields(errors=errors) from None
            if not _existing(row.shop, type(row)).filter(slug=row.slug).exclude(pk=row.pk).exists():
                raise
            if slug is not None:
                break
            row.slug = unique_slug(row.shop, row.name, model=type(row))
    raise InvalidFields(errors={"slug": [_taken(row)]})


def _is_taken(row: Product | Category, slug: str) -> bool:
    of_others = _existing(row.shop, type(row)).filter(slug=slug).exclude(pk=row.pk)
    return of_others.exists() or bool(translated_slugs.taken(row.shop, type(row), exactly=[slug], but=row.pk))


def _existing(shop: Shop, model: type[Product] | type[Category]) -> Any:
    if model is Product:
        return Product.objects.filter(shop=shop, deleted_at=None)
    return model.objects.filter(shop=shop)


def _writable(fields: dict[str, Any]) -> dict[str, Any]:
    read_only = sorted(OWN_COLUMNS & fields.keys())
    if read_only:
        raise TypeError(f"Read-only fields: {', '.join(read_only)}.")
    return fields


def _renumber(category: Category) -> Category:
    tree.renumber(category.shop)
    publish_change(category.shop_id)
    category.refresh_from_db(fields=["lft", "rgt"])
    return category


def _taken(row: Product | Category) -> str:
    if isinstance(row, Product):
        return _("Another product of this shop already has this slug.")
    return _("Another category of this shop already has this slug.")
