"""Takes up what imports asked for: makes a PictureFetch of each picture of a PictureRequest. An import writes one
request for a batch of products, since a row of each picture, with its indexes, would take a tenth of its time.

Any number of workers may do so at once. A request is taken up completely, in the transaction that deletes it: so the
pictures of a product wait from the same moment on, and apps hear of them once (`storing.py`).
"""

import random
from collections.abc import Sequence
from typing import Any

import structlog
from django.db import DatabaseError, IntegrityError, connection, transaction

from storefront.catalogue.models import Media, Product
from storefront.kit.bulk_insert import BulkTable
from storefront.pictures.models import PictureFetch, PictureRequest
from storefront.pictures.requesting import own_files
from storefront.pictures.rules import host_of, is_fetched
from storefront.shops.models import Shop

# Shops of which some requests are taken up before the worker looks for pictures to fetch.
MAX_SHOPS = 4
# Of each: the oldest requests, until they have so many pictures. A batch of new products has 4,000.
MAX_REQUESTS, MAX_PICTURES = 50, 4000
# How long to wait for a product that another program changes. Sales of the other products wait meanwhile.
MAX_LOCK_WAIT = "1s"

log = structlog.get_logger(__name__)


def take_up(*, shop: Shop | None = None) -> int:
    """Take up some of what waits, with `shop` of that shop alone. Returns how many requests. One read if there is
    none. What fails, for example since another program holds a product for long, is logged, and tried again later."""
    if shop:
        return _take_up_some(shop.pk)
    waiting = list(PictureRequest.objects.order_by("shop").values_list("shop", flat=True).distinct())
    # Any of them, so that each has its turn.
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
    """Take up this request, unless another worker has, or is about to."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(f"SET LOCAL lock_timeout = '{MAX_LOCK_WAIT}'")
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
