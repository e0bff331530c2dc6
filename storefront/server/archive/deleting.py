"""Deletes a shop wholly: its rows and its files. Accounts of its staff, apps, and its audit log stay.

What must never happen: a row or file of another shop that goes; a shop that still sells, or whose money is on its way;
a deletion that locks the deployment for minutes, or that cannot be continued. So the shop is closed before, rows go in
batches, each in a transaction of its own and after those that lead to them, and a batch's files before its rows: who
begins again after a kill finds what is left. What others write meanwhile goes with the shop's own row, which nobody can
refer to any more then. If two do it at once, the second finds fewer rows.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from graphlib import CycleError, TopologicalSorter
from typing import Any

from django.core.exceptions import SuspiciousOperation
from django.db import IntegrityError, transaction
from django.db.models import FileField, QuerySet

from storefront import audit
from storefront.catalogue.media import thumbnails
from storefront.kit.storage import StorageUnavailable
from storefront.payments.models import OrderDraft, Refund
from storefront.pods.models import ShopMove
from storefront.server.archive.exporting import NAMES_OF_FILES, storage_named, storage_of
from storefront.server.archive.rows import BATCH_ROWS
from storefront.server.archive.tables import Table, foreign_keys, path_to_shop, rows_of_shop, shop_tables
from storefront.server.command import Failed
from storefront.shops import changes
from storefront.shops.models import AuditEntry, Shop

# Workers may be at their last tasks for the shop.
MAX_ATTEMPTS = 5
# Steps of a move that has not begun, or has ended.
_AT_REST = (ShopMove.Step.ASKED, ShopMove.Step.ARRIVED)


@dataclass
class Deleted:
    """The number of rows and files that are gone. Files are counted without their thumbnails."""

    rows: int = 0
    files: int = 0


def delete_shop(*, shop: Shop, progress: Callable[[str], None], now: datetime) -> Deleted:
    """Delete the shop. Raises Failed if it is open, being moved, or its money is on its way, and if a file cannot be
    deleted; the rest can then be deleted by another call."""
    done = Deleted()
    for _ in range(MAX_ATTEMPTS):
        try:
            _delete_rows(shop, done, progress)
            _delete_last(shop, done, now)
        except IntegrityError:
            # Somebody wrote a row that leads to one of these, and it goes with the next attempt.
            continue
        # What triggers have written about the rows that went.
        _delete_rows(shop, done, progress)
        return done
    raise Failed(f"Rows of the shop {shop.domain} are still written. Let its imports and tasks end, and try again.")


def _delete_rows(shop: Shop, done: Deleted, progress: Callable[[str], None]) -> None:
    for table in _deletion_order():
        progress(table._meta.db_table)
        # Again for each: the operator can open the shop, or move it, meanwhile.
        _require_idle(shop)
        while _delete_batch(table, shop, done):
            pass


@transaction.atomic
def _delete_last(shop: Shop, done: Deleted, now: datetime) -> None:
    """Delete what others have written meanwhile, and the shop's own row, which they wait for."""
    if not Shop.objects.select_for_update().filter(pk=shop.pk).exists():
        return
    audit.record(shop=shop, action="shop.deleted", object=audit.Object("shop", shop.pk, shop.name), now=now)
    _delete_rows(shop, done, lambda _table: None)
    done.rows += Shop.objects.filter(pk=shop.pk)._raw_delete("default")
    changes.publish_change(shop.pk)


def _require_idle(shop: Shop) -> None:
    if Shop.objects.filter(pk=shop.pk, is_active=True).exists():
        raise Failed(f"The shop {shop.domain} is open. Close it in All shops first. Nothing more was deleted.")
    # The files are those of both pods, and the move's row is all that keeps others from writing.
    if ShopMove.objects.filter(pk=shop.pk).exclude(step__in=_AT_REST).exists():
        raise Failed(f"The shop {shop.domain} is being moved. Let moveshop end first. Nothing more was deleted.")
    under_way = OrderDraft.objects.filter(shop=shop, state=OrderDraft.State.OPEN).count()
    under_way += Refund.objects.filter(shop=shop, status=Refund.Status.PENDING).count()
    if under_way:
        raise Failed(
            f"{under_way} payments or refunds of the shop {shop.domain} are under way. Wait until the worker has ended"
            " them. Nothing more was deleted."
        )


