"""How the catalogue changes. Each action is one transaction, checks every id against the shop, and names what does
not fit; slugs, sort names, the search text and the tree's bounds are right when it returns."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Case, DateTimeField, F, QuerySet, Value, When

from storefront.catalogue import events, parts, rules, tree, validation
from storefront.catalogue.events import Known
from storefront.catalogue.models import Category, Product, ProductSearch
from storefront.catalogue.parts import Entry, Lists
from storefront.catalogue.validation import Errors
from storefront.kit.refusals import InvalidFields, NotFound, Refusal
from storefront.shops.changes import changed
from storefront.shops.models import Shop

# Columns that only the catalogue itself writes.
OWN_COLUMNS = {"id", "shop", "sort_name", "published_on", "created_at", "updated_at", "deleted_at", "lft", "rgt"}


class CategoryHasChildren(Refusal):
    code = "category_has_children"
    message = "Move or delete the categories below this one first."


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
    """A new product of the shop, whole or not at all. Without `slug`, one is made of the name.

    Fields are Product's, references as rows or ids; lists are as `catalogue.parts` describes. Raises InvalidFields.
    """
    product = Product(shop=shop, created_at=now, updated_at=now)
    lists = Lists(categories=categories, options=options, variants=variants, media=media, bundle_items=bundle_items)
    _write_product(product, {"name": "", **rules.counts_stock(fields), **fields}, slug, lists, now)
    events.tell(shop, Known(), [product.pk], now)
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
    before: Known | None = None,
    **changes: Any,
) -> Product:
    """The product with these fields and lists changed and all others as they are now, whatever was read before.

    Whoever has begun to write by itself says what was known `before`, for apps to be told of all of it. Raises
    InvalidFields, and NotFound for a product that is deleted or another shop's.
    """
    fresh = Product.objects.select_for_update(no_key=True).filter(shop=shop, pk=product.pk, deleted_at=None).first()
    if fresh is None:
        raise NotFound
    before = before or events.known(shop, [fresh.pk])
    lists = Lists(categories=categories, options=options, variants=variants, media=media, bundle_items=bundle_items)
    _write_product(fresh, changes, slug, lists, now)
    events.tell(shop, before, [fresh.pk], now)
    return fresh


@transaction.atomic
def delete_product(*, shop: Shop, product: Product, now: datetime) -> None:
    """Take the product out of the shop for good; orders keep what they copied, and its slug is free again.

    Raises NotFound, and PartOfBundle while a bundle that still stands contains it.
    """
    fresh = Product.objects.select_for_update(no_key=True).filter(shop=shop, pk=product.pk, deleted_at=None).first()
    if fresh is None:
        raise NotFound
    bundle = Product.objects.filter(shop=shop, deleted_at=None, bundle_items__product=fresh).first()
    if bundle is not None:
        raise PartOfBundle(f"{fresh.name} is part of the bundle {bundle.name}. Take it out of there first.")
    with events.told(shop, fresh.pk, now=now):
        fresh.deleted_at = fresh.updated_at = now
        fresh.save(update_fields=["deleted_at", "updated_at"])
    ProductSearch.objects.filter(product=fresh).delete()
    changed(shop.pk)


@transaction.atomic
def restore_product(*, shop: Shop, product: Product, now: datetime) -> Product:
    """Bring a deleted product back as a draft; under another slug where its own has been taken meanwhile. To apps,
    which were told that it is gone, it is a new one.

    Raises NotFound for a product that is not deleted or another shop's.
    """
    fresh = (
        Product.objects.select_for_update(no_key=True).filter(shop=shop, pk=product.pk).exclude(deleted_at=None).first()
    )
    if fresh is None:
        raise NotFound
    if _standing(shop, Product).filter(slug=fresh.slug).exists():
        fresh.slug = unique_slug(shop, fresh.slug)
    fresh.deleted_at, fresh.status = None, Product.Status.DRAFT
    _derive(fresh, now)
    _save(fresh, ["deleted_at", "status", "slug", "sort_name", "published_on", "updated_at"], None)
    write_search_text(fresh)
    events.tell(shop, Known(), [fresh.pk], now)
    changed(shop.pk)
    return fresh


@transaction.atomic
def set_status(*, shop: Shop, products: QuerySet[Product], status: str, now: datetime) -> int:
    """Give all of these products that still stand this status; how many had another one.

    A few statements for every five hundred of them; `published_on` as `rules.published_on` has it.
    """
    public_from: Any = Case(When(publish_at__gt=now, then=F("publish_at")), default=Value(now))
    if status != Product.Status.ACTIVE:
        public_from = Value(None)
    published_on = Case(
        When(published_on__lte=now, then=F("published_on")), default=public_from, output_field=DateTimeField()
    )
    standing = Product.objects.filter(shop=shop, deleted_at=None)
    meant = standing.filter(pk__in=products.order_by().values("pk")).exclude(status=status)
    ids = list(meant.select_for_update(no_key=True).order_by("pk").values_list("pk", flat=True))
    for start in range(0, len(ids), events.BATCH):
        batch = ids[start : start + events.BATCH]
        standing.filter(pk__in=batch).update(status=status, published_on=published_on, updated_at=now)
        events.tell_of_change(shop, batch, now)
    changed(shop.pk)
    return len(ids)


@transaction.atomic
def settle_product(*, product: Product, before: Known, now: datetime) -> None:
    """Bring what follows from a product's row in step with it, after the row was written elsewhere, such as by a
    form of the admin: sort name, first publication, time of change, search text. Apps are told what is other than it
    was `before` that."""
    _derive(product, now)
    product.save(update_fields=["sort_name", "published_on", "updated_at"])
    write_search_text(product)
    events.tell(product.shop, before, [product.pk], now)
    changed(product.shop_id)


def write_search_text(product: Product) -> None:
    """Keep what `q` looks through in step with the product's name, description and SKU."""
    text = rules.search_text(product.name, product.description, product.sku)
    ProductSearch.objects.bulk_create(
        [ProductSearch(product=product, shop_id=product.shop_id, text=text)],
        update_conflicts=True,
        unique_fields=["product"],
        update_fields=["text"],
    )


