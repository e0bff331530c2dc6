"""Has the search texts of new products written beside an import, on PostgreSQL."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import structlog
from django.db import Error, transaction

from storefront.catalogue.awaited_texts import await_texts, write_awaited, write_left
from storefront.catalogue.models import AwaitedTexts
from storefront.kit import clock
from storefront.kit.bulk_insert import BulkTable, Packed
from storefront.listing.statistics import Upkeep
from storefront.shops.models import Shop

log = structlog.get_logger(__name__)


class LaterTexts:
    """Writes the texts of each batch by the thread of `upkeep`, after the batch is committed: the server does that on
    another core."""

    def __init__(self, shop: Shop, table: BulkTable, upkeep: Upkeep) -> None:
        self.shop, self._table, self._upkeep = shop, table, upkeep
        self._failed: list[int] = []

    def write(self, ids: Sequence[int], rows: Sequence[tuple[tuple[Any, ...], Packed]]) -> None:
        """Write these rows of the table, once the transaction is committed."""
        # The present time, since the import may have begun minutes ago.
        awaited = await_texts(self.shop, ids, clock.now())
        transaction.on_commit(partial(self._upkeep.submit, partial(self._write, awaited, rows)))

    def finish(self) -> None:
        """Write the texts that could not be written before. Call it after the end of `upkeep`."""
        write_left(self._failed)

    def _write(self, awaited: AwaitedTexts, rows: Sequence[tuple[tuple[Any, ...], Packed]]) -> None:
        pk = awaited.pk
        try:
            write_awaited(awaited, self._table, rows)
        except Error as error:
            log.warning("search_texts_not_written", products=str(awaited), reason=str(error).strip())
            self._failed.append(pk)
