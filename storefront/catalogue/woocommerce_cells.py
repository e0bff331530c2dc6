"""How WooCommerce writes what a cell holds: lists, escapes, guards against formulas, days of a sale."""

import html
import re
from datetime import UTC, datetime, time
from functools import lru_cache
from zoneinfo import ZoneInfo

from storefront.catalogue import cells
from storefront.catalogue.cells import LIMITS, shown
from storefront.catalogue.incoming import CategoryNode, CategoryPath, Unfit
from storefront.catalogue.models import Category

_ESCAPED_BREAK = re.compile(r"\\\\n|\\n")
_COMMA = re.compile(r"(?<!\\),")
_FORMULA = ("=", "+", "-", "@")


def unguarded(row: list[str]) -> list[str]:
    """The cells without the apostrophe that keeps spreadsheets from taking them for formulas."""
    return [cell[1:] if cell[:1] == "'" and cell[1:2] in _FORMULA else cell for cell in row]


def listed(cell: str) -> list[str]:
    r"""The values of a cell that lists several; a comma within one is written `\,`."""
    if "," not in cell:
        return [cell] if cell else []
    values = (value.replace("\\,", ",").strip() for value in _COMMA.split(cell))
    return list(dict.fromkeys(value for value in values if value))


def paragraphs(cell: str) -> str:
    r"""A text with its line ends, which WooCommerce writes as `\n` and what was `\n` as `\\n`."""
    if "\\" in cell:
        cell = _ESCAPED_BREAK.sub(lambda found: "\n" if found[0] == "\\n" else "\\n", cell)
    return cells.check_text(cell)


@lru_cache(maxsize=4096)
def category_paths(cell: str) -> tuple[CategoryPath, ...]:
    """`Clothing > Shirts, Sale` as two paths."""
    paths = []
    for path in listed(cell):
        names = [html.unescape(step).strip() for step in path.split(">")]
        nodes = tuple(CategoryNode(cells.check_text(name, LIMITS[Category]["name"])) for name in names if name)
        if nodes:
            paths.append(CategoryPath(nodes))
    return tuple(paths)


def limit(cell: str) -> int:
    """A number of downloads or days; none and -1 are without limit, which is 0 here."""
    return max(cells.integer()(cell), 0)


def texts(cell: str) -> list[str]:
    return [cells.check_text(value) for value in listed(cell)]


def moment(cell: str, zone: ZoneInfo, *, end: bool = False) -> datetime | None:
    """A day or moment on the shop's clock; a Unix time too. A day on which a sale ends still belongs to it."""
    if not cell:
        return None
    if cell.isascii() and cell.isdigit() and len(cell) in (9, 10):
        return datetime.fromtimestamp(int(cell), UTC)
    for form in ("%Y-%m-%d", "%Y/%m/%d", "%b %d, %Y", "%B %d, %Y"):
        try:
            day = datetime.strptime(cell, form).date()  # noqa: DTZ007, its zone is given below
        except ValueError:
            continue
        return datetime.combine(day, time.max if end else time.min, zone)
    try:
        found = datetime.fromisoformat(cell)
    except ValueError:
        raise Unfit(f"expected a day such as 2026-11-21, found {shown(cell)}") from None
    return found if found.tzinfo else found.replace(tzinfo=zone)
