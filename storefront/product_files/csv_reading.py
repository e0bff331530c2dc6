"""Reads CSV files: detects encoding, separator and header, and continues after malformed rows."""

import codecs
import csv
import io
import re
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from storefront.kit.refusals import Refusal
from storefront.kit.spreadsheets import unescape_formulas
from storefront.product_files.parsed_products import Failure, Problem

CHUNK_BYTES = 1 << 20
# Maximum length of a row in characters. Otherwise, a quote that is never closed would swallow the rest of the file.
LARGEST_ROW = 1 << 20
SEPARATORS = (",", ";", "\t", "|")
# The csv module's own limit is per process and lower; the maximum above is checked while feeding it.
csv.field_size_limit(max(csv.field_size_limit(), 4 * LARGEST_ROW))
_LONE_BYTE = re.compile("[\udc80-\udcff]")
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")


class UnreadableFile(Refusal):
    """The file as a whole cannot be imported; the message says what was expected."""

    status, code = 422, "unreadable_file"
    message = "The file cannot be read."


@dataclass(slots=True)
class Row:
    line: int
    values: list[str]


def encoding_of(path: Path) -> str:
    """The file's encoding, from its BOM or else guessed from its bytes. Raises UnreadableFile."""
    with path.open("rb") as file:
        start = file.read(4096)
        if not start.strip():
            raise UnreadableFile("The file is empty; expected a header row followed by products.")
        if start.startswith(codecs.BOM_UTF8):
            return "utf-8-sig"
        if start.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
            return "utf-32"
        if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            return "utf-16"
        if b"\0" in start and (wide := _wide_encoding(start)):
            return wide
        file.seek(0)
        return _narrow_encoding(file)


def _wide_encoding(start: bytes) -> str | None:
    """UTF-16 without a BOM: its separators and line ends have zero bytes at either even or odd positions only."""
    even, odd = start[::2].count(0), start[1::2].count(0)
    if max(even, odd) > 10 * min(even, odd) and max(even, odd) > len(start) // 8:
        return "utf-16-le" if odd > even else "utf-16-be"
    if even + odd > len(start) // 100 + 1:
        raise UnreadableFile("The file is not text; expected a CSV file in UTF-8.")
    return None


def _narrow_encoding(file: io.BufferedIOBase | io.BufferedReader) -> str:
    decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
    broken = sound = 0
    while chunk := file.read(CHUNK_BYTES):
        if chunk.isascii():
            continue
        text = decoder.decode(chunk)
        invalid = len(_LONE_BYTE.findall(text))
        broken += invalid
        sound += len(_NOT_ASCII.findall(text)) - invalid
    if broken > sound:
        return "cp1252"
    return "utf-8"


class Table:
    """One CSV file: its header, and the rows below it with the number of the line on which each starts."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.encoding = encoding_of(path)
        self.size = path.stat().st_size
        self.separator = ","
        self.headers: list[str] = []
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

    def _header_text(self) -> tuple[int, int, str]:
        """(first line, last line, text) of the header: the first line with content, continued while a quote is open."""
        header, start, number = "", 0, 0
        for number, line in self.lines():
            if not header and (not line.strip("\ufeff \t\r\n,;|") or line.lower().startswith("sep=")):
                continue
            start = start or number
            header += line
            if header.count('"') % 2 == 0 or len(header) > LARGEST_ROW:
                break
        if not header:
            raise UnreadableFile("The file is empty; expected a header row followed by products.")
        return start, number, header

    def start(self) -> str:
        """The first thousand characters of the file, without BOM and blank lines."""
        with self.path.open("rb") as raw:
            return raw.read(4000).decode(self.encoding, "replace").lstrip("\ufeff \t\r\n")[:1000]

    def lines(self) -> Iterator[tuple[int, str]]:
        """Every line of the file with its number, from 1."""
        errors = "surrogateescape" if self.encoding.startswith("utf-8") else "strict"
        with self.path.open("rb") as raw:
            self._file = raw
            try:
                yield from enumerate(io.TextIOWrapper(raw, encoding=self.encoding, errors=errors, newline=""), 1)
            except UnicodeError:
                raise UnreadableFile("The file is neither UTF-8, UTF-16 nor Windows-1252; expected UTF-8.") from None
            finally:
                self._file = None

    def position(self) -> int:
        """Bytes read so far, for a progress bar."""
        return self._file.tell() if self._file else 0

    def rows(self) -> Iterator[Row | Failure]:
        """Every row that is not blank, with trimmed values. Yields a Failure for a malformed row and continues."""
        lines = self.lines()
        for number, _ in lines:
            if number == self._header_end:
                break
        feed = _LineFeed(lines)
        while (yield from self._rows_until_malformed(feed)):
            pass

    def _rows_until_malformed(self, feed: "_LineFeed") -> Generator[Row | Failure, None, bool]:
        """Returns True after a malformed row: its Failure was yielded, and the lines after its first are read again."""
        width = len(self.headers)
        # Strict: otherwise, a misplaced quotation mark would join rows unnoticed.
        reader = csv.reader(feed, delimiter=self.separator, strict=True)
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
            if len(cleaned) == width and not feed.overrun:
                line = feed.consumed[0][0]
                feed.accept()
                if any(cleaned):
                    yield Row(line, unescape_formulas(cleaned))
            elif any(cleaned) or feed.has_quotes:
                yield self._failure(feed, len(values))
                feed.retry()
                return True
            else:
                feed.accept()

    def _failure(self, feed: "_LineFeed", width: int) -> Failure:
        reason = f"the row has {width} columns, but the header has {len(self.headers)}"
        if not width or feed.overrun or len(feed.consumed) > 1:
            reason = "a quotation mark is missing or one too many, so the row cannot be told from those below it"
        return Failure([Problem(feed.consumed[0][0], "", reason)])


@dataclass(slots=True)
class _LineFeed:
    """Feeds lines to the CSV reader, and can repeat all but the first line of a malformed row."""

    source: Iterator[tuple[int, str]]
    consumed: list[tuple[int, str]] = field(default_factory=list)
    repeated: list[tuple[int, str]] = field(default_factory=list)
    size: int = 0
    overrun: bool = False

    def __iter__(self) -> "_LineFeed":
        return self

    def __next__(self) -> str:
        if self.size > LARGEST_ROW:
            # Ends the reader, which then returns the row so far.
            self.overrun = True
            raise StopIteration
        numbered = self.repeated.pop() if self.repeated else next(self.source)
        self.consumed.append(numbered)
        self.size += len(numbered[1])
        return numbered[1]

    @property
    def has_quotes(self) -> bool:
        """Whether the consumed lines have a quotation mark. Without one, a row can only have too few or many values."""
        return any('"' in text for _, text in self.consumed)

    def accept(self) -> None:
        self.consumed.clear()
        self.size, self.overrun = 0, False

    def retry(self) -> None:
        self.repeated.extend(reversed(self.consumed[1:]))
        self.accept()


def _split(text: str, separator: str) -> list[str]:
    try:
        values = next(csv.reader(io.StringIO(text, newline=""), delimiter=separator), [])
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
    return " ".join(header.replace("\u2019", "'").replace("\u00a0", " ").replace("\u202f", " ").casefold().split())
