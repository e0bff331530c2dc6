"""Takes up the requests of imports: creates a PictureFetch for each picture of a PictureRequest. An import writes one
request for a batch of products, since a row for each picture, with its indexes, would take a tenth of the import's
time.

Safe to run in several workers at once. A request is taken up completely, in the transaction that deletes it: so the
pictures of a product wait from the same moment on, and apps get one event for them (`storing.py`).
"""

import random
from collections.abc import Sequence
from typing import Any

import structlog
from django.db import DatabaseError, transaction

from storefront.catalogue.models import Media, Product
from storefront.kit.bulk_insert import BulkTable
from storefront.kit.dialect import dialect
from storefront.pictures.models import PictureFetch, PictureRequest
from storefront.pictures.requesting import own_files
from storefront.pictures.rules import host_of, is_fetched
from storefront.shops.models import Shop

# Shops whose requests one call takes up.
MAX_SHOPS = 4
# Requests, and pictures, that one call takes up of each shop, oldest first. A batch of new products has 4,000 pictures.
MAX_REQUESTS, MAX_PICTURES = 50, 4000
# How long to wait for a product that is locked. Sales of the other products wait meanwhile.
MAX_LOCK_WAIT = "1s"

log = structlog.get_logger(__name__)


def take_up(*, shop: Shop | None = None) -> int:
    """Take up some waiting requests, with `shop` of that shop alone. Returns how many. One read if there are none. A
    request that fails, for example because a product stays locked, is logged, and tried again later."""
    if shop:
        return _take_up_some(shop.pk)
    waiting = list(PictureRequest.objects.order_by("shop").values_list("shop", flat=True).distinct())
    # Chosen at random, so that no shop waits for ever.
    chosen = random.sample(waiting, min(len(waiting), MAX_SHOPS))
    return sum(_take_up_some(each) for each in chosen)


def _take_up_some(shop_id: int) -> int:
    waiting = PictureRequest.objects.filter(shop=shop_id).order_by("pk").values_list("pk", "pictures")
    taken = pictures = 0
    for pk, count in list(waiting[:MAX_REQUESTS]):
        if pictures >= MAX_PICTURES:
            break
        try:
            taken += _take_up(pk)
            pictures += count
        except DatabaseError as error:
            log.warning("pictures_not_taken_up", request=pk, reason=str(error).strip())
    return taken


@transaction.atomic
def _take_up(pk: int) -> bool:
    """Take up this request, unless another worker has, or has locked it."""
    dialect.limit_lock_wait(MAX_LOCK_WAIT)
    request = PictureRequest.objects.select_for_update(skip_locked=True, of=("self",)).select_related("shop")
    found = request.filter(pk=pk).first()
    if found is None:
        return False
    media = Media.objects.filter(shop=found.shop_id, pk__range=(found.first_media, found.last_media))
    # Products are locked first, as wherever pictures are removed, so that none is removed between the read and the
    # insert.
    products = Product.objects.select_for_update(no_key=True).filter(shop=found.shop_id, pk__in=media.values("product"))
    list(products.order_by("pk").values_list("pk"))
    # Media with a file were uploaded meanwhile.
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
    BulkTable(PictureFetch, common).insert(rows)
