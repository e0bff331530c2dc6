"""Reads an archive of a shop, which may be broken or made to do harm: nothing is written before all of it was checked.

What must never happen: a file outside of the storages, a row that leads to another shop, memory or disk that is filled
by a small file. So entries are only those that the manifest lists, with the sizes and digests that it states; names of
files are relative, in the folders that the shop's columns use; lines have a largest size.

The texts of an archive are stored as they are. Import only what you would also run.
"""

import zipfile
import zlib
from array import array
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import IO, Any

import orjson
from django.core.exceptions import SuspiciousFileOperation
from django.core.files.utils import validate_file_name

from storefront.kit.storage import SHOWN_TYPES, content_type
from storefront.server.archive import form
from storefront.server.archive.contents import archived_tables
from storefront.server.archive.rows import columns
from storefront.server.archive.tables import Table
from storefront.server.command import Failed

MAX_MANIFEST_BYTES = 4 << 20
MAX_LINE_BYTES = 32 << 20
# How many times larger than the archive its content may be; lines of JSON come to a tenth of this.
MAX_RATIO, MAX_SMALL_BYTES = 200, 64 << 20
_BLOCK = 1 << 20
# First folders of names of files, by storage.
FOLDERS = {"pictures": {"products", "categories", "looks"}, "private": {"downloads"}}


