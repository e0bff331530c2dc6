"""Opens a product file: detects its format and encoding, and collects notes about the file as a whole."""

from collections.abc import Callable, Collection, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Protocol
from zipfile import BadZipFile, ZipFile

from django.utils.translation import gettext as _

from storefront.product_files.cleared import Headers
from storefront.product_files.csv_reading import Table, UnreadableFile
from storefront.product_files.mapped.mapping import Mapping, named
from storefront.product_files.mapped.reader import MappedFormat
from storefront.product_files.native import reader as native_reader
from storefront.product_files.parsed_products import Problem, ReadResult
from storefront.product_files.programs import (
    bigcommerce_v2,
    bigcommerce_v3,
    google,
    matrixify,
    refused,
    square,
    squarespace,
    wix,
)
from storefront.product_files.rows import ColumnIndex, read_numbers
from storefront.product_files.shopify import reader as shopify_reader
from storefront.product_files.shopify import translations
from storefront.product_files.woocommerce import reader as woocommerce_reader
from storefront.product_files.woocommerce.headers import languages
from storefront.shops.models import Shop


class TableFormat(Protocol):
    """A format of tables, CSV files or workbooks: what the module of its reader has."""

    @property
    def EXPECTED(self) -> str:  # noqa: N802, a constant of the module
        """The columns to name to a merchant whose file fits no format."""

    @property
    def NUMBERS(self) -> Collection[str]:  # noqa: N802, a constant of the module
        """The columns that tell the decimal sign."""

    def column_of(self, header: str) -> str | None:
        """The column that a header stands for; None if it is not known."""

    def harmless_values(self, header: str) -> set[str] | None:
        """The values that lose nothing, of a column that is not imported; None if it is imported, or not known."""

    def warnings(self, headers: Sequence[str]) -> Iterator[tuple[str, str]]:
        """(column, reason) for each header to warn about."""

    def recognises(self, columns: Collection[str | None]) -> bool:
        """Whether a file with these columns is of this format."""

    def refusal(self, headers: Sequence[str], columns: Collection[str], *, update: bool) -> str:
        """Why a file of this format is refused nevertheless; empty if it is not."""

    def read(self, table: Table, columns: ColumnIndex, *, shop: Shop, now: datetime) -> Iterator[ReadResult]:
        """Every product of the file, or why it could not be read."""

    def skus(self, table: Table, columns: ColumnIndex, *, of_variants: bool) -> Iterator[str]:
        """The SKUs of all products of the file, or of all variants."""


# Detected from the last to the first: a file of another program has columns that WooCommerce or Shopify has, too.
READERS: dict[str, TableFormat] = {
    "woocommerce": woocommerce_reader,
    "shopify": shopify_reader,
    "google": google.FORMAT,
    "square": square.FORMAT,
    "wix": wix.FORMAT,
    "squarespace": squarespace.FORMAT,
    "bigcommerce": bigcommerce_v3.FORMAT,
    "bigcommerce-v2": bigcommerce_v2.FORMAT,
    "shopify-texts": translations,
    "matrixify": matrixify,
}
# Warnings about headers that are reported.
MAX_WARNINGS = 100
FORMATS = ("auto", *READERS, "native")
MAPPED = "mapped"


class UnknownTable(UnreadableFile):
    """A table of no known format, which can be read by a mapping of its columns. `program` is a sentence about the
    program that it is from, if that is known."""

    def __init__(self, message: str, table: Table, program: str = "") -> None:
        super().__init__(message)
        self.table, self.program = table, program


@dataclass
class OpenedFile:
    """An opened product file. `source` is the one that the file states, if it does. `skus` reads the file once more."""

    format: str
    size: int
    position: Callable[[], int]
    results: Iterator[ReadResult]
    skus: Callable[..., Iterator[str]]
    # Notes about the file as a whole.
    notes: list[Problem]
    source: str = ""
    # The header of each known column.
    headers: Headers = field(default_factory=dict)

    @property
    def has_ids(self) -> bool:
        """Returns True if products can have ids of the program that wrote the file."""
        return self.format == "woocommerce"

    @property
    def has_keys(self) -> bool:
        """Returns True if each product of the format has a key that this shop keeps, too, such as a handle."""
        return self.format in ("woocommerce", "shopify", "shopify-texts", "matrixify", "native")


def open_source(
    file: Path,
    format: str,
    encoding: str = "",
    *,
    sheet: str = "",
    mapping: Mapping | None = None,
    shop: Shop,
    update: bool,
    now: datetime,
) -> OpenedFile:
    """Open the file by its mapping, or with the reader of `format`, which "auto" detects, as is the encoding if none is
    stated. `sheet` names the sheet of a workbook. `update` is true if existing products are to be updated. Raises
    UnreadableFile, and UnknownTable if a mapping can help."""
    if format not in FORMATS:
        raise UnreadableFile(
            _("Unknown format %(format)s; expected one of %(formats)s.")
            % {"format": format, "formats": ", ".join(FORMATS)}
        )
    if not file.is_file():
        raise UnreadableFile(
            _("%(file)s is not a file.") % {"file": file}
            if file.exists()
            else _("There is no file %(file)s.") % {"file": file}
        )
    try:
        table = _table(file, encoding, sheet)
        if mapping is not None:
            return open_mapped(table, mapping, shop=shop, now=now)
        if format == "native" or (format == "auto" and native_reader.recognises(table)):
            return OpenedFile(
                "native",
                table.size,
                table.position,
                native_reader.read(table, shop.currency),
                partial(native_reader.skus, copy(table)),
                table.notes,
            )
        return _open_table(table, format, shop=shop, update=update, now=now)
    except OSError as error:
        raise UnreadableFile(
            _("The file %(file)s cannot be read: %(reason)s.") % {"file": file, "reason": error.strerror}
        ) from None


