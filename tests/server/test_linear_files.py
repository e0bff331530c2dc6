"""Twice the file costs an import at most 2.5 times as much to read, whatever is in it: CSV of both formats, JSON Lines,
and lists of discount codes."""

import json
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from storefront.kit.refusals import Refusal
from storefront.pricing.codes import _read as read_codes
from storefront.pricing.models import Discount
from storefront.product_files.encodings import UnreadableFile
from storefront.product_files.opening import open_source
from storefront.shops.models import Shop
from tests.server.costs import MOST, growth
from tests.shops.factories import NOW

pytestmark = [pytest.mark.proof, pytest.mark.timeout(900)]

WOOCOMMERCE = [
    *("ID", "Type", "SKU", "Name", "Published", "Regular price", "Parent", "Description", "Categories", "Tags"),
    *("Images", "Upsells", "Stock", "Weight (kg)", "Date sale price starts", "Download 1 URL", "Attribute 1 name"),
    *("Attribute 1 value(s)", "Meta: _yoast_wpseo_title", "Meta: rank_math_title"),
]
SHOPIFY = [
    *("Handle", "Title", "Body (HTML)", "Vendor", "Type", "Tags", "Published", "Option1 Name", "Option1 Value"),
    *("Variant SKU", "Variant Price", "Image Src"),
]
MEMBERS = (
    "name",
    "slug",
    "description",
    "tags",
    "attributes",
    "categories",
    "media",
    "variants",
    "options",
    "up_sells",
)

# Lines that are repeated below a header, and values that are repeated within a cell.
LINES = [
    '"\n',
    '"a\n',
    "a\n",
    'a,"\n',
    '"a","b\n',
    '"" ,\n',
    '" "a" "\n',
    '"\n"\n',
    ",\n",
    "\n",
    "\r",
    '""',
    '"',
    " ",
    '" ',
    "a,",
    '","',
]
CELLS = [
    "a",
    '""',
    "<",
    "<b>",
    "<div>",
    "<!--",
    "a > ",
    "a, ",
    "\\,",
    "\\n",
    "\n",
    "%%a",
    "%%a%%",
    "%a(",
    "1.",
    "1,",
    "-",
    "id:1,",
]
CELLS += ["https://a.example/b.jpg, ", "&", " ", "\t", "é", "{", "["]
VALUES = [
    "[]",
    "{}",
    "0",
    '"a"',
    "null",
    "[[]]",
    '{"a":"b"}',
    '{"name":"a","values":["b"]}',
    '{"url":"https://a.example"}',
    '"a > b"',
]


def row(header: list[str], **given: str) -> str:
    quoted = ('"' + given.get(column, "1") + '"' for column in header)
    return ",".join(quoted) + "\n"


def files() -> dict[str, Callable[[int], str]]:
    """The files, by what hurts in them, for a size."""
    found: dict[str, Callable[[int], str]] = {}
    for name, header in {"WooCommerce": WOOCOMMERCE, "Shopify": SHOPIFY}.items():
        top = ",".join(header) + "\n"
        for piece in LINES:
            found[f"{name}, lines {piece!r}"] = lambda size, top=top, piece=piece: top + piece * (size // len(piece))
        for piece in CELLS:
            found[f"{name}, cells of {piece!r}"] = lambda size, top=top, piece=piece, header=header: (
                top + row(header, **dict.fromkeys(header[1:], piece * (size // 20 // len(piece))))
            )
        found[f"{name}, columns"] = lambda size, top=top: top.strip() + ",Meta: a" * (size // 8) + "\n" + top
        found[f"{name}, other columns"] = lambda size, top=top: (
            top.strip() + "".join(f",column {n}" for n in range(size // 12)) + "\n1" + ",1" * (size // 12)
        )
        found[f"{name}, quotes in the header"] = lambda size, top=top: f'"{top}' + '"a\n' * (size // 3)
    found["WooCommerce, variations"] = lambda size: variations(size // 100, "variation")
    found["WooCommerce, parents"] = lambda size: variations(size // 100, "variable")
    found["Shopify, variants"] = lambda size: (
        ",".join(SHOPIFY) + "\n" + "".join(row(SHOPIFY, **{"Option1 Value": str(n)}) for n in range(size // 60))
    )
    found["Shopify, repeated variants"] = lambda size: ",".join(SHOPIFY) + "\n" + row(SHOPIFY) * (size // 60)
    for piece in [
        "[",
        "{",
        '{"a":',
        "[[],",
        '"',
        "\\",
        "{}",
        "[]\n",
        "{\n",
        '{"name":"a"}\n',
        '{"name":"a","sku":"b"}\n',
    ]:
        found[f"JSON, {piece!r}"] = lambda size, piece=piece: (
            '{"name":"a","price":"1"}\n' + piece * (size // len(piece))
        )
        found[f"JSON, {piece!r} within"] = lambda size, piece=piece: '{"name":' + piece * (size // len(piece)) + "}"
    for member in MEMBERS:
        for value in VALUES:
            found[f"JSON, {member} of {value}"] = lambda size, member=member, value=value: (
                f'{{"name":"a","price":"1","{member}":[' + ",".join([value] * (size // len(value))) + "]}\n"
            )
        found[f"JSON, {member}, a text"] = lambda size, member=member: json.dumps({"name": "a", member: "<b>" * size})
        found[f"JSON, {member}, members"] = lambda size, member=member: json.dumps(
            {"name": "a", member: {f"m{n}": n for n in range(size // 12)}}
        )
    found["JSON, unknown members"] = lambda size: json.dumps({"name": "a"} | {f"m{n}": n for n in range(size // 12)})
    return found


def variations(count: int, kind: str) -> str:
    rows = (
        row(WOOCOMMERCE, Type=kind, Parent="1", ID="", **{"Attribute 1 name": "Size", "Attribute 1 value(s)": str(n)})
        for n in range(count)
    )
    return ",".join(WOOCOMMERCE) + "\n" + row(WOOCOMMERCE, Type="variable", Parent="") + "".join(rows)


def read(shop: Shop, file: Path, update: bool) -> None:
    with suppress(UnreadableFile):
        opened = open_source(file, "auto", shop=shop, update=update, now=NOW)
        for _ in opened.results:
            pass
        for _ in opened.skus():
            pass


def test_reading_a_product_file_costs_by_its_size(shop, tmp_path):
    def prepare(make: Callable[[int], str], size: int) -> Callable[[], None]:
        file = tmp_path / f"{size}"
        file.write_text(make(size), newline="")
        return partial(read, shop, file, True)

    # Beyond, the processor's caches decide: orjson alone takes three times as long for twice a megabyte.
    worse = {
        name: found
        for name, make in files().items()
        if (found := growth(partial(prepare, make), first=4096, largest=1 << 18, measurable=0.01)) > MOST
    }
    assert not worse


def test_reading_discount_codes_costs_by_their_size(shop):
    discount = Discount(shop=shop)

    def parse(text: str) -> None:
        with suppress(Refusal, ValueError):
            read_codes(shop, discount, text.encode())

    worse = {
        piece: found
        for piece in [*LINES, *CELLS]
        if (found := growth(lambda size, piece=piece: partial(parse, piece * (size // len(piece))))) > MOST
    }
    assert not worse
