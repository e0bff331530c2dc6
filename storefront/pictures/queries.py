"""How far the fetching of pictures is."""

from collections.abc import Collection
from dataclasses import dataclass

from django.db.models import Count

from storefront.catalogue.models import Media
from storefront.pictures.models import PictureFetch
from storefront.pictures.requesting import failed_pictures
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
    """How many pictures of an import are fetched, waiting and failed for good."""
    rows = PictureFetch.objects.filter(shop=shop, product_import=product_import)
    return Progress(**dict(rows.values_list("state").annotate(Count("pk")).order_by()))


def waiting_and_failed(shop: Shop) -> Progress:
    """How many pictures of the shop are waiting and failed for good."""
    waiting = PictureFetch.objects.filter(shop=shop, state=PictureFetch.State.WAITING).count()
    return Progress(waiting=waiting, failed=failed_pictures(shop).count())


def failures_of_import(shop: Shop, product_import: int, most: int) -> list[PictureFetch]:
    """The first failed pictures of an import, with their media and products."""
    rows = failed_pictures(shop, product_import).select_related("media__product")
    return list(rows.order_by("pk")[:most])


def without_file(shop: Shop, media: Collection[int]) -> set[int]:
    """Which of these media were requested and have no file: their addresses are not shown."""
    if not media:
        return set()
    rows = PictureFetch.objects.filter(shop=shop, pk__in=media, media__file="")
    return set(rows.exclude(state=PictureFetch.State.FETCHED).values_list("pk", flat=True))


def pictures_at(shop: Shop, products: Collection[int], urls: Collection[str]) -> list[Media]:
    """The media of these products that were imported with one of these addresses, with their fetches if they have."""
    rows = Media.objects.filter(shop=shop, product_id__in=products, source_url__in=urls)
    return list(rows.select_related("fetch").order_by("sort_order", "pk"))
