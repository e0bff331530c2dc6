"""Access to a CSV file's rows by column name, independent of the file's headers and their order."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import get_close_matches
from itertools import islice
from typing import Any

from django.utils.translation import gettext as _

from storefront.catalogue.parsing import InvalidValue, Parse
from storefront.product_files.csv_reading import Row, Table, UnreadableFile
from storefront.product_files.number_formats import number_format
from storefront.product_files.parsed_products import Notice, Problem

# Rows that are read to detect the format of a file's numbers.
SAMPLE_ROWS = 10_000
# Characters of a name that is compared with those that are known.
MAX_COMPARED = 100
# The parsed value of an empty cell that changes nothing.
KEEP: Any = object()
# Between the columns that one header can stand for.
OR = "|"
# A column of the file, the field that it fills, and the parser of its values.
FieldMapping = tuple[str, str, Parse]


class ColumnIndex:
    """The position and the header of each known column of a file. `language` is the shop's main one."""

    def __init__(self, headers: Iterable[tuple[str, str | None]], language: str = "") -> None:
        """Takes (header, column name or None) in file order. Raises UnreadableFile if a column occurs twice."""
        self.language = language
        self.index: dict[str, int] = {}
        self.header: dict[str, str] = {}
        found = list(headers)
        names = one_each(name for _unused, name in found)
        for position, ((header, _unused), name) in enumerate(zip(found, names, strict=True)):
            if name is None:
                continue
            if name in self.index:
                raise UnreadableFile(
                    _("The header has %(first)s and %(second)s, which mean the same. Each column can appear only once.")
                    % {"first": self.header[name], "second": header}
                )
            self.index[name], self.header[name] = position, header

    def __contains__(self, name: str) -> bool:
        return name in self.index


def one_each(names: Iterable[str | None]) -> list[str | None]:
    """The columns with one meaning each: where a header can stand for several columns, the first of them that no other
    header of the file is."""
    found = list(names)
    taken = {name for name in found if name and OR not in name}
    for position, name in enumerate(found):
        if name and OR in name:
            meanings = name.split(OR)
            found[position] = next((each for each in meanings if each not in taken), meanings[0])
            taken.add(found[position] or "")
    return found


class RowReader:
    """Parses one row column by column, and collects all of the row's problems."""

    __slots__ = ("columns", "line", "problems", "values")

    def __init__(self, columns: ColumnIndex, line: int, values: list[str]) -> None:
        self.columns, self.line, self.values = columns, line, values
        self.problems: list[Problem] = []

    def __getitem__(self, name: str) -> str:
        """The text in this column; empty if the file has no such column."""
        position = self.columns.index.get(name)
        return "" if position is None else self.values[position]

    def read(self, name: str, parse: Parse, otherwise: Any = None) -> Any:
        """The column's parsed value. If it cannot be parsed, records the problem and returns `otherwise`."""
        return self.read_part(name, parse, self[name], otherwise)

    def read_part(self, name: str, parse: Parse, part: str, otherwise: Any = None) -> Any:
        """Like `read`, for `part` of the text in the column."""
        try:
            return parse(part)
        except InvalidValue as unfit:
            self.refuse(name, str(unfit))
            return otherwise

    def read_into(self, fields: dict[str, Any], mappings: Iterable[FieldMapping]) -> None:
        """Parse each mapping's column into its field, but for cells that keep it. The file must have all of these
        columns."""
        index, values = self.columns.index, self.values
        for name, field, parse in mappings:
            try:
                value = parse(values[index[name]])
                if value is not KEEP:
                    fields[field] = value
            except InvalidValue as unfit:
                self.refuse(name, str(unfit))

    def refuse(self, name: str, reason: str) -> None:
        self.problems.append(Problem(self.line, self.columns.header.get(name, name), reason))


def mappings_in_file(columns: ColumnIndex, mappings: Iterable[FieldMapping]) -> list[FieldMapping]:
    return [mapping for mapping in mappings if mapping[0] in columns]


class UncarriedColumns:
    """Columns of known meaning that are not imported. Each is reported once, at its first value that is lost."""

    def __init__(self, headers: Iterable[str], harmless: Callable[[str], set[str] | None]) -> None:
        """`harmless` returns the values of a header's column that lose nothing, or None if the column is imported."""
        found = ((position, header, harmless(header)) for position, header in enumerate(headers))
        self.pending = [(position, header, values) for position, header, values in found if values is not None]

    def notices(self, row: Row) -> Iterator[Notice]:
        """A notice for each column of which this row has the first value that is lost."""
        for column in self.pending.copy():
            position, header, harmless = column
            value = row.values[position]
            if value and value.lower() not in harmless:
                self.pending.remove(column)
                reason = _("is not imported; this is the first row with a value")
                yield Notice(Problem(row.line, header, reason, "warning"))


def read_numbers(table: Table, columns: ColumnIndex, names: Iterable[str]) -> None:
    """Detect from the file's first rows whether the numbers in these columns have a decimal comma."""
    positions = [columns.index[name] for name in names if name in columns]
    rows = (row for row in islice(table.rows(), SAMPLE_ROWS) if isinstance(row, Row))
    found = number_format(row.values[each] for row in rows for each in positions if each not in row.exact)
    if found.has_comma:
        table.comma_columns = positions
    if found.note:
        table.notes.append(Problem(table.header_line, "", found.note, "note"))


def unknown_column(position: int, header: str, known: Iterable[str]) -> tuple[str, str]:
    """(column, reason) of a warning about a column that is not known, with the known one that it resembles."""
    if not header:
        return _("column %(place)s") % {"place": position + 1}, _("has no header; not imported")
    return header, _("is not a known column; not imported.") + resembling(header, known)


def refusal_without(program: str, missing: Sequence[str]) -> str:
    """The refusal of a file that lacks these columns, which new products need; empty if it lacks none."""
    if not missing:
        return ""
    return _(
        "The file looks like %(program)s's, but has no column %(columns)s, which new products need. It can only update "
        "existing products; choose to update them, or upload a complete export."
    ) % {"program": program, "columns": _(" and no column ").join(missing)}


def resembling(name: str, known: Iterable[str]) -> str:
    """The sentence that asks whether the known name most like this one was meant; empty if none is like it."""
    by_plain = {each.casefold(): each for each in known}
    # Longer than any name that is known, so that a long one is not compared.
    similar = get_close_matches(name.casefold(), by_plain, n=1, cutoff=0.75) if len(name) <= MAX_COMPARED else []
    return _(' Did you mean "%(name)s"?') % {"name": by_plain[similar[0]]} if similar else ""
