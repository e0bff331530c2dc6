"""Copies a deployment, or one of its shops, to an empty PostgreSQL database.

What must never happen: a copy that lacks a row or has another shop's; a half copy that is taken for a whole one; a
source that is changed, by the copy or by others meanwhile; an id that is given a second time. So the source accepts no
writes while it is read, the target is filled in one transaction, and that is committed only when each table has the
count and the digest of its source. Triggers do not run, since what they would write is copied too.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.models import AutoField, BigAutoField, F, QuerySet
from django.db.utils import IntegrityError

from storefront.kit.dialect import IS_POSTGRESQL
from storefront.kit.refused_rows import refused
from storefront.server.archive import rows, target
from storefront.server.archive.dialect import dialect
from storefront.server.archive.tables import (
    MADE_BY_MIGRATE,
    SHARED,
    Table,
    all_tables,
    every_row,
    path_to_shop,
    rows_of_shop,
    shared_rows,
)
from storefront.server.command import Failed
from storefront.shops.models import Shop
from storefront.sync.models import Change, Log


@dataclass(frozen=True)
class Copied:
    """What was copied: the number of shops, tables with rows, and rows."""

    shops: int
    tables: int
    rows: int


def copy_database(url: str, shop: Shop | None, progress: Callable[[str], None]) -> Copied:
    """Copy everything, or only one shop with the accounts and apps that it uses. `progress` is called with the name of
    each table. Raises Failed, and then the target has no rows."""
    require_migrated()
    other = target.connect(url)
    try:
        target.prepare(other, connection, url)
        with dialect.without_writers(), target.filling(other) as cursor:
            copied = [_copy_table(table, found, cursor, progress) for table, found in _sources(shop)]
            if IS_POSTGRESQL:
                _begin_generations()
        with other.cursor() as cursor:
            cursor.execute("ANALYZE")
        return Copied(Shop.objects.using(target.ALIAS).count(), sum(map(bool, copied)), sum(copied))
    except IntegrityError as error:
        # A foreign key that is added again: its row is not there.
        raise Failed(f"The source has a row that leads nowhere; nothing was copied: {refused(error)}.") from None
    finally:
        other.close()


def require_migrated() -> None:
    """Raise Failed if the source's tables are not those of this release."""
    executor = MigrationExecutor(connection)
    if executor.migration_plan(executor.loader.graph.leaf_nodes()):
        raise Failed("This database is not migrated to this release; run storefront migrate first.")


def _sources(shop: Shop | None) -> Iterator[tuple[Table, QuerySet]]:
    """The rows to copy, table by table."""
    for table in all_tables():
        if shop is None:
            yield table, every_row(table, using="default")
        elif path_to_shop(table):
            yield table, rows_of_shop(table, shop.pk, using="default")
        elif table._meta.label in SHARED:
            yield table, shared_rows(table, shop.pk, using="default")


def _copy_table(table: Table, found: QuerySet, cursor: Any, progress: Callable[[str], None]) -> int:
    """Copy the rows and compare. Returns their number."""
    progress(table._meta.db_table)
    if IS_POSTGRESQL and table is Change:
        # Changes are in the order of the source's transactions, whose numbers mean nothing in another database.
        found = found.none()
    if table._meta.label in MADE_BY_MIGRATE:
        cursor.execute(f'DELETE FROM "{table._meta.db_table}"')  # noqa: S608, a table's name
    with target.receiving(cursor, table) as copy:
        if not found.query.is_empty():
            dialect.send(found.values_list(*rows.columns(table)), copy)
    if isinstance(table._meta.pk, AutoField | BigAutoField):
        target.continue_ids(cursor, table, dialect.last_id(table))
    there = rows.digest_of(every_row(table, using=target.ALIAS))
    if there != rows.digest_of(found):
        raise Failed(f"The rows of {table._meta.db_table} differ after the copy; nothing was copied.")
    return there.rows


def _begin_generations() -> None:
    """End the cursors of the feeds of changes, as after a restored backup (sync/models.py)."""
    logs = Log.objects.using(target.ALIAS)
    logs.update(generation=F("generation") + 1)
    lacking = Shop.objects.using(target.ALIAS).exclude(pk__in=logs.values("pk")).values_list("pk", flat=True)
    logs.bulk_create([Log(shop_id=pk, generation=1) for pk in lacking])