def unique_slug(shop: Shop, name: str, *, model: type[Product] | type[Category] = Product) -> str:
    """A slug made of the name that none of the shop's standing products (or categories) has: mug, mug-2, mug-3."""
    slug = rules.slug_of(name, fallback=str(model._meta.verbose_name))
    standing = _standing(shop, model).filter(slug__startswith=slug).values_list("slug", flat=True)
    taken = set(standing)
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
    """A new category, at the top or under a parent of the same shop. Raises InvalidFields."""
    tree.lock(shop)
    category = Category(shop=shop, created_at=now, updated_at=now)
    errors: Errors = {}
    validation.assign(category, {"name": name, "parent": parent, **_writable(fields)}, errors)
    _choose_slug(category, slug, errors)
    if errors:
        raise InvalidFields(errors=errors)
    _save(category, None, slug)
    return _numbered(category)


@transaction.atomic
def update_category(
    *, shop: Shop, category: Category, now: datetime, slug: str | None = None, **changes: Any
) -> Category:
    """The category with these fields changed; a new `parent` moves it with all that is below it.

    Raises InvalidFields, also for a move under itself or its own descendant, and NotFound.
    """
    tree.lock(shop)
    fresh = Category.objects.select_for_update().filter(shop=shop, pk=category.pk).first()
    if fresh is None:
        raise NotFound
    errors: Errors = {}
    given = validation.assign(fresh, _writable(changes), errors)
    if "parent" in given and fresh.parent is not None and tree.is_within(fresh.parent, category):
        errors["parent_id"] = ["A category cannot be moved under itself or under one below it."]
    _choose_slug(fresh, slug, errors)
    if errors:
        raise InvalidFields(errors=errors)
    fresh.updated_at = now
    _save(fresh, [*given, "slug", "updated_at"], slug)
    return _numbered(fresh)


@transaction.atomic
def delete_category(*, shop: Shop, category: Category) -> None:
    """Delete a category that has none below it; its products stay in the shop. Raises CategoryHasChildren, NotFound."""
    tree.lock(shop)
    fresh = Category.objects.filter(shop=shop, pk=category.pk).first()
    if fresh is None:
        raise NotFound
    if fresh.children.exists():
        raise CategoryHasChildren
    fresh.delete()
    tree.renumber(shop)
    changed(shop.pk)


