"""Makes a copy of a shop from an archive (`form.py`): with new ids, closed to visitors, and without what acts for the
original (`contents.py`).

What must never happen: a row or file of another shop that changes; half a copy; a copy that is taken for the original
by a token, a provider or a buyer. So the archive is checked as a whole, files are stored under names that are free, and
all rows are inserted in one transaction, whose outcome is asked for if its end is not seen (`ending.py`). Triggers run,
and build the totals of the copy; other writers of SQLite wait meanwhile, those of PostgreSQL do not.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any

from django.core.exceptions import ValidationError
from django.core.files import File
from django.db import transaction
from django.db.models import AutoField, BigAutoField
from django.db.utils import DataError, IntegrityError

from storefront.catalogue.models import StockAdjustment, TranslatedSlug
from storefront.kit.bulk_insert import BulkTable, allocate_ids, bulk_write_pragmas
from storefront.kit.deviations import Deviation
from storefront.kit.refused_rows import refused
from storefront.listing.reindexing import reindex
from storefront.payments.models import OrderDraft
from storefront.payments.placing import end_draft
from storefront.server.archive import form
from storefront.server.archive.addresses import Addresses
from storefront.server.archive.contents import archived_tables
from storefront.server.archive.copying import require_migrated
from storefront.server.archive.ending import Ending
from storefront.server.archive.exporting import storage_named
from storefront.server.archive.identities import Identities, Unknown, loose_references
from storefront.server.archive.reading import Archive
from storefront.server.archive.rewriting import Rewriting
from storefront.server.archive.rows import BATCH_ROWS
from storefront.server.archive.tables import Table
from storefront.server.command import Failed
from storefront.server.verifying import deviations
from storefront.shops import quotas
from storefront.shops.models import Shop, StaffMember, User
from storefront.staff.actions import create_shop
from storefront.staff.doors import close_doors

# Columns of the shop that a copy does not take over.
_OWN = ("id", "domain", "name", "base_url", "created_at", "updated_at", "door_password", "delivery_tax_class_id")
# Tables whose rows triggers write as well.
_HISTORIES: tuple[Table, ...] = (StockAdjustment, TranslatedSlug)
_UNFIT = "The archive has a row that cannot be stored; nothing was changed"
# What values of another type or size raise on their way to the database.
_OF_VALUES = (TypeError, ValueError, LookupError, AttributeError, ArithmeticError)


@dataclass
class Imported:
    """The copy, the password of its doors, and what is to be done: see `Manifest`."""

    shop: Shop
    password: str
    rows: int
    files: int
    manifest: form.Manifest
    staff_to_invite: list[str] = field(default_factory=list)
    deviations: list[Deviation] = field(default_factory=list)


def import_shop(
    path: Path, *, domain: str, base_url: str, name: str | None, progress: Callable[[str], None], now: datetime
) -> Imported:
    """Create the copy. Raises Failed or InvalidFields, and then nothing has changed."""
    require_migrated()
    with Archive(path) as archive:
        progress("checking")
        ids = archive.check()
        removed = _removed_rows(archive, ids)
        with _stored_files(archive, progress) as stored, _refusals(), bulk_write_pragmas(), transaction.atomic():
            names = stored.names
            (row,) = _one(archive.rows(Shop))
            shop = create_shop(
                domain=domain,
                name=name or archive.manifest.name,
                base_url=base_url,
                currency=row["currency"],
                timezone=row["timezone"],
                language=row["language"],
                further_languages=row.get("further_languages", ()),
                email=row["email"],
                payment_methods=tuple(row["payment_methods"]),
                is_demo=row["is_demo"],
                now=now,
            )
            pictures = {old: new for (storage, old), new in names.items() if storage == "pictures"}
            addresses = Addresses(archive.manifest.media_url, row["base_url"], shop, pictures)
            rewriting = Rewriting(Identities(shop.pk, ids, removed), shop, names, addresses)
            rows = 1 + _insert_rows(archive, rewriting, progress)
            _take_over(shop, rewriting.row(Shop, row))
            _end_drafts(shop, now)
            quotas.begin("files", shop_id=shop.pk, used=sum(file.size for file in archive.files()))
            progress("search index")
            reindex(shop=shop)
            imported = Imported(shop, close_doors(shop=shop, now=now), rows, len(names), archive.manifest)
            imported.staff_to_invite = _join_staff(shop, archive.manifest.staff)
            imported.deviations = list(deviations(shop))
            stored.ending = Ending.of_transaction(shop)
    return imported


def _one(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    found = list(rows)
    if len(found) != 1:
        raise Failed("The archive does not have one shop. Nothing was changed.")
    return found


@contextmanager
def _refusals() -> Iterator[None]:
    """Turns what the database refuses into a sentence."""
    try:
        yield
    except (DataError, IntegrityError) as error:
        raise Failed(f"{_UNFIT}: {refused(error)}.") from None
    except (ValidationError, Unknown, *_OF_VALUES) as error:
        reason = " ".join(str(getattr(error, "messages", error)).split())
        raise Failed(f"{_UNFIT}: {reason}") from error


def _removed_rows(archive: Archive, ids: Any) -> dict[str, set[int]]:
    """The ids that the ledgers of the archive still name, though their rows are gone."""
    found: dict[str, set[int]] = {}
    for table in archived_tables():
        if not (loose := loose_references(table)):
            continue
        known = {label: set(ids[label]) for label in loose.values()}
        for row in archive.rows(table):
            for column, label in loose.items():
                if row[column] is not None and row[column] not in known[label]:
                    found.setdefault(label, set()).add(row[column])
    return found


@dataclass
class _Stored:
    """The new name of each file, by storage and old name; and the transaction, once all of its rows are written."""

    names: dict[tuple[str, str], str] = field(default_factory=dict)
    ending: Ending | None = None


@contextmanager
def _stored_files(archive: Archive, progress: Callable[[str], None]) -> Iterator[_Stored]:
    """Stores the files under free names, and deletes them if the block fails: not before it is known that no row refers
    to them. If the block fails though its rows are there, ends as if it had not."""
    progress("files")
    stored = _Stored()
    try:
        for file in archive.files():
            stored.names[file.storage, file.name] = _store(archive, file)
        yield stored
    except BaseException as error:
        is_there = stored.ending.is_committed() if stored.ending else False
        if is_there is None:
            raise Failed(_unknown(stored, archive)) from error
        if is_there and stored.ending:
            stored.ending.run_hooks()
            return
        for (storage, _), name in stored.names.items():
            storage_named(storage).delete(name)
        raise


def _unknown(stored: _Stored, archive: Archive) -> str:
    return (
        "The connection to the database was lost at the end of the import, so it is not known whether the copy is"
        f" there. The {len(stored.names)} files of {archive.path} that were stored for it are kept, since it may need"
        " them. Import again under the same domain: that is refused if the copy is there."
    )


def _store(archive: Archive, file: form.File) -> str:
    """Store one file. Returns the name that it got."""
    with archive.open_file(file) as content:
        try:
            return storage_named(file.storage).save(file.name, File(content), max_length=500)
        except OSError as error:
            raise Failed(f"The file {file.name} cannot be stored; nothing was changed: {error.strerror}.") from None


def _insert_rows(archive: Archive, rewriting: Rewriting, progress: Callable[[str], None]) -> int:
    count = 0
    for table in archived_tables():
        if table not in (Shop, *_HISTORIES):
            progress(table._meta.db_table)
            count += _insert_table(archive, table, rewriting)
    # In place of the rows that triggers wrote for new products, variants and categories: the archive has the history.
    for table in _HISTORIES:
        table._base_manager.filter(shop=rewriting.shop).delete()
        count += _insert_table(archive, table, rewriting)
    return count


def _insert_table(archive: Archive, table: Table, rewriting: Rewriting) -> int:
    count, key = 0, table._meta.pk
    writer = BulkTable(table, {})
    needs_ids = isinstance(key, AutoField | BigAutoField) and not rewriting.ids.keeps(table._meta.label)
    found = archive.rows(table)
    while rows := [rewriting.row(table, row) for row in islice(found, BATCH_ROWS)]:
        if needs_ids:
            for row, new in zip(rows, allocate_ids(table, len(rows)), strict=True):
                row[key.attname] = new
        writer.insert(rows)
        count += len(rows)
    return count


def _take_over(shop: Shop, row: dict[str, Any]) -> None:
    """Take over the shop's settings, once the rows that they name are there."""
    values = {name: value for name, value in row.items() if name not in _OWN}
    Shop.objects.filter(pk=shop.pk).update(**values, delivery_tax_class=row["delivery_tax_class_id"])
    shop.refresh_from_db()


def _end_drafts(shop: Shop, now: datetime) -> None:
    """Put back what open payments of the original hold: their outcome is the original's."""
    for draft in OrderDraft.objects.filter(shop=shop).order_by("pk").select_for_update(of=("self",), no_key=True):
        end_draft(shop=shop, draft=draft, now=now)
        draft.delete()


def _join_staff(shop: Shop, members: list[form.Member]) -> list[str]:
    """Let those with an account here work in the copy. Returns the addresses of the others."""
    lacking = []
    for member in members:
        user = User.objects.filter(email__iexact=member.email, is_active=True).first()
        if user is None or member.role not in StaffMember.Role.values:
            lacking.append(member.email)
        else:
            StaffMember.objects.get_or_create(shop=shop, user=user, defaults={"role": member.role})
    return lacking
