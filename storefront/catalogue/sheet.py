"""Rows of a table by the names of their columns, whatever the file calls them and in whatever order they stand."""

from collections.abc import Iterable
from typing import Any

from storefront.catalogue.cells import Parse
from storefront.catalogue.delimited import UnreadableFile
from storefront.catalogue.incoming import Problem, Unfit


class Columns:
    """Where each known column of a file stands, and what its header reads there."""

    def __init__(self, headers: Iterable[tuple[str, str | None]]) -> None:
        """Takes (header, the name it is known by or None) in order. Raises UnreadableFile for a column named twice."""
        self.index: dict[str, int] = {}
        self.header: dict[str, str] = {}
        for position, (header, name) in enumerate(headers):
            if name is None:
                continue
            if name in self.index:
                raise UnreadableFile(
                    f"The header has {self.header[name]} and {header}, which mean the same; "
                    "each column may stand there once."
                )
            self.index[name], self.header[name] = position, header

    def __contains__(self, name: str) -> bool:
        return name in self.index


class Cells:
    """One row, read column by column; what does not fit is collected, so that a row's every problem is named."""

    __slots__ = ("cells", "columns", "line", "problems")

    def __init__(self, columns: Columns, line: int, cells: list[str]) -> None:
        self.columns, self.line, self.cells = columns, line, cells
        self.problems: list[Problem] = []

    def __getitem__(self, name: str) -> str:
        """The cell's text; empty where the file has no such column."""
        position = self.columns.index.get(name)
        return "" if position is None else self.cells[position]

    def read(self, name: str, parse: Parse, otherwise: Any = None) -> Any:
        """What `parse` makes of the cell, or `otherwise` once the problem is noted."""
        return self.fit(name, parse, self[name], otherwise)

    def fit(self, name: str, parse: Parse, part: str, otherwise: Any = None) -> Any:
        """The same for a part of the column's cell."""
        try:
            return parse(part)
        except Unfit as unfit:
            self.refuse(name, str(unfit))
            return otherwise

    def read_into(self, fields: dict[str, Any], plan: Iterable[tuple[str, str, Parse]]) -> None:
        """Fill the fields of a plan of (column, field, parse), of which every column must be in the file."""
        index, cells = self.columns.index, self.cells
        for name, field, parse in plan:
            try:
                fields[field] = parse(cells[index[name]])
            except Unfit as unfit:
                self.refuse(name, str(unfit))

    def refuse(self, name: str, reason: str) -> None:
        self.problems.append(Problem(self.line, self.columns.header.get(name, name), reason))


def plan_for(columns: Columns, plan: Iterable[tuple[str, str, Parse]]) -> list[tuple[str, str, Parse]]:
    """The part of a plan that the file has columns for."""
    return [step for step in plan if step[0] in columns]
