"""Reads Excel workbooks (.xlsx) as tables: the values of one sheet, as a CSV file of them would have.

A workbook is read once, into a temporary file of rows, before anything is imported: what is too large or damaged is
refused as a whole. A ZIP archive states the size of its content, and no more than that is ever unpacked, so the bound
on it is checked before anything is; `workbook_parts.py` has the bounds.
"""

import io
import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import closing
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy
from openpyxl.cell.cell import ERROR_CODES
from openpyxl.utils import get_column_letter
from openpyxl.worksheet._reader import FORMULA_TAG, WorkSheetParser

from storefront.kit.files.spreadsheets import unescape_formulas
from storefront.product_files.csv_reading import MAX_COLUMNS, MAX_ROW_LENGTH, Row, Table, clean_value
from storefront.product_files.encodings import UnreadableFile
from storefront.product_files.number_formats import with_decimal_point
from storefront.product_files.parsed_products import Failure, Notice, Problem
from storefront.product_files.workbook_parts import check_size, read_workbook

# Excel's own bound.
MAX_ROWS = 1_048_576
MAX_SHEETS_NAMED = 10
# A value that a formula has not left in the file.
_NOT_CALCULATED = "#NOT CALCULATED"
_REASONS = dict.fromkeys((*ERROR_CODES, "#SPILL!", "#CALC!"), _lazy("is the error {}, not a value")) | {
    _NOT_CALCULATED: _lazy("is a formula without a value; open the file in a spreadsheet program and save it again")
}
_DAMAGED = _lazy("The Excel workbook is damaged or not one that can be read. Save it again, or save it as CSV UTF-8.")


# (row number, values, reason why they are refused, positions of numbers). The reason is an error of a cell, whose value
# is the last one then, or a phrase; empty for a row that can be read.
_StoredRow = tuple[int, list[str], str, list[int]]


class Workbook(Table):
    """One sheet of a workbook: the one that is named, or the first with a header."""

    def __init__(self, path: Path, sheet: str = "") -> None:
        """Raises UnreadableFile."""
        self.path, self.encoding, self.separator = path, "utf-8", ""
        self.notes: list[Problem] = []
        self.headers: list[str] = []
        self.stated_headers: list[str] = []
        self.comma_columns: list[int] = []
        self._file: io.BufferedReader | None = None
        check_size(path)
        self._rows = tempfile.TemporaryFile()  # noqa: SIM115, closed when the last copy of the table is freed
        try:
            self._store(sheet)
        except (UnreadableFile, MemoryError, OSError):
            raise
        except Exception:
            raise UnreadableFile(_DAMAGED) from None
        self._rows.flush()
        self.size = self._rows.tell()
        first = next(self._stored(), None)
        if first is None:
            raise UnreadableFile(_("The workbook is empty; expected a header row followed by products."))
        self.header_line, self._header, problem, _unused = first
        if problem:
            raise UnreadableFile(
                _("The header row, line %(header_line)s, has %(problem)s, which is not a header.")
                % {"header_line": self.header_line, "problem": problem}
            )

    def _store(self, name: str) -> None:
        with self.path.open("rb") as file, closing(read_workbook(file)) as book:
            sheets = [each for each in book.worksheets if each.sheet_state == "visible"]
            if name:
                chosen = next((each for each in book.worksheets if each.title == name), None)
                if chosen is None:
                    names = ", ".join(each.title for each in book.worksheets[:MAX_SHEETS_NAMED])
                    raise UnreadableFile(
                        _("The workbook has no sheet %(value)s; it has %(names)s.")
                        % {"value": name[:40], "names": names}
                    )
            else:
                filled = [each for each in sheets if _has_header(each)]
                chosen = next(iter(filled or sheets or book.worksheets), None)
                if len(filled) > 1 and chosen is not None:
                    reason = f"Only the sheet {chosen.title} was read; the others are not imported."
                    self.notes.append(Problem(1, "", reason, "note"))
            if chosen is not None:
                for row in _rows_of(chosen):
                    self._rows.write(json.dumps(row).encode() + b"\n")

    def _stored(self) -> Iterator[_StoredRow]:
        """Every row that is not blank."""
        with io.BufferedReader(_At(self._rows.fileno())) as file:
            self._file = file  # type: ignore[assignment]
            try:
                for text in file:
                    yield json.loads(text)
            finally:
                self._file = None

    def find_header(self, column_of: Any) -> None:
        """Set the header, which does not depend on the columns that are known."""
        self.headers = self.stated_headers = [clean_value(value) for value in self._header]

    def start(self) -> str:
        return ""

    def lines(self) -> Iterator[tuple[int, str]]:
        raise UnreadableFile(_("This is an Excel workbook; expected JSON Lines, one product a line."))

    def rows(self) -> Iterator[Row | Failure | Notice]:
        """Every row below the header that is not blank, with the row's number in the sheet."""
        width = len(self.headers)
        stored = self._stored()
        next(stored, None)
        for line, values, problem, exact in stored:
            cleaned = [clean_value(value) for value in values]
            if problem:
                column = _column(self.headers, values, problem)
                reason = _REASONS[problem].format(problem) if problem in _REASONS else problem
                yield Failure([Problem(line, column, reason)])
            elif len(cleaned) > width:
                reason = _("the row has %(count)s columns, but the header has %(width)s") % {
                    "count": len(cleaned),
                    "width": width,
                }
                yield Failure([Problem(line, "", reason)])
            elif cleaned == self.stated_headers:
                yield Notice(Problem(line, "", _("repeats the header row; skipped"), "warning"))
            else:
                cleaned += [""] * (width - len(cleaned))
                found = unescape_formulas(cleaned)
                for position in self.comma_columns:
                    if position not in exact:
                        found[position] = with_decimal_point(found[position])
                yield Row(line, found, exact)


