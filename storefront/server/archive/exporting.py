"""Writes a shop to an archive (`form.py`), while it stays open.

All rows are of one moment. Files are read after that: one that was deleted meanwhile is counted as missing.
"""

from collections.abc import Callable, Iterator
from datetime import datetime
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import IO, Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

import orjson
from django.core.exceptions import SuspiciousOperation
from django.core.files.storage import Storage, default_storage
from django.db.models import FileField, JSONField, QuerySet

from storefront.catalogue.records import media_url
from storefront.installations.models import Installation
from storefront.kit.storage import private_files
from storefront.payments.models import OrderDraft, ProviderAccount
from storefront.server.archive import form
from storefront.server.archive.contents import CHANGED, LEFT_OUT, OWN_PICTURE, archived_tables
from storefront.server.archive.copying import require_migrated
from storefront.server.archive.dialect import dialect
from storefront.server.archive.rows import BATCH_ROWS, columns, line_of
from storefront.server.archive.tables import Table, foreign_keys, rows_of_shop, shop_tables
from storefront.server.command import Failed
from storefront.server.media import NO_SUCH_NAME
from storefront.shops.models import ApiToken, Shop, StaffMember

_BLOCK = 1 << 20
# Columns of texts that name files, with their storage.
NAMES_OF_FILES = {"pictures.StoredPicture": "file"}
_Files = dict[tuple[str, str], None]


def export_shop(shop: Shop, path: Path, progress: Callable[[str], None], now: datetime) -> form.Manifest:
    """Write the shop to this new file. Returns what it has. Takes memory for the names of its files, not for rows."""
    require_migrated()
    found: _Files = {}
    # Without compression of files, since pictures are compressed.
    with ZipFile(path, "w", ZIP_DEFLATED) as archive:
        with dialect.snapshot():
            shop = Shop.objects.get(pk=shop.pk)
            tables = {}
            for table in archived_tables():
                progress(table._meta.db_table)
                tables[table._meta.label] = _write_table(archive, table, shop, found)
            facts = _facts(shop)
        progress("files")
        files, missing = _write_files(archive, found)
        manifest = form.Manifest(
            format=form.FORMAT,
            version=form.VERSION,
            release=version("storefront"),
            migrations=form.migrations(),
            domain=shop.domain,
            name=shop.name,
            media_url=_media_url(shop),
            made_at=now.isoformat(),
            tables=tables,
            files=files,
            files_missing=missing,
            **facts,
        )
        archive.writestr(form.MANIFEST, manifest.model_dump_json(indent=1))
    return manifest


def archived_rows(table: Table, shop: Shop) -> QuerySet:
    """The rows of a table that an archive has: of drafts only open ones, whose stock is put back in the copy."""
    found = rows_of_shop(table, shop.pk, using="default")
    return found.filter(state=OrderDraft.State.OPEN) if table is OrderDraft else found


def _facts(shop: Shop) -> dict[str, Any]:
    """What the copy lacks: names of what is to be entered again, and counts of the rest."""
    left_out: dict[str, int] = {}
    for table in shop_tables():
        if what := LEFT_OUT.get(table._meta.label):
            left_out[what] = left_out.get(what, 0) + rows_of_shop(table, shop.pk, using="default").count()
    installed = Installation.objects.filter(shop=shop, uninstalled_at=None).order_by("pk")
    tokens = ApiToken.objects.filter(shop=shop, installation_id=None, revoked_at=None).order_by("pk")
    staff = StaffMember.objects.filter(shop=shop).order_by("pk").values_list("user__email", "role")
    return {
        "staff": [form.Member(email=email, role=role) for email, role in staff],
        "apps": list(installed.values_list("app__name", flat=True)),
        "providers": list(ProviderAccount.objects.filter(shop=shop).order_by("pk").values_list("provider", flat=True)),
        "tokens": list(tokens.values_list("name", flat=True)),
        "left_out": {what: count for what, count in left_out.items() if count},
    }


def _write_table(archive: ZipFile, table: Table, shop: Shop, files: _Files) -> form.Part:
    """Write the rows, and note the files that they name."""
    names = columns(table)
    with archive.open(_entry(form.entry_of(table._meta.label), ZIP_DEFLATED), "w", force_zip64=True) as out:
        part = _Writer(out)
        for row in _rows(table, shop, files):
            part.add(line_of(tuple(row[name] for name in names), _documents(table)))
    return part.result(names)


