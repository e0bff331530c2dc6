"""Reads files of separated cells: finds out encoding, separator and header, and survives rows that are broken."""

import codecs
import csv
import io
import re
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from storefront.catalogue.incoming import Failure, Problem
from storefront.kit.refusals import Refusal

CHUNK = 1 << 20
# Characters that one row may have. A quote that is never closed would otherwise swallow the rest of the file.
LARGEST_ROW = 1 << 20
SEPARATORS = (",", ";", "\t", "|")
# The csv module's own limit is per process and lower; ours is checked while feeding it.
csv.field_size_limit(max(csv.field_size_limit(), 4 * LARGEST_ROW))
_LONE_BYTE = re.compile("[\udc80-\udcff]")
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")


class UnreadableFile(Refusal):
    """The file as such cannot be imported; the message says what was expected."""

    status, code = 422, "unreadable_file"
    message = "The file cannot be read."


@dataclass(slots=True)
class Row:
    line: int
    cells: list[str]


def encoding_of(path: Path) -> str:
    """The file's encoding: by its BOM, else by what its bytes can be. Raises UnreadableFile."""
    with path.open("rb") as file:
        start = file.read(4096)
        if not start.strip():
            raise UnreadableFile("The file is empty; expected a header line and products below it.")
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
    """UTF-16 without a BOM: its separators and line ends have a zero byte in every other place, and only there."""
    even, odd = start[::2].count(0), start[1::2].count(0)
    if max(even, odd) > 10 * min(even, odd) and max(even, odd) > len(start) // 8:
        return "utf-16-le" if odd > even else "utf-16-be"
    if even + odd > len(start) // 100 + 1:
        raise UnreadableFile("The file is not text; expected a CSV file in UTF-8.")
    return None


def _narrow_encoding(file: io.BufferedIOBase | io.BufferedReader) -> str:
    decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
    broken = sound = 0
    while chunk := file.read(CHUNK):
        if chunk.isascii():
            continue
        text = decoder.decode(chunk)
        bad = len(_LONE_BYTE.findall(text))
        broken += bad
        sound += len(_NOT_ASCII.findall(text)) - bad
    if broken > sound:
        return "cp1252"
    return "utf-8"


class Table:
    """The rows under the header of one file, each with the number of the line it starts on."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.encoding = encoding_of(path)
        self.size = path.stat().st_size
        self.separator = ","
        self.headers: list[str] = []
        self.header_line = self._header_end = 1
        self._file: io.BufferedReader | None = None

    def find_header(self, known: Callable[[str], str | None]) -> None:
        """Settle separator and header: the split in which `known` knows the most columns."""
        self.header_line, self._header_end, text = self._header_text()
        splits = {separator: _split(text, separator) for separator in SEPARATORS}
        self.separator = max(
            SEPARATORS, key=lambda separator: sum(known(header) is not None for header in splits[separator])
        )
        self.headers = splits[self.separator]
        while self.headers and not self.headers[-1]:
            self.headers.pop()

    def _header_text(self) -> tuple[int, int, str]:
        """The first line with anything in it, with those that an open quotation mark adds to it."""
        taken, start, number = "", 0, 0
        for number, line in self.lines():
            if not taken and (not line.strip("\ufeff \t\r\n,;|") or line.lower().startswith("sep=")):
                continue
            start = start or number
            taken += line
            if taken.count('"') % 2 == 0 or len(taken) > LARGEST_ROW:
                break
        if not taken:
            raise UnreadableFile("The file is empty; expected a header line and products below it.")
        return start, number, taken

    def start(self) -> str:
        """The first thousand characters, without BOM and blank lines."""
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
        """How many bytes have been read, for a progress bar."""
        return self._file.tell() if self._file else 0

    def rows(self) -> Iterator[Row | Failure]:
        """Every row that is not blank, its cells trimmed; a broken one as a Failure, after which reading goes on."""
        lines = self.lines()
        for number, _ in lines:
            if number == self._header_end:
                break
        feed = _Feed(lines)
        while (yield from self._rows_until_broken(feed)):
            pass

    def _rows_until_broken(self, feed: "_Feed") -> Generator[Row | Failure, None, bool]:
        """True where a broken row was met: it has been named and the lines after its first are to be read again."""
        width = len(self.headers)
        # Strict, since a quotation mark in the wrong place would otherwise join rows without anybody noticing.
        reader = csv.reader(feed, delimiter=self.separator, strict=True)
        while True:
            try:
                cells = next(reader)
            except StopIteration:
                return False
            except csv.Error:
                cells = []
            cleaned = [clean(cell) for cell in cells]
            while len(cleaned) > width and not cleaned[-1]:
                cleaned.pop()
            if len(cleaned) == width and not feed.overrun:
                line = feed.taken[0][0]
                feed.settle()
                if any(cleaned):
                    yield Row(line, cleaned)
            elif any(cleaned) or feed.in_quotes:
                yield self._broken(feed, len(cells))
                feed.retry()
                return True
            else:
                feed.settle()

    def _broken(self, feed: "_Feed", width: int) -> Failure:
        reason = f"the row has {width} cells, the header {len(self.headers)}"
        if not width or feed.overrun or len(feed.taken) > 1:
            reason = "a quotation mark is missing or one too many, so the row cannot be told from those below it"
        return Failure([Problem(feed.taken[0][0], "", reason)])


@dataclass(slots=True)
class _Feed:
    """Hands lines to the CSV reader, and takes back all but the first of those that a broken row swallowed."""

    source: Iterator[tuple[int, str]]
    taken: list[tuple[int, str]] = field(default_factory=list)
    back: list[tuple[int, str]] = field(default_factory=list)
    size: int = 0
    overrun: bool = False

    def __iter__(self) -> "_Feed":
        return self

    def __next__(self) -> str:
        if self.size > LARGEST_ROW:
            # Ends the reader, which then gives out what it has.
            self.overrun = True
            raise StopIteration
        numbered = self.back.pop() if self.back else next(self.source)
        self.taken.append(numbered)
        self.size += len(numbered[1])
        return numbered[1]

    @property
    def in_quotes(self) -> bool:
        """Whether the lines taken hold a quotation mark, without which a row cannot be broken but by its width."""
        return any('"' in text for _, text in self.taken)

    def settle(self) -> None:
        self.taken.clear()
        self.size, self.overrun = 0, False

    def retry(self) -> None:
        self.back.extend(reversed(self.taken[1:]))
        self.settle()


def _split(text: str, separator: str) -> list[str]:
    try:
        cells = next(csv.reader(io.StringIO(text, newline=""), delimiter=separator), [])
    except csv.Error:
        return []
    return [clean(cell) for cell in cells]


def clean(cell: str) -> str:
    """A cell without padding, stray BOM and Windows line ends."""
    if "\ufeff" in cell:
        cell = cell.replace("\ufeff", "")
    if "\r" in cell:
        cell = cell.replace("\r\n", "\n").replace("\r", "\n")
    return cell.strip()


def normal(header: str) -> str:
    """A header for comparing: without case, and with plain spaces and apostrophes."""
    return " ".join(header.replace("\u2019", "'").replace("\u00a0", " ").replace("\u202f", " ").casefold().split())
