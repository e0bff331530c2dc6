"""Twice the file costs an import at most 2.5 times as much to read, whatever is in it: CSV of all formats, workbooks,
JSON Lines, and lists of discount codes."""

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
from storefront.product_files.mapped.mapping import Mapping
from storefront.product_files.opening import open_source
from storefront.shops.models import Shop
from tests.product_files.workbooks import workbook
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
# Columns of other programs' exports, in which texts, lists, options and prices are taken apart.
PROGRAMS = {
    "Squarespace": [
        *("Title", "Product Type [Non Editable]", "Price", "Description", "Categories", "Tags", "Product URL", "Stock"),
        *("Option Name 1", "Option Value 1", "Hosted Image URLs", "Sale Price"),
    ],
    "Wix": [
        *("handleId", "fieldType", "name", "price", "description", "collection", "productImageUrl", "discountValue"),
        *("productOptionName1", "productOptionDescription1", "surcharge", "inventory"),
    ],
    "BigCommerce": [
        *("Item", "Name", "SKU", "Options", "Price", "Description", "Product URL", "Internal Image URL (Export)"),
        *("Image URL (Import)", "Variant Image URL", "Current Stock", "Inventory Tracking"),
    ],
    "BigCommerce v2": [
        *("Item Type", "Product Name", "Product Code/SKU", "Price", "Category", "Product Description", "Product URL"),
        *("Product Image URL - 1", "Current Stock Level", "Track Inventory"),
    ],
    "Square": [
        *("Token", "Item Name", "Variation Name", "Price", "Categories", "Description", "Option Name 1"),
        *("Option Value 1", "Current Quantity A", "Current Quantity B", "Weight (lb)", "Item Image URLs"),
    ],
    "Google": [
        *("id", "title", "price", "availability", "description", "image_link", "additional_image_link", "product_type"),
        *("shipping_weight", "sale_price", "sale_price_effective_date", "color"),
    ],
    "Matrixify": ["Handle", "Command", "Title", "Variant Price", "Body HTML", "Tags", "Image Src", "Option1 Value"],
}
# What the first column has where it names the kind of row, so that the values are looked at.
KINDS = {"fieldType": "Product", "Item": "Product", "Item Type": "Product", "Command": "MERGE"}
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
CELLS += [
    "Type=",
    "Type=a|Name=b|Value=c",
    "|",
    "[RT]a=b,",
    ",[a]",
    "#a:b;",
    "/",
    " (ABCDEFGHIJKLMNOPQRSTUVWX), ",
    " EUR",
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
    found = program_files()
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


def program_files() -> dict[str, Callable[[int], str]]:
    found: dict[str, Callable[[int], str]] = {}
    for name, header in PROGRAMS.items():
        top = ",".join(header) + "\n"
        found[f"{name}, rows"] = lambda size, top=top, header=header: top + row(header, **KINDS) * (size // 60)
        for piece in CELLS:
            found[f"{name}, cells of {piece!r}"] = lambda size, top=top, piece=piece, header=header: (
                top + row(header, **(dict.fromkeys(header, piece * (size // 20 // len(piece))) | KINDS))
            )
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
        for of_variants in (False, True):
            for _ in opened.skus(of_variants=of_variants):
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


def test_reading_a_workbook_costs_by_its_size(shop, tmp_path):
    def prepare(row: list[str], size: int) -> Callable[[], None]:
        file = tmp_path / f"{size}.xlsx"
        file.write_bytes(workbook([WOOCOMMERCE, *[row] * (size // 100)]))
        return partial(read, shop, file, True)

    rows = {"short": ["1", "simple", "a", "Mug"], "wide": ["1"] * len(WOOCOMMERCE), "errors": ["1", "#REF!"]}
    worse = {
        name: found
        for name, values in rows.items()
        if (found := growth(partial(prepare, values), first=4096, largest=1 << 18, measurable=0.01)) > MOST
    }
    assert not worse


def test_reading_a_mapped_table_costs_by_its_size(shop, tmp_path):
    members = ["name", "price", "categories", "tags", "images", "option1_name", "option1_value", "description", "group"]
    mapping = Mapping({member: member for member in members})

    def prepare(cell: str, size: int) -> Callable[[], None]:
        file = tmp_path / f"{size}"
        file.write_text(",".join(members) + "\n" + row(members, **dict.fromkeys(members[2:-1], cell * (size // 20))))

        def call() -> None:
            for _ in open_source(file, "auto", mapping=mapping, shop=shop, update=True, now=NOW).results:
                pass

        return call

    worse = {
        cell: found
        for cell in ["a", ",", ">", "a,", "a > ", " ", "https://a.example/b.jpg, ", '""']
        if (found := growth(partial(prepare, cell), first=4096, largest=1 << 18, measurable=0.01)) > MOST
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