def _write_product(product: Product, changes: dict[str, Any], slug: str | None, lists: Lists, now: datetime) -> None:
    is_new = product.pk is None
    errors: Errors = {}
    given = validation.assign(product, _writable(changes), errors)
    _choose_slug(product, slug, errors)
    validation.check_product(product, errors)
    plans = parts.plan_lists(product, lists, now, errors)
    _check_type(product, given, plans, errors)
    _check_default_variant(product, plans.variants, errors)
    if errors:
        raise InvalidFields(errors=errors)

    _derive(product, now)
    derived = ["slug", "type", "default_variant", "sort_name", "published_on", "updated_at"]
    _save(product, None if is_new else [*given, *derived], slug)
    write_search_text(product)
    plans.write(product, now)
    changed(product.shop_id)


def _check_type(product: Product, given: list[str], plans: parts.Plans, errors: Errors) -> None:
    """A product with variants is a variable one and one with parts a bundle, and says so by itself unless it was told
    otherwise."""
    if plans.variants is not None:
        has_variants = bool(plans.variants.writes)
    else:
        has_variants = product.pk is not None and product.variants.exists()
    if has_variants:
        _make_it(Product.Type.VARIABLE, "variants", product, given, errors)
    if plans.bundle_items is not None and plans.bundle_items.writes:
        _make_it(Product.Type.BUNDLE, "parts", product, given, errors)


def _make_it(type: Product.Type, what: str, product: Product, given: list[str], errors: Errors) -> None:
    if product.type == type:
        return
    if "type" in given or product.type == Product.Type.VARIABLE:
        errors.setdefault("type", []).append(f"A product with {what} is of type {type}.")
    product.type = type


def _check_default_variant(product: Product, variants: parts.Plan | None, errors: Errors) -> None:
    chosen = product.default_variant_id
    if chosen is None:
        return
    if variants is not None and any(row.pk == chosen for row in variants.deletes):
        product.default_variant = None
    elif product.default_variant is None or product.default_variant.product_id != product.pk:
        errors.setdefault("default_variant_id", []).append("Not a variant of this product.")


def _derive(product: Product, now: datetime) -> None:
    product.sort_name = rules.sort_name(product.name)
    product.published_on = rules.published_on(product, now)
    product.updated_at = now


def _choose_slug(row: Product | Category, slug: str | None, errors: Errors) -> None:
    if slug is None:
        row.slug = row.slug or unique_slug(row.shop, row.name, model=type(row))
    elif not rules.is_slug(slug):
        errors["slug"] = [f"Expected 1 to {rules.LONGEST_SLUG} characters without white space or any of / \\ ? # %."]
    elif _standing(row.shop, type(row)).filter(slug=slug).exclude(pk=row.pk).exists():
        errors["slug"] = [f"Another {row._meta.verbose_name} of the shop has this slug."]
    else:
        row.slug = slug


def _save(row: Product | Category, fields: list[str] | None, slug: str | None) -> None:
    """Save the row; when somebody took its slug in the same moment, a made one is made again, a given one refused."""
    for _ in range(5):
        try:
            with transaction.atomic():
                row.save(update_fields=fields)
            return
        except IntegrityError:
            if not _standing(row.shop, type(row)).filter(slug=row.slug).exclude(pk=row.pk).exists():
                raise
            if slug is not None:
                break
            row.slug = unique_slug(row.shop, row.name, model=type(row))
    raise InvalidFields(errors={"slug": [f"Another {row._meta.verbose_name} of the shop has this slug."]})


def _standing(shop: Shop, model: type[Product] | type[Category]) -> Any:
    if model is Product:
        return Product.objects.filter(shop=shop, deleted_at=None)
    return model.objects.filter(shop=shop)


def _writable(fields: dict[str, Any]) -> dict[str, Any]:
    closed = sorted(OWN_COLUMNS & fields.keys())
    if closed:
        raise TypeError(f"The catalogue itself writes {', '.join(closed)}.")
    return fields


def _numbered(category: Category) -> Category:
    tree.renumber(category.shop)
    changed(category.shop_id)
    category.refresh_from_db(fields=["lft", "rgt"])
    return category
