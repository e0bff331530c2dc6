"""Takes up what imports asked for: makes a PictureFetch of each picture of a PictureRequest. An import writes one
request for a batch of products, since a row of each picture, with its indexes, would take a tenth of its time.

Any number of workers may do so at once. A request is taken up completely, in the transaction that deletes it: so the
pictures of a product wait from the same moment on, and apps hear of them once (`storing.py`).
"""

from collections.abc import Sequence
from typing import Any

from django.db import IntegrityError, transaction

from storefront.catalogue.models import Media, Product
from storefront.kit.bulk_insert import BulkTable
from storefront.pictures.models import PictureFetch, PictureRequest
from storefront.pictures.requesting import own_files
from storefront.pictures.rules import host_of, is_fetched
from storefront.shops.models import Shop

# Requests and pictures that are taken up before the worker looks for pictures to fetch: one request of a batch of new
# products, or many of an update, which writes one for each product. The last request can have more pictures.
MOST_REQUESTS, MOST_PICTURES = 50, 4000


def take_up(*, shop: Shop | None = None) -> int:
    """Take up the oldest requests, with `shop` of that shop alone. Returns how many requests. One read if there is
    none."""
    waiting = PictureRequest.objects.all() if shop is None else PictureRequest.objects.filter(shop=shop)
    taken = pictures = 0
    for pk, count in list(waiting.order_by("pk").values_list("pk", "pictures")[:MOST_REQUESTS]):
        if pictures >= MOST_PICTURES:
            break
        taken += _take_up(pk)
        pictures += count
    return taken


@transaction.atomic
def _take_up(pk: int) -> bool:
    """Take up this request, unless another worker has, or is about to."""
    request = PictureRequest.objects.select_for_update(skip_locked=True, of=("self",)).select_related("shop")
    found = request.filter(pk=pk).first()
    if found is None:
        return False
    media = Media.objects.filter(shop=found.shop_id, pk__range=(found.first_media, found.last_media))
    # Locked first, as by all who remove pictures: so none is removed between being read and being requested.
    products = Product.objects.select_for_update(no_key=True).filter(shop=found.shop_id, pk__in=media.values("product"))
    list(products.order_by("pk").values_list("pk"))
    # Those with a file were uploaded meanwhile.
    rows, own = media.filter(file="", fetch=None).order_by("pk").values_list("pk", "source_url"), own_files(found.shop)
    _insert(found, [{"media_id": id, "host": host_of(url)} for id, url in rows if is_fetched(url, own)])
    found.delete()
    return True


def _insert(request: PictureRequest, rows: Sequence[dict[str, Any]]) -> None:
    common = {
        "shop_id": request.shop_id,
        "due_at": request.made_at,
        "product_import_id": request.product_import_id,
    }
    try:
        with transaction.atomic():
            BulkTable(PictureFetch, common).insert(rows)
    except IntegrityError:
        # A process of the release before, which does not know of this request, requests them all (`--all`).
        PictureFetch.objects.bulk_create([PictureFetch(**common, **row) for row in rows], ignore_conflicts=True)
