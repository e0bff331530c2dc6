"""Access to a CSV file's rows by column name, independent of the file's headers and their order."""

from collections.abc import Iterable
from typing import Any

from storefront.catalogue.parsing import InvalidValue, Parse
from storefront.product_files.csv_reading import UnreadableFile
from storefront.product_files.parsed_products import Problem

# A column of the file, the field that it fills, and the parser of its values.
FieldMapping = tuple[str, str, Parse]


class ColumnIndex:
    """The position and the header of each known column of a file."""

    def __init__(self, headers: Iterable[tuple[str, str | None]]) -> None:
        """Takes (header, column name or None) in file order. Raises UnreadableFile if a column occurs twice."""
        self.index: dict[str, int] = {}
        self.header: dict[str, str] = {}
        for position, (header, name) in enumerate(headers):
            if name is None:
                continue
            if name in self.index:
                raise UnreadableFile(
                    f"The header has {self.header[name]} and {header}, which mean the same. Each column can appear "
                    "only once."
                )
            self.index[name], self.header[name] = position, header

    def __contains__(self, name: str) -> bool:
        return name in self.index


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
        """Parse each mapping's column into its field. The file must have all of these columns."""
        index, values = self.columns.index, self.values
        for name, field, parse in mappings:
            try:
                fields[field] = parse(values[index[name]])
            except InvalidValue as unfit:
                self.refuse(name, str(unfit))

    def refuse(self, name: str, reason: str) -> None:
        self.problems.append(Problem(self.line, self.columns.header.get(name, name), reason))


def mappings_in_file(columns: ColumnIndex, mappings: Iterable[FieldMapping]) -> list[FieldMapping]:
    """The mappings whose columns the file has."""
    return [mapping for mapping in mappings if mapping[0] in columns]
