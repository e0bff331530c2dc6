"""Creates new products from parsed ones, a batch at a time, with bulk inserts per table."""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import count, islice
from typing import Any

from django.db import connection
from django.utils.translation import gettext as _

from storefront.catalogue import events, rules, translated_slugs
from storefront.catalogue.dialect import dialect
from storefront.catalogue.models import BundleItem, Media, Option, OptionValue, Product, ProductCategory, Variant
from storefront.catalogue.parsing import InvalidValue
from storefront.catalogue.product_quota import check_room
from storefront.catalogue.translated_slugs import current, taken_problem
from storefront.kit.bulk_insert import Packed, allocate_ids
from storefront.pictures.requesting import PictureRequests
from storefront.product_files.later_texts import LaterTexts
from storefront.product_files.matching import products_by
from storefront.product_files.new_rows import NewTables
from storefront.product_files.parsed_products import NAMED, NewRows, ParsedBundleItem, ParsedProduct, option_key
from storefront.product_files.references import References
from storefront.shops.models import Shop

PackedRows = list[tuple[tuple[Any, ...], Packed]]
Row = dict[str, Any]


def insert_products(
    *,
    shop: Shop,
    products: Sequence[ParsedProduct],
    tables: NewTables,
    references: References,
    variant_links: list[tuple[int, int]],
    pictures: PictureRequests | None = None,
    texts: LaterTexts | None = None,
    now: datetime,
) -> list[int]:
    """Create a product from each parsed product; returns their ids. The caller's transaction holds the shop's lock.
    With `pictures`, the pictures are requested from the worker. With `texts`, these write the search texts later. Each
    variant that has an id in the source is added to `variant_links`, with that id.

    Raises QuotaReached, and InvalidValue for a bundle item that the shop does not have, a sale period that cannot be,
    or a slug of a further language that is another product's.
    """
    check_room(shop, len(products))
    packed = [parsed.rows or tables.pack(parsed) for parsed in products]
    _check_translated(shop, packed)
    slugs = unused_slugs(shop, products)
    ids = list(allocate_ids(Product, len(products)))
    batch = _Batch(packed, variant_links)
    for id, parsed, rows, slug in zip(ids, products, packed, slugs, strict=True):
        batch.add(id, parsed, rows, slug, references)
    links = _category_links(ids, products, references)
    items = [
        bundle_item_row(shop, id, item)
        for id, parsed in zip(ids, products, strict=True)
        for item in parsed.bundle_items or ()
    ]
    with dialect.deferred_totals(connection, ids, with_texts=texts is None):
        batch.write(tables)
        if texts is None:
            tables.search.insert_packed(batch.search)
        blank = tables.links.pack({})
        link_ids = allocate_ids(ProductCategory, len(links))
        tables.links.insert_packed([((id, *link), blank) for id, link in zip(link_ids, links, strict=True)])
        tables.items.insert(_with_ids(BundleItem, items))
    references.words.add(rows.words for rows in packed)
    if pictures:
        pictures.insert(batch.pictures)
    if texts and ids:
        texts.write(ids, batch.search)
    events.emit_created(shop, ids, now)
    return ids


class _Batch:
    """The packed rows of a batch of new products by table, each with the values of its later columns (`NewTables`)."""

    def __init__(self, packed: Sequence[NewRows], variant_links: list[tuple[int, int]]) -> None:
        self.variant_links = variant_links
        self._media_ids = iter(allocate_ids(Media, sum(len(rows.media) for rows in packed)))
        self._variant_ids = iter(allocate_ids(Variant, sum(len(rows.variants) for rows in packed)))
        self._option_ids = iter(allocate_ids(Option, sum(len(rows.options) for rows in packed)))
        values = sum(len(of_option) for rows in packed for _unused, of_option in rows.options)
        self._value_ids = iter(allocate_ids(OptionValue, values))
        self.products, self.search, self.media = PackedRows(), PackedRows(), PackedRows()
        self.variants, self.options, self.values = PackedRows(), PackedRows(), PackedRows()
        # The ids of the pictures, with their addresses.
        self.pictures: list[tuple[int, str]] = []

    def add(self, id: int, parsed: ParsedProduct, rows: NewRows, slug: str, references: References) -> None:
        media_ids = list(islice(self._media_ids, len(rows.media)))
        variant_ids = list(islice(self._variant_ids, len(rows.variants)))
        default = None if rows.default is None else variant_ids[rows.default]
        related = [references.id_of(kind, parsed.related_names.get(kind)) for kind in NAMED]
        self.products.append(((id, slug, default, *related), rows.product))
        self.search.append(((id,), rows.search))
        for media_id, (url, row) in zip(media_ids, rows.media, strict=True):
            self.media.append(((media_id, id), row))
            self.pictures.append((media_id, url))
        for variant_id, variant in zip(variant_ids, rows.variants, strict=True):
            picture = None if variant.picture is None else media_ids[variant.picture]
            self.variants.append(((variant_id, id, picture), variant.row))
            if variant.external_id:
                self.variant_links.append((variant.external_id, variant_id))
        for row, values in rows.options:
            option_id = next(self._option_ids)
            self.options.append(((option_id, id), row))
            self.values += [((next(self._value_ids), option_id), value) for value in values]

    def write(self, tables: NewTables) -> None:
        tables.products.insert_packed(self.products)
        tables.media.insert_packed(self.media)
        tables.variants.insert_packed(self.variants)
        tables.options.insert_packed(self.options)
        tables.values.insert_packed(self.values)


