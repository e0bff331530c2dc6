"""Reads CSV files: detects separator and header, and continues after malformed rows."""

import csv
import html
import io
import re
from collections.abc import Callable, Collection, Generator, Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

from django.utils.text import format_lazy
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from storefront.kit.files.spreadsheets import unescape_formulas
from storefront.product_files.encodings import UnreadableFile, checked_encoding, encoding_of, usual_name
from storefront.product_files.number_formats import with_decimal_point
from storefront.product_files.parsed_products import Failure, Notice, Problem

# Maximum length of a row in characters. Otherwise, a quote that is never closed would swallow the rest of the file.
MAX_ROW_LENGTH = 1 << 20
# Maximum length of a line in characters: what is longer is not read into memory.
MAX_LINE_LENGTH = 4 << 20
TOO_LONG = format_lazy(_lazy("the line is longer than {most} characters"), most=f"{MAX_LINE_LENGTH:,}")
MAX_COLUMNS = 2_000
# How often the lines of a file are read again on average, when rows are malformed. Beyond that, a row ends with its
# line: otherwise, a file in which each line begins a row that never ends would take time by the square of its size.
MAX_READ_AGAIN = 4
SEPARATORS = (",", ";", "\t", "|")
# The csv module's own limit is per process and lower; the maximum above is checked while feeding it.
csv.field_size_limit(max(csv.field_size_limit(), MAX_LINE_LENGTH))


@dataclass(slots=True)
class Row:
    line: int
    values: list[str]
    # Positions of numbers whose decimal sign is known, since they are numbers in the file.
    exact: Collection[int] = ()


@dataclass(frozen=True, slots=True)
class BrokenRow(Failure):
    """A row that cannot be read. `cells` are its values as far as they are known, those of its first line if a
    quotation mark is missing. `begins_row` is False if its first line may continue a row above that is broken itself.
    """

    line: int = 0
    cells: tuple[str, ...] = ()
    begins_row: bool = True

    def cell(self, position: int | None) -> str:
        return self.cells[position] if position is not None and position < len(self.cells) else ""


