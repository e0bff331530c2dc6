"""Requests the fetching of pictures: of an import's new media, of all that have only an address, and of failed ones."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.core.files.storage import default_storage
from django.db import transaction
from django.db.models import QuerySet

from storefront.catalogue.models import Media
from storefront.kit.bulk_insert import BulkTable
from storefront.pictures.models import PictureFetch
from storefront.pictures.rules import host_of
from storefront.shops import audit
from storefront.shops.models import Shop

# Rows that are read and written at a time.
BATCH_ROWS = 1000


@dataclass(frozen=True)
class PictureRequests:
    """Requests the pictures of one import, whose number is that of the admin's upload, None for the command's."""

    shop: Shop
    now: datetime
    product_import: int | None = None

    def insert(self, media: Iterable[tuple[int, str]]) -> None:
        """Insert the requests of new media, given by id and address. An address that is not http or https, or at which
        the shop itself serves its files, is left as it is."""
        own = own_files(self.shop)
        rows: list[dict[str, Any]] = []
        for id, url in media:
            host = host_of(url)
            if host and not url.startswith(own):
                rows.append({"media_id": id, "host": host})
        common = {"shop_id": self.shop.pk, "due_at": self.now, "product_import_id": self.product_import}
        BulkTable(PictureFetch, common).insert(rows)


def request_missing(*, shop: Shop, now: datetime) -> int:
    """Request every picture of the shop that has only an address and was never requested. Returns how many."""
    own = own_files(shop)
    missing = Media.objects.filter(shop=shop, file="", fetch=None, product__deleted_at=None)
    before = PictureFetch.objects.filter(shop=shop).count()
    last = 0
    while found := list(missing.filter(pk__gt=last).order_by("pk").values_list("pk", "source_url")[:BATCH_ROWS]):
        last = found[-1][0]
        rows = [
            PictureFetch(media_id=id, shop=shop, host=host, due_at=now)
            for id, url in found
            if (host := host_of(url)) and not url.startswith(own)
        ]
        # Another process may have requested them meanwhile.
        PictureFetch.objects.bulk_create(rows, ignore_conflicts=True)
    return PictureFetch.objects.filter(shop=shop).count() - before


@transaction.atomic
def retry_failed(
    *, shop: Shop, product_import: int | None = None, audit_object: audit.Object | None = None, now: datetime
) -> int:
    """Request pictures that failed once more: all of the shop's, or those of one import. Returns how many."""
    failed = failed_pictures(shop, product_import)
    count = failed.update(state=PictureFetch.State.WAITING, attempts=0, due_at=now, lease=None)
    if count:
        audit.record(shop=shop, action="pictures.retried", object=audit_object, after={"pictures": count}, now=now)
    return count


def failed_pictures(shop: Shop, product_import: int | None = None) -> QuerySet[PictureFetch]:
    """The shop's pictures that failed for good: all of them, or those of one import."""
    failed = PictureFetch.objects.filter(shop=shop, state=PictureFetch.State.FAILED)
    return failed if product_import is None else failed.filter(product_import=product_import)


def own_files(shop: Shop) -> str:
    """What the URLs of the shop's own files begin with."""
    base = default_storage.url("")
    return shop.base_url + base if base.startswith("/") else base