def _category_links(
    ids: Sequence[int], products: Sequence[ParsedProduct], references: References
) -> list[tuple[int, int, int]]:
    """The (product, category, sort order) of each link."""
    links = []
    for id, parsed in zip(ids, products, strict=True):
        sort_orders: dict[int, int] = {}
        for path in parsed.categories or ():
            category = references.category_id(path)
            if category is not None:
                sort_orders.setdefault(category, path.sort_order or 0)
        links += [(id, category, order) for category, order in sort_orders.items()]
    return links


def _with_ids(model: Any, rows: Sequence[Row]) -> Iterator[Row]:
    return ({**row, "id": id} for row, id in zip(rows, allocate_ids(model, len(rows)), strict=True))


def bundle_item_row(shop: Shop, bundle: int, item: ParsedBundleItem) -> Row:
    """The bundle item as a row. Raises InvalidValue if the shop has no such product or variant."""
    found = Product.objects.filter(shop=shop, slug=item.product, deleted_at=None).values_list("pk", "type").first()
    if found is None:
        raise InvalidValue(
            _("the shop has no product %(product)s to be part of the bundle") % {"product": item.product}
        )
    product, type = found
    if type == Product.Type.BUNDLE:
        raise InvalidValue(
            _("%(product)s is a bundle itself, and cannot be part of another one") % {"product": item.product}
        )
    variant = None
    if item.variant is not None:
        candidates = Variant.objects.filter(shop=shop, product=product).values_list("pk", "option_values")
        wanted = option_key(item.variant)
        variant = next((pk for pk, values in candidates if option_key(values) == wanted), None)
        if variant is None:
            raise InvalidValue(
                _("the product %(product)s has no such variant to be part of the bundle") % {"product": item.product}
            )
    return {"bundle_id": bundle, "product_id": product, "variant_id": variant, **item.fields}


def unused_slugs(shop: Shop, products: Sequence[ParsedProduct]) -> list[str]:
    """An unused slug for each product, which no existing product and no other product of the batch has: the one stated
    in the file, which was looked up or is known to be free.

    For others, tries the slug of the name, then that with the source id or the SKU, then that with a number. The second
    step spares a shop with a thousand products of one name the search for a free number. Raises InvalidValue for a
    stated slug that turns out to be taken.
    """
    stated = {parsed.keys.slug for parsed in products if parsed.keys.slug}
    taken = _taken(shop, {parsed.slug for parsed in products if not parsed.keys.slug})
    if wrong := taken & stated:
        raise InvalidValue(_("slug: %(wrong)s is that of another product of the shop") % {"wrong": min(wrong)})
    first = Counter(parsed.slug for parsed in products)
    longer = {
        parsed.line: _longer_slug(parsed)
        for parsed in products
        if not parsed.keys.slug and (parsed.slug in taken or first[parsed.slug] > 1)
    }
    taken |= stated | _taken(shop, set(filter(None, longer.values())))
    slugs = []
    for parsed in products:
        slug = parsed.keys.slug
        if not slug:
            candidates = [slug for slug in (parsed.slug, longer.get(parsed.line)) if slug]
            free = next((slug for slug in candidates if slug not in taken), "")
            slug = free or _numbered(shop, candidates[-1], taken)
            taken.add(slug)
        slugs.append(slug)
    return slugs


def _check_translated(shop: Shop, packed: Sequence[NewRows]) -> None:
    """Raises InvalidValue for a slug of a further language that is another product's, in that or the main one."""
    given = {pair for rows in packed for pair in rows.slugs.items()}
    if not given:
        return
    slugs = {slug for _language, slug in given}
    main = {slug for slug, _product in products_by(shop, "slug", slugs)}
    known = set(current(shop.pk, Product).filter(slug__in=slugs).values_list("language", "slug"))
    for language, slug in sorted(given):
        if slug in main or (language, slug) in known:
            raise InvalidValue(f"translations: {language}: {taken_problem(Product, slug)}")


def _taken(shop: Shop, slugs: set[str]) -> set[str]:
    return {slug for slug, _unused in products_by(shop, "slug", slugs)} | translated_slugs.taken(
        shop, Product, exactly=slugs
    )


def _longer_slug(parsed: ParsedProduct) -> str | None:
    """The slug with the source's id or the SKU."""
    keys = parsed.keys
    suffix = str(keys.external_id or "") or (rules.slug_of(keys.sku, fallback="") if keys.sku else "")
    return f"{parsed.slug[:200]}-{suffix}" if suffix else None


def _numbered(shop: Shop, slug: str, taken: set[str]) -> str:
    slug = slug[:200]
    existing = Product.objects.filter(shop=shop, deleted_at=None, slug__startswith=f"{slug}-")
    taken = taken | set(existing.values_list("slug", flat=True))
    taken |= translated_slugs.taken(shop, Product, beginning=f"{slug}-")
    return next(numbered for n in count(2) if (numbered := f"{slug}-{n}") not in taken)