class Table:
    """One CSV file: its header, and the rows below it with the number of the line on which each starts.

    `notes` are remarks on the file for the import's report.
    """

    def __init__(self, path: Path, encoding: str = "") -> None:
        """Takes the encoding that was stated, or none to detect it. Raises UnreadableFile."""
        self.path = path
        self.notes: list[Problem] = []
        self.encoding, is_guessed = encoding_of(path)
        if encoding:
            self.encoding = checked_encoding(encoding)
        elif is_guessed:
            reason = _("Read as %(encoding)s. If texts look wrong, state the encoding.") % {
                "encoding": usual_name(self.encoding)
            }
            self.notes.append(Problem(1, "", reason, "note"))
        self.size = path.stat().st_size
        self.separator = ","
        self.headers: list[str] = []
        # The header row itself, where `headers` have other names.
        self.stated_headers: list[str] = []
        # Positions of columns in which 1.234 and 1,234 are numbers with a decimal comma.
        self.comma_columns: list[int] = []
        self.header_line = self._header_end = 1
        self._file: io.BufferedReader | None = None

    def find_header(self, column_of: Callable[[str], str | None]) -> None:
        """Set separator and header, using the separator with which `column_of` recognises the most columns."""
        self.header_line, self._header_end, text = self._header_text()
        splits = {separator: _split(text, separator) for separator in SEPARATORS}
        self.separator = max(
            SEPARATORS, key=lambda separator: sum(column_of(header) is not None for header in splits[separator])
        )
        self.headers = splits[self.separator]
        while self.headers and not self.headers[-1]:
            self.headers.pop()
        self.stated_headers = self.headers
        if len(self.headers) > MAX_COLUMNS:
            raise UnreadableFile(
                _("The header row has %(count)s columns; at most %(most)s are allowed.")
                % {"count": f"{len(self.headers):,}", "most": f"{MAX_COLUMNS:,}"}
            )

    def _header_text(self) -> tuple[int, int, str]:
        """(first line, last line, text) of the header: the first line with content, continued while a quote is open."""
        header: list[str] = []
        start = number = quotes = length = 0
        for number, line in self.lines():
            if not header and (not line.strip("\ufeff \t\r\n,;|") or line.lower().startswith("sep=")):
                continue
            start = start or number
            header.append(line)
            quotes, length = quotes + line.count('"'), length + len(line)
            if quotes % 2 == 0 or length > MAX_ROW_LENGTH:
                break
        if not header:
            raise UnreadableFile(_("The file is empty; expected a header row followed by products."))
        return start, number, "".join(header)

    def start(self) -> str:
        """The first thousand characters of the file, without BOM and blank lines."""
        with self.path.open("rb") as raw:
            return raw.read(4000).decode(self.encoding, "replace").lstrip("\ufeff \t\r\n")[:1000]

    def lines(self) -> Iterator[tuple[int, str]]:
        """Every line of the file with its number, from 1. Of a line that is too long come the first MAX_LINE_LENGTH
        characters."""
        errors = "surrogateescape" if self.encoding.startswith("utf-8") else "strict"
        with self.path.open("rb") as raw:
            self._file = raw
            try:
                text = io.TextIOWrapper(raw, encoding=self.encoding, errors=errors, newline="")
                for number in count(1):
                    line = text.readline(MAX_LINE_LENGTH)
                    if not line:
                        break
                    yield number, line
                    while is_cut(line):
                        line = text.readline(MAX_LINE_LENGTH)
            except UnicodeError:
                raise UnreadableFile(
                    _("The file is not %(encoding)s throughout. Save it as CSV UTF-8, or state its encoding.")
                    % {"encoding": usual_name(self.encoding)}
                ) from None
            finally:
                self._file = None

    def position(self) -> int:
        """Bytes read so far, for a progress bar."""
        return self._file.tell() if self._file else 0

    def rows(self) -> Iterator[Row | Failure | Notice]:
        """Every row that is not blank, with trimmed values. A row without its last cells, as Excel writes it, has empty
        ones. Yields a BrokenRow for a malformed row, and a Notice for one that repeats the header, and continues."""
        lines = self.lines()
        for number, _unused in lines:
            if number == self._header_end:
                break
        blank = " " if self.separator == "\t" else " \t"
        feed = _LineFeed(lines, re.compile(rf'"[{blank}]+(?={re.escape(self.separator)}|\r?\n?\Z)'))
        feed.fewest_cells = len(self.headers)
        while (yield from self._rows_until_malformed(feed)):
            pass

    def _rows_until_malformed(self, feed: "_LineFeed") -> Generator[Row | Failure | Notice, None, bool]:
        """Returns True after a malformed row: its Failure was yielded, and the lines after its first are read again."""
        width = len(self.headers)
        # Strict: otherwise, a misplaced quotation mark would join rows unnoticed.
        reader = csv.reader(feed, delimiter=self.separator, strict=True, skipinitialspace=True)
        while True:
            try:
                values = next(reader)
            except StopIteration:
                return False
            except csv.Error:
                values = []
            cleaned = [clean_value(value) for value in values]
            while len(cleaned) > width and not cleaned[-1]:
                cleaned.pop()
            if not feed.overrun and (len(cleaned) == width or self._is_short(cleaned, feed)):
                line = feed.consumed[0][0]
                feed.accept()
                if cleaned == self.stated_headers:
                    yield Notice(Problem(line, "", _("repeats the header row; skipped"), "warning"))
                elif any(cleaned):
                    feed.is_unclear, feed.fewest_cells = False, min(feed.fewest_cells, len(cleaned))
                    cleaned += [""] * (width - len(cleaned))
                    yield Row(line, self._with_points(unescape_formulas(cleaned)))
            elif any(cleaned) or feed.has_quotes:
                yield self._broken(feed, cleaned)
                feed.retry()
                return True
            else:
                feed.accept()

    def _is_short(self, cells: list[str], feed: "_LineFeed") -> bool:
        """Returns True for a row that only lacks its last cells. Below a row with a misplaced quotation mark, a line
        with fewer cells than any row may be the rest of a text. A text whose lines have separators without a blank
        after them may have swallowed rows, up to the next quotation mark."""
        if not any(cells) or len(cells) >= len(self.headers) or (feed.is_unclear and len(cells) < feed.fewest_cells):
            return False
        return len(feed.consumed) == 1 or not any(
            len(re.findall(rf"{re.escape(self.separator)}(?! )", line)) >= max(position, 1)
            for position, cell in enumerate(cells)
            for line in cell.split("\n")[1:]
        )

    def _with_points(self, values: list[str]) -> list[str]:
        for position in self.comma_columns:
            values[position] = with_decimal_point(values[position])
        return values

    def _broken(self, feed: "_LineFeed", cells: list[str]) -> BrokenRow:
        line, text = feed.consumed[0]
        reason = _("the row has %(count)s columns, but the header has %(expected)s") % {
            "count": len(cells),
            "expected": len(self.headers),
        }
        if not cells or feed.overrun or len(feed.consumed) > 1:
            reason = _("a quotation mark is missing or there is one too many, so it is unclear where the row ends")
            cells = [clean_value(cell).strip('"') for cell in text[:MAX_ROW_LENGTH].split(self.separator, MAX_COLUMNS)]
        elif len(cells) < len(self.headers):
            reason = _("%(reason)s, below a row whose end is unclear") % {"reason": reason}
        if is_cut(feed.consumed[-1][1]):
            reason = str(TOO_LONG)
        return BrokenRow([Problem(line, "", reason)], line, tuple(unescape_formulas(cells)), not feed.is_unclear)