class _At(io.RawIOBase):
    """Reads a file from its beginning without moving its position, which copies and other processes share."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor, self.offset = descriptor, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self.offset

    def readinto(self, buffer: Any) -> int:
        content = os.pread(self.descriptor, len(buffer), self.offset)
        buffer[: len(content)] = content
        self.offset += len(content)
        return len(content)


class _Cells(WorkSheetParser):
    """The cells of a sheet, with a sign for formulas whose values are not in the file."""

    def parse_cell(self, element: Any) -> dict[str, Any]:
        cell = super().parse_cell(element)
        if cell["value"] is None and element.find(FORMULA_TAG) is not None:
            cell["value"] = _NOT_CALCULATED
        return cell


def _parsed_rows(sheet: Any) -> Iterator[tuple[int, list[dict[str, Any]]]]:
    book = sheet.parent
    with sheet._get_source() as source:
        parser = _Cells(
            source,
            sheet._shared_strings,
            data_only=True,
            epoch=book.epoch,
            date_formats=book._date_formats,
            timedelta_formats=book._timedelta_formats,
        )
        yield from parser.parse()


def _has_header(sheet: Any) -> bool:
    """Returns True if the first row that is not blank has several values."""
    filled = (sum(_text(cell["value"]) != "" for cell in cells) for _unused, cells in _parsed_rows(sheet))
    return next((count for count in filled if count), 0) > 1


def _rows_of(sheet: Any) -> Iterator[_StoredRow]:
    """Every row of the sheet that is not blank."""
    for count, (line, cells) in enumerate(_parsed_rows(sheet)):
        if count >= MAX_ROWS or line > MAX_ROWS:
            raise UnreadableFile(
                _("The sheet %(title)s has more than %(most)s rows. Split it.")
                % {"title": sheet.title, "most": f"{MAX_ROWS:,}"}
            )
        values: dict[int, str] = {}
        for cell in cells:
            if text := _text(cell["value"]):
                values[cell["column"]] = text
        if not values:
            continue
        width = max(values)
        reason = ""
        if width > MAX_COLUMNS:
            reason = _("has a value in column %(width)s; at most %(most)s columns are read") % {
                "width": get_column_letter(width),
                "most": f"{MAX_COLUMNS:,}",
            }
        elif sum(map(len, values.values())) > MAX_ROW_LENGTH:
            reason = _("the row is longer than %(most)s characters") % {"most": f"{MAX_ROW_LENGTH:,}"}
        if reason:
            yield line, [], reason, []
            continue
        end = next((column for column in sorted(values) if values[column] in _REASONS), width)
        row = [values.get(column, "") for column in range(1, end + 1)]
        numbers = [cell["column"] - 1 for cell in cells if isinstance(cell["value"], float)]
        yield line, row, row[-1] if row[-1] in _REASONS else "", numbers


def _column(headers: list[str], values: list[str], problem: str) -> str:
    """The header of the cell with the error, which is the last of the values."""
    if problem not in _REASONS:
        return ""
    position = len(values) - 1
    return headers[position] if position < len(headers) and headers[position] else get_column_letter(position + 1)


def _text(value: Any) -> str:
    """The value as a CSV file has it. Numbers have the 15 digits that a spreadsheet shows, so that a price of 9.99 is
    not 9.9900000000000002."""
    match value:
        case None:
            return ""
        case bool():
            return str(value).upper()
        case float():
            return format(Decimal(format(value, ".15g")), "f")
        case datetime() if value.time() == time():
            return value.date().isoformat()
        case datetime() | date() | time():
            return value.isoformat()
        case timedelta() | int():
            return str(value)
        case _:
            return str(value).strip()
