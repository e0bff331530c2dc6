"""Builds the HTML form of a mail from its text, so that both have the same words.

Everything in a text is escaped: names and texts of shoppers and merchants too. Only URLs of the shop's own pages become
links, and those that the mail names, so that nobody else's text brings a link. Nothing is loaded but the shop's own
pictures, which are the same for every reader.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.template.loader import render_to_string
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from storefront.shops.languages import OTHER, direction
from storefront.shops.models import Shop
from storefront.shops.places import ADMIN, SECURE, SHOP, base_of, hosts_are_separate, origin_of, spoken_base
from storefront.shops.spoken import spoken_language

_URL = re.compile(r"https?://[^\s<>\"]+")
_QUANTITY = re.compile(r"\d+ x (.+)")
_INDENT = "    "
_LINK = "color:#23573f;word-break:break-all;overflow-wrap:anywhere;"


def html_of(
    shop: Shop | None, *, name: str, text: str, pictures: Mapping[str, str] | None = None, links: Iterable[str] = ()
) -> str:
    """The HTML of a mail with this text. Blank lines end paragraphs. A paragraph of `name: value` lines becomes a
    table, and one with lines such as `2 x Mug`, of names that `pictures` has, a list with pictures by their absolute
    URLs."""
    own = _own_origins(shop)
    known = set(links)

    def linked(line: str) -> SafeString:
        parts, end = [], 0
        for found in _URL.finditer(line):
            url = found[0].rstrip(".,;:!?")
            if url in known or _is_of(url, own):
                link = format_html('<a href="{}" style="{}" class="link">{}</a>', url, _LINK, url)
                parts += [format_html("{}", line[end : found.start()]), link]
                end = found.start() + len(url)
        return mark_safe("".join([*parts, format_html("{}", line[end:])]))  # noqa: S308, escaped piece by piece

    blocks = [_block(lines, pictures or {}, linked) for lines in _paragraphs(text)]
    language = (spoken_language(shop) if shop else "") or "en"
    return render_to_string(
        "shops/mail/frame.html",
        {
            "name": name,
            "home": spoken_base(SHOP, shop) if shop else "",
            "blocks": blocks,
            "language": "en" if language == OTHER else language,
            "is_right_to_left": direction(language) == "rtl",
        },
    )


def _block(lines: Sequence[str], pictures: Mapping[str, str], linked: Any) -> dict[str, Any]:
    if any(_item_of(line, pictures) is not None for line in lines):
        return {"kind": "items", "items": list(_items(lines, pictures, linked))}
    rows = [line.partition(": ") for line in lines]
    if len(rows) > 1 and all(name and value and not name.startswith(" ") for name, _, value in rows):
        return {"kind": "facts", "rows": [(f"{name}:", linked(value)) for name, _, value in rows]}
    return {"kind": "text", "lines": [linked(line.strip()) for line in lines]}


def _item_of(line: str, pictures: Mapping[str, str]) -> str | None:
    """The name of the item in the line, if it has a picture."""
    found = _QUANTITY.match(line)
    rest = found[1] if found else ""
    return next((name for name in pictures if rest == name or rest.startswith(f"{name}: ")), None)


def _items(lines: Sequence[str], pictures: Mapping[str, str], linked: Any) -> Iterable[dict[str, Any]]:
    """The items, each with the indented lines that follow it."""
    item: dict[str, Any] = {}
    for line in lines:
        if item and line.startswith(_INDENT):
            item["details"].append(linked(line.strip()))
            continue
        if item:
            yield item
        item = {
            "text": linked(line.strip()),
            "picture": pictures.get(_item_of(line, pictures) or "", ""),
            "details": [],
        }
    if item:
        yield item


def _paragraphs(text: str) -> Iterable[list[str]]:
    paragraph: list[str] = []
    for line in [*text.splitlines(), ""]:
        if line.strip():
            paragraph.append(line)
        elif paragraph:
            yield paragraph
            paragraph = []


def _is_of(url: str, origins: set[str]) -> bool:
    try:
        return origin_of(url) in origins
    except ValueError:
        # Something that only looks like a URL, such as http://[
        return False


def _own_origins(shop: Shop | None) -> set[str]:
    """The origins of the shop's pages: its own, the secure host's and the admin's."""
    if shop is None:
        return set()
    places = (SHOP, SECURE, ADMIN) if hosts_are_separate() else (SHOP,)
    return {origin_of(base_of(place, shop)) for place in places}
