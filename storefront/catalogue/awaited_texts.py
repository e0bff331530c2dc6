"""Search texts that are written after their products: on PostgreSQL, an import writes them on a second connection,
while it writes the next products; and a migration that changes how texts are built leaves all of them to the worker.

An import commits a row of `AwaitedTexts` with the products. The transaction that writes their texts deletes it. If the
process is killed before that, the worker writes the texts after a while. Meanwhile lists show the products, and
searches do not find them. Texts of an older release are found meanwhile, by words as they are written there.
"""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any

import structlog
from django.db import Error, connection, transaction

from storefront.catalogue.folding import has_nothing_to_fold
from storefront.catalogue.models import AwaitedTexts, Product
from storefront.catalogue.postgresql import later_texts
from storefront.catalogue.search_index import BATCH_ROWS, write_texts
from storefront.catalogue.search_texts import SearchWord, search_words
from storefront.kit.bulk_insert import BulkTable, Packed
from storefront.kit.dialect import dialect
from storefront.pods.moves import NOT_MOVING
from storefront.shops.changes import publish_change
from storefront.shops.models import Shop

log = structlog.get_logger(__name__)

# How long the worker waits before it writes the texts. An import writes those of a batch within a second.
PATIENCE = timedelta(minutes=2)
# How long to wait for the lock of a product.
MAX_LOCK_WAIT = "10s"
_AWAITS = "SELECT 1 FROM catalogue_awaitedtexts a WHERE a.shop_id = %(shop)s LIMIT 1"
# Locks the products. Returns how many there are, and how many were written since by another transaction.
_LOCKED = """
    WITH locked AS MATERIALIZED (
        SELECT p.xmin FROM catalogue_product p
        WHERE p.shop_id = %s AND p.id BETWEEN %s AND %s ORDER BY p.id FOR NO KEY UPDATE
    )
    SELECT count(*), count(*) FILTER (WHERE CAST(xmin AS text) <> %s) FROM locked
"""


def words_to_find(
    fetch: Callable[..., list[tuple]], shop: int, q: str, *languages: str, for_shoppers: bool = False
) -> tuple[SearchWord, ...]:
    """The words of a search in the shop (`search_words`), also for the texts that wait for the worker."""
    can_differ = not has_nothing_to_fold(q)
    in_old_texts = can_differ and bool(fetch(_AWAITS, {"shop": shop}))
    return search_words(q, *languages, for_shoppers=for_shoppers, in_old_texts=in_old_texts)


def await_texts(shop: Shop, ids: Sequence[int], now: datetime) -> AwaitedTexts:
    """Announce the texts of these new products, in their transaction."""
    return AwaitedTexts.objects.create(shop=shop, first_product=min(ids), last_product=max(ids), made_at=now)


@transaction.atomic
def write_awaited(awaited: AwaitedTexts, table: BulkTable, rows: Sequence[tuple[tuple[Any, ...], Packed]]) -> None:
    """Write the texts, as rows of `table` that have the products' ids as later column. If one of the products was
    changed meanwhile, the texts are built again. Writes nothing if the worker has already written them. Raises
    IntegrityError if `storefront reindex` has."""
    dialect.limit_lock_wait(MAX_LOCK_WAIT)
    with connection.cursor() as cursor:
        cursor.execute("SELECT CAST(xmin AS text) FROM catalogue_awaitedtexts WHERE id = %s", [awaited.pk])
        made = cursor.fetchone()
        if made is None or not _begin(awaited):
            return
        cursor.execute(_LOCKED, [awaited.shop_id, awaited.first_product, awaited.last_product, *made])
        found, changed = cursor.fetchone()
    if found == len(rows) and not changed:
        first, last = awaited.first_product, awaited.last_product
        with later_texts(connection, shop=awaited.shop_id, first=first, last=last):
            table.insert_packed(rows)
    else:
        _make(awaited)


def write_overdue(*, now: datetime, limit: int) -> int:
    """Write the texts that imports did not write, of at most `limit` batches. Returns the number of batches."""
    overdue = AwaitedTexts.objects.filter(NOT_MOVING, made_at__lte=now - PATIENCE).order_by("pk")
    return write_left(list(overdue.values_list("pk", flat=True)[:limit]))


def write_left(awaited: Sequence[int]) -> int:
    """Write the missing texts of these rows of AwaitedTexts. Returns the number of rows done. A failure, for example
    because a product stays locked, is logged, and the worker tries again."""
    written = 0
    for pk in awaited:
        try:
            written += _write(pk)
        except Error as error:
            log.warning("search_texts_not_written", awaited=pk, reason=str(error).strip())
    return written


@transaction.atomic
def _write(pk: int) -> bool:
    dialect.limit_lock_wait(MAX_LOCK_WAIT)
    # The holder of the lock is about to write them.
    awaited = AwaitedTexts.objects.select_for_update(skip_locked=True).filter(pk=pk).first()
    if awaited is None:
        return False
    _begin(awaited)
    _make(awaited)
    return True


def _make(awaited: AwaitedTexts) -> None:
    span = (awaited.first_product, awaited.last_product)
    ids = list(Product.objects.filter(shop=awaited.shop, pk__range=span).order_by("pk").values_list("pk", flat=True))
    for start in range(0, len(ids), BATCH_ROWS):
        write_texts(awaited.shop, ids[start : start + BATCH_ROWS])


def _begin(awaited: AwaitedTexts) -> bool:
    """Delete the row, in the transaction that writes the texts. Returns False if it was already deleted."""
    deleted, _ = AwaitedTexts.objects.filter(pk=awaited.pk).delete()
    publish_change(awaited.shop_id)
    return bool(deleted)
