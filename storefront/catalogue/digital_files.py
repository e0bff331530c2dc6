"""The files that buyers of a product download: stores uploads, and finds the files of a product or variant."""

from collections.abc import Collection, Iterable
from datetime import datetime
from typing import Any

from django.conf import settings
from django.core.files.base import File
from django.utils.translation import gettext as _

from storefront.catalogue.models import DigitalFile, Product, StoredFile
from storefront.kit.files.uploads import cleaned_name, too_large
from storefront.kit.refusals import Refusal
from storefront.shops import quotas
from storefront.shops.models import Shop

# A product or variant by product id and variant id.
Sold = tuple[int, int | None]


class UnusableFile(Refusal):
    """The file is empty or larger than UPLOAD_BYTES."""

    code, field = "unusable_file", "file"


def store_file(*, shop: Shop, file: File, now: datetime) -> StoredFile:
    """Store an uploaded file, with its name cleaned. Call it outside a transaction, since the storage may be a bucket.

    Raises UnusableFile, QuotaReached and `kit.storage.StorageUnavailable`. Without use by a product, it is deleted
    after a day.
    """
    if not file.size:
        raise UnusableFile(_("The file is empty."))
    if file.size > settings.UPLOAD_BYTES:
        raise UnusableFile(too_large())
    name = cleaned_name(file.name or "")
    stored = StoredFile(shop=shop, name=name, size=file.size, created_at=now, unused_since=now)
    with quotas.held("files", shop_id=shop.pk, now=now, amount=file.size):
        stored.file.save(stored.name, file, save=True)
    return stored


def files_of(shop: Shop, sold: Iterable[Sold]) -> dict[Sold, list[DigitalFile]]:
    """The files, in their order, of each product or variant that has some. One of the whole product belongs to each of
    its variants."""
    wanted = set(sold)
    rows = DigitalFile.objects.filter(shop=shop, product_id__in={product_id for product_id, _unused in wanted})
    by_product: dict[int, list[DigitalFile]] = {}
    for row in rows.select_related("product"):
        by_product.setdefault(row.product_id, []).append(row)
    found = {each: [row for row in by_product.get(each[0], []) if row.variant_id in (None, each[1])] for each in wanted}
    return {each: files for each, files in found.items() if files}


def needs_file(product: Product) -> bool:
    """Returns True if buyers would get nothing without a file. A pre-order's file can come later
    (`orders/file_sweeps.py`)."""
    return product.type == Product.Type.DIGITAL and not product.is_gift_card and not product.is_preorder


def without_file(shop: Shop, product_ids: Collection[int]) -> list[Product]:
    """The products among these that need a file and have none, so that they are not sold."""
    if not product_ids:
        return []
    digital = Product.objects.filter(shop=shop, pk__in=product_ids, type=Product.Type.DIGITAL, digital_files=None)
    return [product for product in digital.order_by("pk") if needs_file(product)]


def file_values(product: Product) -> list[dict[str, Any]]:
    """The product's files as the audit log records them."""
    rows = DigitalFile.objects.filter(shop=product.shop_id, product=product).select_related("file")
    return [{"name": row.name, "file": row.file.name, "variant_id": row.variant_id} for row in rows]
