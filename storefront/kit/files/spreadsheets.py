"""Formula injection: spreadsheets run some texts of CSV cells as formulas, so exports escape them."""

import re
from collections.abc import Iterable

# Also with apostrophes in front: a text that began with one must not become a formula when an import removes one.
_FORMULA = re.compile(r"'*[=+\-@\t\r\n＝＋－＠]")
_GUARDED = re.compile(r"'+[=+\-@\t\r\n＝＋－＠]")
_NUMBER = re.compile(r"[+-]?[0-9]+(?:[.,][0-9]+)?\Z")


def escape_formula(cell: str) -> str:
    """Put an apostrophe before a cell that would be a formula, as spreadsheets and other shops do. Numbers stay."""
    return f"'{cell}" if _FORMULA.match(cell) and not _NUMBER.match(cell) else cell


def unescape_formulas(cells: Iterable[str]) -> list[str]:
    """Undo `escape_formula`, exactly, for every cell."""
    return [cell[1:] if cell[:1] == "'" and _GUARDED.match(cell) else cell for cell in cells]
