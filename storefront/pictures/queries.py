"""Reads the progress of fetching pictures."""

from collections.abc import Collection
from dataclasses import dataclass

from django.db.models import Count, Q, QuerySet, Sum

from storefront.catalogue.models import Media
from storefront.pictures.models import PictureFetch, PictureRequest
from storefront.pictures.requesting import failed_pictures, media_of, own_files
from storefront.pictures.rules import is_fetched
from storefront.shops.models import Shop


@dataclass(frozen=True)
class Progress:
    """Numbers of requested pictures."""

    fetched: int = 0
    waiting: int = 0
    failed: int = 0

    @property
    def total(self) -> int:
        return self.fetched + self.waiting + self.failed


def progress_of_import(shop: Shop, product_import: int) -> Progress:
    """Count an import's pictures that are fetched, waiting, and failed for good."""
    requested = _requested(PictureRequest.objects.filter(shop=shop, product_import=product_import))
    rows = PictureFetch.objects.filter(shop=shop, product_import=product_import)
    counts = dict(rows.values_list("state").annotate(Count("pk")).order_by())
    return Progress(**counts | {"waiting": counts.get("waiting", 0) + requested})


def waiting_and_failed(shop: Shop) -> Progress:
    """Count the shop's pictures that are waiting, and failed for good."""
    requested = _requested(PictureRequest.objects.filter(shop=shop))
    waiting = PictureFetch.objects.filter(shop=shop, state=PictureFetch.State.WAITING).count()
    return Progress(waiting=requested + waiting, failed=failed_pictures(shop).count())


def _requested(requests: QuerySet[PictureRequest]) -> int:
    """Count the pictures of these requests. Call it before counting fetches, so that a request that is taken up
    meanwhile is not missed."""
    return requests.aggregate(total=Sum("pictures"))["total"] or 0


def failures_of_import(shop: Shop, product_import: int, most: int) -> list[PictureFetch]:
    """The first failed pictures of an import, with their media and products."""
    rows = failed_pictures(shop, product_import).select_related("media__product")
    return list(rows.order_by("pk")[:most])


def without_file(shop: Shop, media: Collection[int]) -> set[int]:
    """The media among these that were requested and have no file yet. Their addresses are not shown."""
    if not media:
        return set()
    unfetched = Q(fetch__state__in=[PictureFetch.State.WAITING, PictureFetch.State.FAILED])
    rows = media_of(shop).filter(unfetched | Q(fetch=None, is_awaited=True), pk__in=media, file="")
    own = own_files(shop)
    found = rows.order_by().values_list("pk", "source_url", "fetch__state")
    return {id for id, url, state in found if state or is_fetched(url, own)}


def pictures_of(shop: Shop, products: Collection[int], urls: Collection[str] | None = None) -> list[tuple[Media, bool]]:
    """The media of these products, each with a flag: whether the picture was requested. With `urls`, only media that
    were imported with one of these addresses."""
    rows = media_of(shop).filter(product_id__in=products).select_related("fetch").order_by("sort_order", "pk")
    if urls is not None:
        rows = rows.filter(source_url__in=urls)
    own = own_files(shop)
    return [(row, hasattr(row, "fetch") or (row.is_awaited and is_fetched(row.source_url, own))) for row in rows]