def _documents(table: Table) -> list[int]:
    return [place for place, field in enumerate(table._meta.concrete_fields) if isinstance(field, JSONField)]


def _rows(table: Table, shop: Shop, files: _Files) -> Iterator[dict[str, Any]]:
    """The rows as they are archived. Their files are added to `files`."""
    label, archived = table._meta.label, {each._meta.label for each in archived_tables()}
    fields = table._meta.concrete_fields
    lost = [f.attname for f in foreign_keys(table) if f.remote_field.model._meta.label not in archived]
    stored = {f.attname: storage_of(f) for f in fields if isinstance(f, FileField)}
    if label in NAMES_OF_FILES:
        stored[NAMES_OF_FILES[label]] = "pictures"
    own = _media_url(shop)
    drafts = set(archived_rows(OrderDraft, shop).values_list("pk", flat=True))
    for row in archived_rows(table, shop).values(*columns(table)).iterator(BATCH_ROWS):
        row |= dict.fromkeys(lost)
        if label == "payments.Payment" and row["draft_id"] not in drafts:
            row["draft_id"] = None
        if label in CHANGED:
            CHANGED[label](row)
        if label == "orders.OrderLine" and str(row["image"]).startswith(own):
            name = str(row["image"]).removeprefix(own)
            files["pictures", name], row["image"] = None, OWN_PICTURE + name
        for column, storage in stored.items():
            if row[column]:
                files[storage, str(row[column])] = None
        yield row


def _media_url(shop: Shop) -> str:
    """What the URLs of the shop's pictures begin with."""
    return (media_url(shop, "x") or "x")[:-1]


def storage_of(field: FileField) -> str:
    """The name that an archive has for the storage of a column's files."""
    return "pictures" if field.storage is default_storage else "private"


def storage_named(name: str) -> Storage:
    """The storage of a file of an archive."""
    return default_storage if name == "pictures" else private_files()


def _write_files(archive: ZipFile, found: _Files) -> tuple[form.Part, int]:
    """Write the content of the files and their list. Returns the list's part, and how many are missing."""
    lines, missing = [], 0
    for number, (storage, name) in enumerate(found):
        entry = f"files/{number}"
        content = _opened(storage, name)
        if content is None:
            missing += 1
            continue
        digest, size = sha256(), 0
        with content, archive.open(_entry(entry, ZIP_STORED), "w", force_zip64=True) as out:
            while block := content.read(_BLOCK):
                digest.update(block)
                size += len(block)
                out.write(block)
        lines.append(form.File(storage=storage, name=name, size=size, sha256=digest.hexdigest(), entry=entry))  # type: ignore[arg-type]
    with archive.open(_entry(form.FILES, ZIP_DEFLATED), "w", force_zip64=True) as listed:
        part = _Writer(listed)
        for line in lines:
            part.add(orjson.dumps(line.model_dump()))
    return part.result([]), missing


def _opened(storage: str, name: str) -> Any:
    """The file; None if there is none of this name. Pictures of orders have names that merchants can give."""
    try:
        return storage_named(storage).open(name)
    except (FileNotFoundError, IsADirectoryError, SuspiciousOperation, ValueError):
        return None
    except OSError as error:
        if error.errno in NO_SUCH_NAME:
            return None
        raise Failed(f"The file {name} cannot be read; nothing was exported: {error.strerror}.") from None


def _entry(name: str, compression: int) -> ZipInfo:
    entry = ZipInfo(name)
    entry.compress_type = compression
    return entry


class _Writer:
    """Writes lines and counts what it wrote."""

    def __init__(self, out: IO[bytes]) -> None:
        self._out, self._digest = out, sha256()
        self.lines = self.size = 0

    def add(self, line: bytes) -> None:
        line += b"\n"
        self._out.write(line)
        self._digest.update(line)
        self.lines += 1
        self.size += len(line)

    def result(self, names: list[str]) -> form.Part:
        return form.Part(lines=self.lines, size=self.size, sha256=self._digest.hexdigest(), columns=names)
