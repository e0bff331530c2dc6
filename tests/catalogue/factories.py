"""Creates catalogue rows directly, for tests that do not test their creation."""

from decimal import Decimal
from itertools import count

from django.utils.text import slugify

from storefront.catalogue import rules, search_index
from storefront.catalogue.models import (
    Category,
    Media,
    Option,
    OptionValue,
    Product,
    ProductCategory,
    ProductSearch,
    RelatedProduct,
    Variant,
)
from storefront.catalogue.search_texts import search_text
from storefront.shops.models import Shop
from tests.shops.factories import NOW

_numbers = count(1)


def make_product(shop: Shop, name: str | None = None, *, categories: tuple[Category, ...] = (), **given) -> Product:
    name = name or f"Product {next(_numbers)}"
    given = {
        "price": Decimal("9.50"),
        "status": "active",
        "stock_qty": 10,
        "created_at": NOW,
        "updated_at": NOW,
    } | given
    given.setdefault("slug", slugify(name))
    product = Product.objects.create(shop=shop, name=name, sort_name=rules.sort_name(name), **given)
    _write_text_of_new(product)
    for category in categories:
        ProductCategory.objects.create(shop=shop, product=product, category=category, created_at=NOW, updated_at=NOW)
    return product


def _write_text_of_new(product: Product) -> None:
    """As `search_index.write_text`, in a fifth of the time."""
    words = {"name": product.name, "sku": product.sku, "description": product.description, "tags": product.tags}
    brand = product.brand.name if product.brand else None
    spoken = {"further": product.shop.further_languages, "translations": product.translations}
    made = search_text(language=product.shop.language, brand=brand, attributes=product.attributes, **spoken, **words)
    ProductSearch.objects.create(product=product, shop=product.shop, text=made.text)
    search_index.add_words_on_commit(product.shop, made.words)


def make_public(shop: Shop, name: str | None = None, **given) -> Product:
    """A product that has been public, which copies of a shop hear of."""
    return make_product(shop, name, **{"published_on": given.get("publish_at") or NOW} | given)


def make_variant(product: Product, name: str = "Blue", **given) -> Variant:
    given = {
        "price": Decimal("12.00"),
        "stock_qty": 5,
        "option_values": {"Colour": name},
        "created_at": NOW,
        "updated_at": NOW,
    } | given
    if product.type != Product.Type.VARIABLE:
        product.type = Product.Type.VARIABLE
        product.save(update_fields=["type"])
    variant = Variant.objects.create(shop=product.shop, product=product, name=name, **given)
    search_index.write_text(product)
    return variant


def make_option(product: Product, name: str = "Engraving", values: dict[str, str] | None = None, **given) -> Option:
    option = Option.objects.create(shop=product.shop, product=product, name=name, **given)
    for order, (label, price) in enumerate(
        (values if values is not None else {"Gold": "5.00", "None": "0.00"}).items()
    ):
        OptionValue.objects.create(
            shop=product.shop, option=option, label=label, price=Decimal(price), sort_order=order
        )
    return option


def make_media(product: Product, url: str = "https://cdn.example.com/one.jpg", **given) -> Media:
    return Media.objects.create(shop=product.shop, product=product, source_url=url, **given)


def make_related(product: Product, *others: Product, kind: str = "up_sell") -> None:
    for order, other in enumerate(others):
        RelatedProduct.objects.create(
            shop=product.shop, product=product, related_product=other, kind=kind, sort_order=order
        )


def make_category(shop: Shop, name: str = "Cups", parent: Category | None = None, **given) -> Category:
    """A category with correct bounds, appended as the last root, or as its parent's last child."""
    from storefront.catalogue import tree

    given = {"slug": slugify(name), "created_at": NOW, "updated_at": NOW} | given
    category = Category.objects.create(shop=shop, name=name, parent=parent, **given)
    tree.renumber(shop)
    category.refresh_from_db()
    return category