@cache
def _deletion_order() -> tuple[Table, ...]:
    """The tables of shops, each before those that its foreign keys lead to. The audit log stays, and the shop's own
    row goes last."""
    graph: dict[Table, set[Table]] = {table: set() for table in shop_tables()}
    # Required ones first: of a circle, a column that can be null is left out, and is set to null (`_delete_batch`).
    for table, field in sorted(_keys_to_shops_tables(), key=lambda key: (key[1].null, str(key[1]))):
        other = field.remote_field.model
        graph[table].add(other)
        try:
            TopologicalSorter(graph).prepare()
        except CycleError:
            graph[table].discard(other)
    order = reversed(tuple(TopologicalSorter(graph).static_order()))
    return tuple(table for table in order if table not in (Shop, AuditEntry))


def _keys_to_shops_tables() -> Iterator[tuple[Table, Any]]:
    for table in shop_tables():
        for field in foreign_keys(table):
            if path_to_shop(field.remote_field.model) and field.remote_field.model is not table:
                yield table, field


def _delete_batch(table: Table, shop: Shop, done: Deleted) -> bool:
    """Delete up to BATCH_ROWS rows with their files. Returns False if there were none."""
    rows = _unreferenced(table, rows_of_shop(table, shop.pk, using="default"))
    files = _file_columns(table)
    found = list(rows.values_list("pk", *files)[:BATCH_ROWS])
    if not found:
        return False
    names = {(files[column], str(name)) for _, *row in found for column, name in zip(files, row, strict=True) if name}
    for storage, name in sorted(names):
        done.files += _delete_file(storage, name)
    ids = [row[0] for row in found]
    with transaction.atomic():
        for other, field in _set_to_null(table):
            later = rows_of_shop(other, shop.pk, using="default").order_by()
            later.filter(**{f"{field.attname}__in": ids}).update(**{field.attname: None})
        done.rows += table._base_manager.filter(pk__in=ids)._raw_delete("default")
    return True


def _unreferenced(table: Table, rows: QuerySet) -> QuerySet:
    """The rows that no other row of the same table leads to, such as the leaves of a tree."""
    for field in foreign_keys(table):
        if field.remote_field.model is table:
            parents = rows.order_by().exclude(**{field.attname: None}).values(field.attname)
            rows = rows.exclude(pk__in=parents)
    return rows


@cache
def _set_to_null(table: Table) -> list[tuple[Table, Any]]:
    """The columns that lead to this table from tables that go later."""
    order = (*_deletion_order(), Shop)
    keys = [(other, field) for other, field in _keys_to_shops_tables() if field.remote_field.model is table]
    return [key for key in keys if key[0] in order and order.index(key[0]) > order.index(table)]


@cache
def _file_columns(table: Table) -> dict[str, str]:
    """The columns that name files, with their storage."""
    columns = {f.attname: storage_of(f) for f in table._meta.concrete_fields if isinstance(f, FileField)}
    named = NAMES_OF_FILES.get(table._meta.label)
    return columns | ({named: "pictures"} if named else {})


def _delete_file(storage: str, name: str) -> int:
    """Delete the file and its thumbnails. Returns 1 if it was there."""
    try:
        was_there = storage_named(storage).exists(name)
        if storage == "pictures":
            thumbnails.delete(name)
        storage_named(storage).delete(name)
    except (SuspiciousOperation, ValueError):
        return 0
    except (OSError, StorageUnavailable) as error:
        raise Failed(f"The file {name} cannot be deleted: {error}. What was not deleted yet is kept.") from None
    return int(was_there)
