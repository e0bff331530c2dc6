"""Reads CSV files that the admin imports completely or not at all, and reports the problems of their lines."""

import csv
import io
from collections.abc import Callable, Iterable, Sequence

from django.utils.translation import gettext as _

from storefront.kit.files.spreadsheets import unescape_formulas
from storefront.kit.refusals import Refusal

MAX_FILE_BYTES = 1024 * 1024
MAX_LINES = 10_000
SHOWN_PROBLEMS = 50

# A line's number in the file, and its cells.
Line = tuple[int, list[str]]


class UnusableTable(Refusal):
    """The file was not imported. `sentences` are problems that begin with the number of their line."""

    code = "unusable_table"

    def __init__(self, sentences: list[str]) -> None:
        super().__init__(_("Nothing was imported."))
        self.sentences = sentences


class WrongLine(ValueError):
    """A problem with a line, as a sentence."""


def read_table(
    content: bytes, columns: Sequence[str], optional: Sequence[str] = (), *, max_bytes: int = MAX_FILE_BYTES
) -> tuple[list[Line], bool]:
    """Read the lines without the header and empty ones, with a cell for each of the columns. Also returns True if
    numbers can have a decimal comma, because commas do not separate cells. The `optional` columns, among `columns`, can
    be missing: their cells are empty. Raises UnusableTable."""
    if len(content) > max_bytes:
        raise UnusableTable([_("The file is larger than %(size)s MiB.") % {"size": max_bytes // 1024**2}])
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UnusableTable([_("The file is not UTF-8. In a spreadsheet, save it as “CSV UTF-8”.")]) from None
    header = text.partition("\n")[0]
    separator = max(",;\t", key=header.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    lines: list[Line] = []
    try:
        for cells in reader:
            lines.append((reader.line_num, [cell.strip() for cell in unescape_formulas(cells)]))
    except csv.Error as error:
        raise UnusableTable(
            [_("Line %(number)s: not CSV (%(error)s).") % {"number": reader.line_num, "error": error}]
        ) from None
    found = [cell.casefold() for cell in lines[0][1]] if lines else []
    if found != [name for name in columns if name in found or name not in optional]:
        raise UnusableTable([_("Line 1: the columns must be: %(columns)s.") % {"columns": ", ".join(columns)}])
    # Besides the header.
    if len(lines) > MAX_LINES + 1:
        raise UnusableTable([_("The file has more than %(most)s lines.") % {"most": f"{MAX_LINES:,}"}])
    return [(number, _completed(cells, found, columns)) for number, cells in lines[1:] if any(cells)], separator != ","


def read_each(lines: Iterable[Line], read: Callable[[int, list[str]], None]) -> None:
    """Read each line. Raises UnusableTable with the problems of all lines that `read` refused (WrongLine)."""
    problems = []
    for number, cells in lines:
        try:
            read(number, cells)
        except WrongLine as wrong:
            problems.append(_("Line %(number)s: %(wrong)s") % {"number": number, "wrong": wrong})
    if problems:
        more = len(problems) - SHOWN_PROBLEMS
        raise UnusableTable(
            problems[:SHOWN_PROBLEMS] + ([_("And %(more)s more.") % {"more": f"{more:,}"}] if more > 0 else [])
        )


def _completed(cells: list[str], found: list[str], columns: Sequence[str]) -> list[str]:
    """The cells in the order of all columns. A line of the wrong length is not changed; its reader refuses it."""
    if len(cells) != len(found) or len(found) == len(columns):
        return cells
    given = dict(zip(found, cells, strict=True))
    return [given.get(name, "") for name in columns]
