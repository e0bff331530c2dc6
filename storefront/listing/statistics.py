"""Keeps PostgreSQL's plans and its search index good while products are imported, since autovacuum runs only once a
minute."""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Self

import structlog
from django.db import Error, connection, transaction

log = structlog.get_logger(__name__)

# Factor by which the number of created products grows between two updates of the statistics.
GROWTH = 6
# Created products before the first one.
FIRST_REFRESH = 2000
# Created products whose texts are sorted at once: more cost less, but meanwhile searches read them one by one.
SORTED_AT_ONCE = 8000
# Jobs that are submitted and not done.
MAX_WAITING = 2
# How long a statement waits for another program's lock at most.
MAX_LOCK_WAIT = "10s"

_FOUND_BY = {
    "catalogue_product": ("shop_id", "deleted_at", "sku", "slug"),
    "catalogue_productsearch": ("product_id",),
    "catalogue_productcategory": ("product_id",),
}
# The tables that an import writes, each with the columns by which plans choose, where it also has long texts: reading
# those would take most of the time. Autovacuum does so within a minute. The products take about as long as the others.
_PRODUCTS: dict[str, tuple[str, ...]] = {
    "catalogue_product": (
        *("id", "shop_id", "slug", "sku", "deleted_at", "status", "exclude_from_catalog"),
        *("publish_at", "unpublish_at", "is_pinned", "is_featured", "sort_order", "sort_name", "price", "brand_id"),
        *("created_at", "updated_at"),
    ),
}
_OTHERS: dict[str, tuple[str, ...]] = {
    "catalogue_productsearch": (),
    "catalogue_searchword": (),
    "catalogue_productcategory": (),
    "catalogue_variant": ("id", "shop_id", "product_id", "sku", "is_active", "sort_order"),
    "catalogue_media": ("id", "shop_id", "product_id", "sort_order"),
    "catalogue_option": (),
    "catalogue_optionvalue": (),
    "catalogue_bundleitem": (),
}
_SORT_TEXTS = "SELECT gin_clean_pending_list('catalogue_searchindex')"


class Upkeep:
    """Work that runs in parallel to an import, inside a `with` block: a thread with a connection of its own does what
    is submitted to it, sorts the new texts into the search index, and updates the statistics of the columns by which
    the import finds existing rows.

    The server does that on another core, while the import writes its next batch. Within a transaction, whose locks the
    thread would wait for, and after an error, it is left to the end of the import (`settle`).
    """

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="upkeep")
        self._running: Future[bool] | None = None
        self._submitted: deque[Future[object]] = deque()
        self._refresh_at, self._sort_at = FIRST_REFRESH, SORTED_AT_ONCE

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._thread.submit(_disconnect).result()
        self._thread.shutdown()

    def submit(self, job: Callable[[], object]) -> None:
        """Run the job, which must not raise. Waits while there are too many."""
        if len(self._submitted) >= MAX_WAITING:
            self._submitted.popleft().result()
        self._submitted.append(self._thread.submit(job))

    def after_batch(self, created: int) -> None:
        """Call it after each commit, with the number of products that were created so far."""
        if connection.in_atomic_block:
            return
        if self._running and not (self._running.done() and self._running.result()):
            return
        statements = []
        if created >= self._sort_at:
            self._sort_at = created + SORTED_AT_ONCE
            statements.append(_SORT_TEXTS)
        if created >= self._refresh_at:
            self._refresh_at = GROWTH * created
            statements += _analyze(_FOUND_BY)
        if statements:
            self._running = self._thread.submit(_run, *statements)

    def settle(self) -> None:
        """Update the statistics of all tables that an import writes, and sort its texts into the search index: until
        then, each search reads them one by one. What was submitted before is done."""
        others = [*_analyze(_OTHERS), _SORT_TEXTS]
        # Another connection would not see the rows of a transaction.
        is_alone = connection.in_atomic_block
        if not is_alone:
            self._submitted.append(self._thread.submit(_run_each, others))
        _run_each(_analyze(_PRODUCTS))
        if is_alone:
            _run_each(others)
        while self._submitted:
            self._submitted.popleft().result()


def _analyze(tables: Mapping[str, Sequence[str]]) -> list[str]:
    return [
        f"ANALYZE {table} ({', '.join(columns)})" if columns else f"ANALYZE {table}"
        for table, columns in tables.items()
    ]


def _disconnect() -> None:
    # The connection of this thread, since Django has one for each thread.
    connection.close()


def _run_each(statements: Sequence[str]) -> None:
    for statement in statements:
        _run(statement)


def _run(*statements: str) -> bool:
    """Run the statements; returns whether that went well. Without the right to them, which only the tables' owner has,
    autovacuum does it later."""
    for statement in statements:
        try:
            with transaction.atomic(), connection.cursor() as cursor:
                cursor.execute(f"SET LOCAL lock_timeout = '{MAX_LOCK_WAIT}'")
                cursor.execute(statement)
        except Error as error:
            log.warning("statistics_not_refreshed", statement=statement, reason=str(error).strip())
            return False
    return True