def open_mapped(table: Table, mapping: Mapping, *, shop: Shop, now: datetime) -> OpenedFile:
    """Open a table by the mapping of its columns. Raises UnreadableFile if the mapping does not fit the table."""
    reader = MappedFormat(mapping)
    table.find_header(reader.column_of)
    table.headers = named(table.headers)
    if problems := mapping.problems(table.headers):
        raise UnreadableFile(_("The mapping does not fit: %(problems)s.") % {"problems": "; ".join(problems)})
    return _opened(table, MAPPED, reader, shop=shop, now=now)


def _table(file: Path, encoding: str, sheet: str) -> Table:
    if is_workbook(file):
        # Imported here, since openpyxl would take 7 MB of memory in every process.
        from storefront.product_files.workbooks import Workbook

        return Workbook(file, sheet)
    if sheet:
        raise UnreadableFile(_("Only an Excel workbook (.xlsx) has sheets."))
    return Table(file, encoding)


def is_workbook(path: Path) -> bool:
    """Returns True for a ZIP archive with the parts of a workbook."""
    try:
        with path.open("rb") as file:
            if file.read(4) != b"PK\x03\x04":
                return False
        with ZipFile(path) as archive:
            return "xl/workbook.xml" in archive.NameToInfo
    except (BadZipFile, NotImplementedError, ValueError):
        return False


def _warnings(table: Table, reader: TableFormat) -> list[Problem]:
    """The warnings about headers, at most MAX_WARNINGS, and then how many columns were not looked at."""
    found = reader.warnings(table.headers)
    reported = [Problem(table.header_line, *each, "warning") for each in islice(found, MAX_WARNINGS)]
    if len(reported) == MAX_WARNINGS:
        reason = _("more than %(count)s columns are not known; the others are not named") % {"count": MAX_WARNINGS}
        reported.append(Problem(table.header_line, "", reason, "warning"))
    return reported


def _columns(table: Table, reader: TableFormat) -> list[tuple[str, str | None]]:
    return [
        (header, reader.column_of(header) if reader.harmless_values(header) is None else None)
        for header in table.headers
    ]


def _open_table(table: Table, format: str, *, shop: Shop, update: bool, now: datetime) -> OpenedFile:
    if format == "auto":
        # The separator with the most columns.
        table.find_header(lambda header: header or None)
        if program := refused.refused_program(table.headers):
            raise UnknownTable(refused.refusal_of(program), table, refused.refusal_of(program))
    tried = [format] if format != "auto" else [*reversed(READERS)]
    for name in tried:
        reader = READERS[name]
        table.find_header(reader.column_of)
        found = _columns(table, reader)
        if reader.recognises({column for _unused, column in found}):
            if refusal := reader.refusal(table.headers, ColumnIndex(found).index, update=update):
                raise UnreadableFile(refusal)
            return _opened(table, name, reader, shop=shop, now=now)
    raise _unknown(table, tried)


def _opened(table: Table, name: str, reader: TableFormat, *, shop: Shop, now: datetime) -> OpenedFile:
    columns = ColumnIndex(_columns(table, reader), shop.language)
    read_numbers(table, columns, reader.NUMBERS)
    results = reader.read(table, columns, shop=shop, now=now)
    # A table of its own, since reading a table once more would change its position.
    skus = partial(reader.skus, copy(table), columns)
    source = woocommerce_reader.stated_source(copy(table), columns) if name == "woocommerce" else ""
    notes = [*table.notes, *_warnings(table, reader)]
    return OpenedFile(name, table.size, table.position, results, skus, notes, source, columns.header)


def _unknown(table: Table, tried: Sequence[str]) -> UnreadableFile:
    expected = _("; or ").join(f"{name}: {READERS[name].EXPECTED}" for name in tried)
    table.find_header(lambda header: header or None)
    beginning = ", ".join(header[:40] for header in table.headers[:6])
    message = _(
        "The header row does not match a supported product file. It begins: %(beginning)s. Expected (%(expected)s). "
        "WooCommerce's headers can be in %(languages)s. Columns of any other table can be mapped: in the admin, or "
        "with --map."
    ) % {"beginning": beginning, "expected": expected, "languages": languages()}
    is_table = sum(map(bool, table.headers)) > 1
    return UnknownTable(message, table) if is_table and len(tried) > 1 else UnreadableFile(message)
