"""Builds the HTML form of a mail from its text, so that both have the same words.

Everything in a text is escaped: names and texts of shoppers and merchants too. Only URLs of the shop's own pages become
links, and those that the mail names, so that nobody else's text brings a link. Nothing is loaded but the shop's own
pictures, which are the same for every reader.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from django.template.loader import render_to_string
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from storefront.shops.languages import OTHER, direction
from storefront.shops.mail_brand import SERVICE, MailBrand
from storefront.shops.models import Shop
from storefront.shops.places import ADMIN, SECURE, SHOP, base_of, hosts_are_separate, origin_of, spoken_base
from storefront.shops.spoken import spoken_language

# The line of a text above its total.
TOTAL_RULE = "-" * 24
# Gmail shows only the beginning of larger mails. In bytes.
MAX_SIZE = 95_000
_URL = re.compile(r"https?://[^\s<>\"]+")
_QUANTITY = re.compile(r"\d+ x (.+)")
_INDENT = "    "
# Lines of an address: more or longer ones do not stand beside another block.
_MAX_ADDRESS_LINES, _MAX_ADDRESS_LENGTH = 9, 60
_MAX_PREHEADER = 140

Block = dict[str, Any]


def html_of(
    shop: Shop | None,
    *,
    name: str,
    text: str,
    subject: str = "",
    pictures: Mapping[str, str] | None = None,
    links: Iterable[str] = (),
    buttons: Iterable[str] = (),
    brand: MailBrand = SERVICE,
    picture: SafeString | str = "",
    in_picture: Iterable[str] = (),
) -> str:
    """The HTML of a mail with this text.

    Blank lines end paragraphs. One of `name: value` lines becomes a table, of sums if TOTAL_RULE is in it. One with
    lines such as `2 x Mug`, of names that `pictures` has, becomes a list with pictures by their absolute URLs. One
    whose first line ends with a colon gets a heading. A last line `name: URL` becomes a button, if `buttons` has the
    URL; the last of several buttons is a quiet one. `picture` is HTML above the text, which has the lines
    `in_picture`.
    """
    linked = _Linked(_own_origins(shop), {*links, *buttons}, brand)
    pictured = set(in_picture)
    below = "\n".join(line for line in text.splitlines() if line.strip() not in pictured)
    blocks = list(_blocks(below, pictures or {}, set(buttons), linked))
    shown = [block for block in blocks if block["kind"] == "button"]
    for block in shown[1:][-1:]:
        block["is_quiet"] = True
    language = (spoken_language(shop) if shop else "") or "en"
    home = spoken_base(SHOP, shop) if shop else ""
    context = {
        "name": name,
        "subject": subject or name,
        "preheader": _preheader(text),
        "home": home,
        "host": home.partition("//")[2],
        "blocks": list(_beside_each_other(blocks)),
        "picture": picture,
        "brand": brand,
        **mail_fonts(brand),
        "language": "en" if language == OTHER else language,
        "is_right_to_left": direction(language) == "rtl",
    }
    html = render_to_string("shops/mail/frame.html", context)
    if len(html.encode()) > MAX_SIZE:
        html = render_to_string("shops/mail/frame.html", context | {"is_compact": True})
    return html


def mail_fonts(brand: MailBrand) -> dict[str, SafeString]:
    """The families for a template. Their quotes stay as they are: they are constants, and in double ones."""
    return {name: mark_safe(getattr(brand, name)) for name in ("heading_font", "text_font")}  # noqa: S308


class _Linked:
    """Escapes a line of a text, with its own and the known URLs as links."""

    def __init__(self, origins: set[str], known: set[str], brand: MailBrand) -> None:
        self.origins, self.known, self.style = origins, known, f"color:{brand.accent};word-break:break-all;"

    def __call__(self, line: str) -> SafeString:
        parts, end = [], 0
        for found in _URL.finditer(line):
            url = found[0].rstrip(".,;:!?")
            if url in self.known or _is_of(url, self.origins):
                link = format_html('<a href="{}" style="{}" class="link">{}</a>', url, self.style, url)
                parts += [format_html("{}", line[end : found.start()]), link]
                end = found.start() + len(url)
        return mark_safe("".join([*parts, format_html("{}", line[end:])]))  # noqa: S308, escaped piece by piece


def _blocks(text: str, pictures: Mapping[str, str], buttons: Collection[str], linked: _Linked) -> Iterable[Block]:
    for lines in _paragraphs(text):
        label, _, url = lines[-1].rpartition(" ")
        label = label.strip().rstrip(" :\u00a0\u202f\uff1a") if url in buttons else ""
        rest = lines[:-1] if label else lines
        if rest:
            yield _block(rest, pictures, linked)
        if label:
            yield {"kind": "button", "label": label, "url": url}


def _block(lines: Sequence[str], pictures: Mapping[str, str], linked: _Linked) -> Block:
    if any(_item_of(line, pictures) is not None for line in lines):
        return {"kind": "items", "items": list(_items(lines, pictures, linked))}
    is_sums = TOTAL_RULE in lines
    rows = [line.partition(": ") for line in lines if line != TOTAL_RULE]
    if (is_sums or len(rows) > 1) and all(name and value and not name.startswith(" ") for name, _, value in rows):
        total = lines.index(TOTAL_RULE) if is_sums else None
        table = [{"name": name, "value": linked(value)} for name, _, value in rows]
        return {"kind": "sums" if is_sums else "facts", "rows": table, "total": total}
    heading = lines[0].removesuffix(":") if len(lines) > 1 and lines[0].endswith(":") else ""
    texts = [linked(line.strip()) for line in (lines[1:] if heading else lines)]
    is_short = len(lines) <= _MAX_ADDRESS_LINES and all(len(line) <= _MAX_ADDRESS_LENGTH for line in lines)
    return {"kind": "text", "heading": heading, "lines": texts, "is_short": is_short}


def _beside_each_other(blocks: Sequence[Block]) -> Iterable[Block]:
    """The blocks, with short ones that have a heading beside each other, such as two addresses."""
    row: list[Block] = []
    for block in [*blocks, {"kind": "end"}]:
        if block["kind"] == "text" and block["heading"] and block["is_short"]:
            row.append(block)
            continue
        if row:
            yield {"kind": "row", "blocks": row}
            row = []
        if block["kind"] != "end":
            yield block


def _item_of(line: str, pictures: Mapping[str, str]) -> str | None:
    """The name of the item in the line, if `pictures` has it."""
    found = _QUANTITY.match(line)
    rest = found[1] if found else ""
    return next((name for name in (rest, rest.rpartition(": ")[0]) if name and name in pictures), None)


def _items(lines: Sequence[str], pictures: Mapping[str, str], linked: _Linked) -> Iterable[Block]:
    """The items, each with the indented lines that follow it."""
    item: Block = {}
    for line in lines:
        if item and line.startswith(_INDENT):
            item["details"].append(linked(line.strip()))
            continue
        if item:
            yield item
        name = _item_of(line, pictures) or ""
        before, amount = line.strip(), ""
        if name and not line.endswith(name):
            before, _, amount = before.rpartition(": ")
        picture = pictures.get(name, "")
        text = linked(before.removesuffix(name))
        item = {"text": text, "amount": amount, "name": name, "picture": picture, "details": []}
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


def _preheader(text: str) -> str:
    """The first paragraph after the salutation, which mail programs show in the list of mails. Not more, so that no
    list shows a code."""
    found = (lines for lines in _paragraphs(text) if not (len(lines) == 1 and lines[0].rstrip().endswith((",", "،"))))
    words = " ".join(line.strip() for line in next(found, []) if line != TOTAL_RULE)
    return words if len(words) <= _MAX_PREHEADER else f"{words[:_MAX_PREHEADER].rpartition(' ')[0]}…"


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
