"""Requests the fetching of pictures: of an import's new media, of all that have only an address, and of failed ones."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.core.files.storage import default_storage
from django.db import transaction
from django.db.models import BigIntegerField, F, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.db.models.lookups import LessThanOrEqual

from storefront import audit
from storefront.catalogue.models import Media
from storefront.kit.runs import runs_of
from storefront.pictures.models import PictureFetch, PictureRequest
from storefront.pictures.rules import host_of, is_fetched
from storefront.shops.models import Shop

# Rows that are read and written at a time.
BATCH_ROWS = 1000
# Greater than every id of media.
_NONE = 2**62


@dataclass(frozen=True)
class PictureRequests:
    """Requests the pictures of one import. `product_import` is the id of the upload in the admin, None for an import by
    the command."""

    shop: Shop
    now: datetime
    product_import: int | None = None

    def insert(self, media: Iterable[tuple[int, str]]) -> None:
        """Request the pictures of new media, given by id and address, in the transaction that creates them. Skips
        addresses that are not http or https, and those at which the shop itself serves its files.

        The import waits for this call, so it writes one row for all pictures; the worker later creates a row for
        each."""
        own, ordered = own_files(self.shop), sorted(media)
        requests: list[PictureRequest] = []
        place = 0
        for first, last in runs_of([id for id, _ in ordered]):
            run = ordered[place : place + last - first + 1]
            place += len(run)
            if count := sum(is_fetched(url, own) for _, url in run):
                requests.append(
                    PictureRequest(
                        shop=self.shop,
                        product_import_id=self.product_import,
                        first_media=first,
                        last_media=last,
                        pictures=count,
                        made_at=self.now,
                    )
                )
        PictureRequest.objects.bulk_create(requests)


def request_missing(*, shop: Shop, now: datetime) -> int:
    """Request every picture of the shop that has only an address and was never requested. Returns how many. Leaves
    requests of imports to `take_up`, which stores the import's number."""
    own = own_files(shop)
    missing = media_of(shop).filter(file="", fetch=None, is_awaited=False, product__deleted_at=None)
    requested, last = 0, 0
    while found := list(missing.filter(pk__gt=last).order_by("pk").values_list("pk", "source_url")[:BATCH_ROWS]):
        last = found[-1][0]
        rows = [
            PictureFetch(media_id=id, shop=shop, host=host, due_at=now)
            for id, url in found
            if is_fetched(url, own) and (host := host_of(url))
        ]
        # Another process may request them at the same time.
        PictureFetch.objects.bulk_create(rows, ignore_conflicts=True)
        requested += len(rows)
    return requested


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


def media_of(shop: Shop) -> Any:
    """The shop's media, annotated with `is_awaited`: whether the media is in the range of a request that was not taken
    up."""
    # The first range that ends at or after this media's id: one index lookup shows whether the range contains it.
    next_range = PictureRequest.objects.filter(shop=shop, last_media__gte=OuterRef("pk")).order_by("last_media")
    begins_at = Coalesce(Subquery(next_range.values("first_media")[:1]), _NONE, output_field=BigIntegerField())
    return Media.objects.filter(shop=shop).annotate(is_awaited=LessThanOrEqual(begins_at, F("pk")))


def own_files(shop: Shop) -> str:
    """The prefixes of the URLs of the shop's own files."""
    base = default_storage.url("")
    return shop.base_url + base if base.startswith("/") else base