class Archive:
    """An archive that was opened; `manifest` is checked. Close it by `with`. Raises Failed for whatever is wrong."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._zip = zipfile.ZipFile(path)
        except OSError as error:
            raise Failed(f"The file {path} cannot be read: {error.strerror or error}.") from None
        except (zipfile.BadZipFile, ValueError, NotImplementedError):
            raise self._wrong("it is no ZIP file, or not all of it is there") from None
        try:
            self._entries = self._checked_entries()
            self.manifest = self._checked_manifest()
            self._check_sizes()
        except BaseException:
            self._zip.close()
            raise

    def __enter__(self) -> "Archive":
        return self

    def __exit__(self, *_error: object) -> None:
        self._zip.close()

    def check(self) -> dict[str, array]:
        """Read all of it. Returns the ids of the rows of each table that has ids of its own."""
        found = {table._meta.label: self._ids(table) for table in archived_tables()}
        listed = {form.MANIFEST, form.FILES, *map(form.entry_of, self.manifest.tables)}
        for file in self.files():
            if file.entry in listed or file.entry not in self._entries:
                raise self._wrong(f"the file {file.name} is missing or listed twice")
            listed.add(file.entry)
            self._check_file(file)
        if unknown := sorted(set(self._entries) - listed):
            raise self._wrong(f"it has an entry that is not listed: {unknown[0]}")
        return found

    def rows(self, table: Table) -> Iterator[dict[str, Any]]:
        """The rows of a table, as they are in the archive."""
        label = table._meta.label
        names = columns(table)
        for number, line in enumerate(self._lines(form.entry_of(label), self.manifest.tables[label]), start=1):
            try:
                values = orjson.loads(line)
            except orjson.JSONDecodeError:
                values = None
            if not isinstance(values, list) or len(values) != len(names):
                raise self._wrong(f"row {number} of {label} is not a list of {len(names)} values")
            yield dict(zip(names, values, strict=True))

    def files(self) -> Iterator[form.File]:
        """The list of files."""
        for number, line in enumerate(self._lines(form.FILES, self.manifest.files), start=1):
            try:
                file = form.parsed(form.File, line)
                validate_file_name(file.name, allow_relative_path=True)
            except (ValueError, SuspiciousFileOperation):
                raise self._wrong(f"line {number} of {form.FILES} describes no file of a shop") from None
            self._check_name(file)
            yield file

    def open_file(self, file: form.File) -> IO[bytes]:
        """The content of a file that `check` has accepted."""
        return self._zip.open(self._entries[file.entry])

    def _checked_entries(self) -> dict[str, zipfile.ZipInfo]:
        entries: dict[str, zipfile.ZipInfo] = {}
        for entry in self._zip.infolist():
            if entry.filename in entries:
                raise self._wrong(f"it has {entry.filename} twice")
            if entry.flag_bits & 1 or entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise self._wrong(f"{entry.filename} is encrypted or compressed in another way")
            entries[entry.filename] = entry
        limit = max(MAX_RATIO * self.path.stat().st_size, MAX_SMALL_BYTES)
        if sum(entry.file_size for entry in entries.values()) > limit:
            raise self._wrong("its content is far larger than the file")
        return entries

    def _checked_manifest(self) -> form.Manifest:
        entry = self._entries.get(form.MANIFEST)
        if entry is None or entry.file_size > MAX_MANIFEST_BYTES:
            raise self._wrong("it has no manifest.json; storefront exportshop makes archives")
        try:
            manifest = form.parsed(form.Manifest, self._read_all(entry))
        except ValueError:
            raise self._wrong("its manifest.json is not that of an archive of a shop, or of a later release") from None
        if manifest.migrations != form.migrations():
            raise Failed(
                f"The archive was made by another release ({manifest.release}) or with other migrations. Export with"
                " the release that you import with, after storefront migrate."
            )
        expected = {table._meta.label: columns(table) for table in archived_tables()}
        if {label: part.columns for label, part in manifest.tables.items()} != expected:
            raise self._wrong("its tables are not those of this release")
        return manifest

    def _check_sizes(self) -> None:
        parts = {form.entry_of(label): part for label, part in self.manifest.tables.items()}
        for name, part in (parts | {form.FILES: self.manifest.files}).items():
            if name not in self._entries or self._entries[name].file_size != part.size:
                raise self._wrong(f"{name} is missing or not as large as stated")

    def _ids(self, table: Table) -> array:
        """The ids of the rows, which ascend. Empty for a table whose key is that of another one's row."""
        has_own = not table._meta.pk.is_relation
        found = array("q")
        for row in self.rows(table):
            id = row[table._meta.pk.attname]
            if not has_own:
                continue
            if not isinstance(id, int) or not 0 < id < 1 << 62 or (found and id <= found[-1]):
                raise self._wrong(f"the ids of {table._meta.label} do not ascend")
            found.append(id)
        return found

    def _lines(self, entry: str, part: form.Part) -> Iterator[bytes]:
        """The lines of an entry, without their breaks. Raises Failed at the end if they are not those stated."""
        digest, lines = sha256(), 0
        try:
            with self._zip.open(self._entries[entry]) as source:
                while line := source.readline(MAX_LINE_BYTES):
                    if not line.endswith(b"\n"):
                        raise self._wrong(f"{entry} has a line that does not end, or is too long")
                    digest.update(line)
                    lines += 1
                    yield line[:-1]
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError):
            raise self._wrong(f"{entry} cannot be read") from None
        if (lines, digest.hexdigest()) != (part.lines, part.sha256):
            raise self._wrong(f"{entry} was changed after the export")

    def _check_file(self, file: form.File) -> None:
        digest, size = sha256(), 0
        try:
            with self.open_file(file) as content:
                while block := content.read(_BLOCK):
                    digest.update(block)
                    size += len(block)
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError):
            raise self._wrong(f"the file {file.name} cannot be read") from None
        if (size, digest.hexdigest()) != (file.size, file.sha256):
            raise self._wrong(f"the file {file.name} was changed after the export")

    def _check_name(self, file: form.File) -> None:
        parts = PurePosixPath(file.name).parts
        is_odd = "\\" in file.name or "\0" in file.name or str(PurePosixPath(*parts)) != file.name
        if is_odd or len(parts) < 2 or parts[0] not in FOLDERS[file.storage]:
            raise self._wrong(f"the file {file.name!r} is not in a folder of a shop's files")
        if file.storage == "pictures" and content_type(file.name) not in SHOWN_TYPES:
            raise self._wrong(f"the file {file.name!r} is not a picture")

    def _read_all(self, entry: zipfile.ZipInfo) -> bytes:
        try:
            with self._zip.open(entry) as source:
                return source.read(MAX_MANIFEST_BYTES + 1)
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError):
            raise self._wrong(f"{entry.filename} cannot be read") from None

    def _wrong(self, why: str) -> Failed:
        return Failed(f"{self.path} is no archive of a shop, or is damaged: {why}. Nothing was changed.")