@dataclass(slots=True)
class _LineFeed:
    """Feeds lines to the CSV reader, and can repeat all but the first line of a malformed row.

    `padding` is the blank space after a quotation mark at the end of a value, which the CSV reader would refuse.
    """

    source: Iterator[tuple[int, str]]
    padding: re.Pattern[str]
    consumed: list[tuple[int, str]] = field(default_factory=list)
    repeated: list[tuple[int, str]] = field(default_factory=list)
    size: int = 0
    overrun: bool = False
    # Characters given to the reader, and those that came from the source.
    given: int = 0
    taken: int = 0
    # True if the lines so far end within quotation marks.
    in_quotes: bool = False
    # True below a row with a misplaced quotation mark, until a row is read.
    is_unclear: bool = False
    # The cells of the shortest row so far.
    fewest_cells: int = 0

    def __iter__(self) -> "_LineFeed":
        return self

    def __next__(self) -> str:
        if self.size > MAX_ROW_LENGTH or (self.consumed and self.is_slow):
            # Makes the reader return the row so far.
            self.overrun = True
            raise StopIteration
        numbered = self._next_line()
        self.consumed.append(numbered)
        self.size += len(numbered[1])
        self.given += len(numbered[1])
        return self._without_padding(numbered[1]) if '"' in numbered[1] else numbered[1]

    @property
    def is_slow(self) -> bool:
        """Returns True while lines have been read again so often that rows have to end with their line."""
        return self.given > MAX_READ_AGAIN * self.taken + MAX_ROW_LENGTH

    def _next_line(self) -> tuple[int, str]:
        if self.repeated:
            return self.repeated.pop()
        numbered = next(self.source)
        self.taken += len(numbered[1])
        if is_cut(numbered[1]):
            self.overrun = True
        return numbered

    def _without_padding(self, text: str) -> str:
        in_quotes, end = self.in_quotes, 0
        self.in_quotes ^= text.count('"') % 2 == 1
        if not self.padding.search(text):
            return text

        def trim(found: re.Match[str]) -> str:
            nonlocal in_quotes, end
            in_quotes ^= text.count('"', end, found.end()) % 2 == 1
            end = found.end()
            # Blank space after a mark that begins a value belongs to the value.
            return found[0] if in_quotes else '"'

        return self.padding.sub(trim, text)

    @property
    def has_quotes(self) -> bool:
        """Returns True if the consumed lines have a quotation mark. A row without one can only have too many values."""
        return any('"' in text for _unused, text in self.consumed)

    def accept(self) -> None:
        self.consumed.clear()
        self.size, self.overrun, self.in_quotes = 0, False, False

    def retry(self) -> None:
        self.is_unclear = self.is_unclear or self.has_quotes
        self.repeated.extend(reversed(self.consumed[1:]))
        self.accept()


def is_cut(line: str) -> bool:
    """Returns True for a line of which only the beginning was read."""
    return len(line) == MAX_LINE_LENGTH and line[-1] not in "\r\n"


def _split(text: str, separator: str) -> list[str]:
    try:
        source = io.StringIO(text, newline="")
        values = next(csv.reader(source, delimiter=separator, skipinitialspace=True), [])
    except csv.Error:
        return []
    return [clean_value(value) for value in values]


def clean_value(value: str) -> str:
    """A value without padding, stray BOMs and Windows line ends."""
    if "\ufeff" in value:
        value = value.replace("\ufeff", "")
    if "\r" in value:
        value = value.replace("\r\n", "\n").replace("\r", "\n")
    return value.strip()


def normalised_header(header: str) -> str:
    """A header for comparison: case-folded, with plain spaces and apostrophes."""
    plain = html.unescape(header).replace("\u2019", "'").replace("\u00a0", " ").replace("\u202f", " ")
    return " ".join(plain.casefold().split())
