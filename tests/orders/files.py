"""Files that products are sold with."""

from django.core.files.base import ContentFile

from storefront.catalogue.digital_files import store_file
from storefront.catalogue.models import DigitalFile, Product, StoredFile, Variant
from storefront.shops.models import Shop
from tests.catalogue.factories import make_product
from tests.shops.factories import NOW

BOOK = bytes(range(256)) * 4


def stored(shop: Shop, name: str = "book.pdf", content: bytes = BOOK) -> StoredFile:
    return store_file(shop=shop, file=ContentFile(content, name=name), now=NOW)


def add_file(item: Product | Variant, name: str = "book.pdf", content: bytes = BOOK, **given) -> DigitalFile:
    is_variant = isinstance(item, Variant)
    return DigitalFile.objects.create(
        shop=item.shop,
        product=item.product if is_variant else item,
        variant=item if is_variant else None,
        file=stored(item.shop, name, content),
        name=given.pop("shown", name),
        **given,
    )


def make_download(shop: Shop, name: str = "Book", **given) -> Product:
    """A digital product with a file."""
    product = make_product(shop, name, type="digital", **given)
    add_file(product)
    return product
