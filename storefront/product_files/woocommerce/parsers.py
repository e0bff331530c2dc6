"""Parsers for values as WooCommerce writes them: lists, escaped texts, category paths, sale dates."""

import html
import re
from datetime import UTC, datetime, time
from functools import lru_cache
from zoneinfo import ZoneInfo

from django.utils.translation import gettext as _

from storefront.catalogue import parsing
from storefront.catalogue.models import Category
from storefront.catalogue.parsing import InvalidValue, quoted
from storefront.product_files import parsers
from storefront.product_files.parsed_products import CategoryNode, CategoryPath, ProductKey
from storefront.product_files.parsers import LIMITS

_ESCAPED_BREAK = re.compile(r"\\\\n|\\n")
_LAST_SECOND = time(23, 59, 59)
_ONE_DIGIT_HOUR = re.compile(r"([ T])(?=\d:)")
_decoded = parsers.decoded()
_COMMA = re.compile(r"(?<!\\),")


def split_list(value: str) -> list[str]:
    r"""The values of a comma-separated list; a comma within a value is written `\,`."""
    if "," not in value:
        return [value] if value else []
    values = (part.replace("\\,", ",").strip() for part in _COMMA.split(value))
    return list(dict.fromkeys(value for value in values if value))


def paragraphs(value: str) -> str:
    r"""A text with line ends, which WooCommerce writes as `\n`; it writes a literal `\n` as `\\n`."""
    if "\\" in value:
        value = _ESCAPED_BREAK.sub(lambda found: "\n" if found[0] == "\\n" else "\\n", value)
    return parsing.html(value)


@lru_cache(maxsize=4096)
def category_paths(value: str) -> tuple[CategoryPath, ...]:
    """`Clothing > Shirts, Sale` as two paths."""
    paths = []
    for path in split_list(value):
        names = [html.unescape(step).strip() for step in path.split(">")]
        nodes = tuple(CategoryNode(parsing.check_text(name, LIMITS[Category]["name"])) for name in names if name)
        if nodes:
            paths.append(CategoryPath(parsers.check_levels(nodes)))
    return tuple(paths)


def download_limit(value: str) -> int:
    """A number of downloads or days. Blank and -1 mean no limit, which is 0 here."""
    return max(parsers.integer()(value), 0)


def product_references(value: str) -> list[ProductKey]:
    """`A-1, id:12` as the keys of other products: by SKU, or by the id of the shop that the file is from."""
    references: list[ProductKey] = []
    for part in split_list(value):
        id = part[3:].strip()
        if part[:3].lower() == "id:" and id.isascii() and id.isdigit() and len(id) < 17:
            references.append(("external_id", int(id)))
        else:
            references.append(("sku", parsing.check_text(part)))
    return references


def texts(value: str) -> list[str]:
    return [_decoded(part) for part in split_list(value)]


def moment(value: str, zone: ZoneInfo, *, end: bool = False) -> datetime | None:
    """A date or time in the shop's time zone, or a Unix time. With `end`, a date means the end of that day."""
    if not value:
        return None
    if value.isascii() and value.isdigit() and len(value) in (9, 10):
        return datetime.fromtimestamp(int(value), UTC)
    for form in ("%Y-%m-%d", "%Y/%m/%d", "%b %d, %Y", "%B %d, %Y"):
        try:
            day = datetime.strptime(value, form).date()  # noqa: DTZ007, combined with the zone below
        except ValueError:
            continue
        return datetime.combine(day, _LAST_SECOND if end else time.min, zone)
    try:
        # WooCommerce writes the hour with one digit or two.
        found = datetime.fromisoformat(_ONE_DIGIT_HOUR.sub(r"\g<1>0", value))
    except ValueError:
        raise InvalidValue(_("expected a day such as 2026-11-21, found %(value)s") % {"value": quoted(value)}) from None
    return found if found.tzinfo else found.replace(tzinfo=zone)
