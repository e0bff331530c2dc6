"""Whatever columns, cells and products a file lacks stay as they are, for any products and in each format.

What must never happen: a price of 0.00, a draft, an inactive variant, a lost picture or category, by a file that does
not state it.
"""

import csv
import io
import json
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from django.db import transaction
from hypothesis import given
from hypothesis import strategies as st

from storefront.product_files.csv_reading import UnreadableFile
from tests.product_files.files import as_lines, errors, exported, imported

# Slugs of digits alone are changed by files (they would be read as ids).
DIGIT_SLUGS = True
# By these columns products and variants are found again.
KEYS = {"ID", "SKU", "Slug", "Name", "Type", "Parent", "Storefront source", "Handle"}
KEYS |= {f"Option{n} {part}" for n in (1, 2, 3) for part in ("Name", "Value")} | {"Title"}

money = st.integers(1, 5000).map(lambda cents: f"{cents / 100:.2f}")
text = st.sampled_from(["", "Plain", "a, b", 'He said "no"', "<p>One\ntwo</p>", "=1+1", "5 > 3", "Ä", "-2", "it's"])
word = st.sampled_from(["Blue", "Red", "M, L", '5"', "a b"])
stock = st.fixed_dictionaries(
    {"track_inventory": st.booleans(), "stock_qty": st.integers(-3, 9), "allow_backorders": st.booleans()}
)
sales = st.sampled_from(
    [
        {},
        {"compare_price": "60.00"},
        {"compare_price": "0.50"},
        {"price": "40.00", "sale_price": "0.50", "sale_until": "2027-01-01T00:00:00Z"},
        {"price": "40.00", "sale_price": "0.50", "sale_from": "2027-01-01T00:00:00Z"},
    ]
)
picture = st.integers(1, 4).map(lambda n: f"https://p.example.com/{n}.jpg")
variant = st.builds(
    lambda price, sold, sale, sku, active: {"price": price, "is_active": active, **sold, **sale, "sku": sku},
    money, stock, sales, st.sampled_from(["", "V-1"]), st.sampled_from([True, True, False]),
)  # fmt: skip


@st.composite
def products(draw) -> dict:
    made = {
        "price": draw(money), **draw(stock), **draw(sales), "description": draw(text), "short_description": draw(text),
        "status": draw(st.sampled_from(["active", "active", "draft", "archived"])),
        "tags": draw(st.lists(word, max_size=2, unique=True)),
        "categories": draw(st.lists(st.sampled_from(["Cups", "Home > Cups", "Sale"]), max_size=3, unique=True)),
        "media": draw(st.lists(picture, max_size=3, unique=True)), "brand": draw(st.sampled_from([None, "Kiln"])),
        "weight": draw(st.sampled_from(["0.000", "0.250"])), "is_taxable": draw(st.booleans()),
        "cost_price": draw(st.sampled_from(["0.00", "1.50"])), "barcode": draw(st.sampled_from([None, "0049"])),
        "is_featured": draw(st.booleans()), "requires_shipping": draw(st.booleans()),
        "exclude_from_catalog": draw(st.booleans()), "meta_title": draw(st.sampled_from([None, "Title"])),
        "low_stock_threshold": draw(st.integers(0, 3)), "sort_order": draw(st.integers(0, 3)),
    }  # fmt: skip
    if draw(st.booleans()):
        colours = draw(st.lists(word, min_size=1, max_size=3, unique=True))
        made["attributes"] = [{"name": "Colour", "values": colours, "variation": True}]
        made["variants"] = [{"option_values": {"Colour": each}, **draw(variant)} for each in colours]
        made |= {"track_inventory": False, "stock_qty": 0, "sale_price": None, "sale_until": None, "sale_from": None}
    elif draw(st.booleans()):
        made["attributes"] = [{"name": draw(word), "values": draw(st.lists(word, max_size=2, unique=True))}]
    return made


@st.composite
def shops(draw) -> list[dict]:
    made = draw(st.lists(products(), min_size=1, max_size=3))
    for number, product in enumerate(made):
        slug = f"10{number}" if draw(st.booleans()) else f"mug-{number}"
        product |= {"name": f"Mug {number}", "slug": slug, "sku": f"M-{number}"}
    return made


def rows_of(content: str) -> tuple[list[str], list[list[str]]]:
    header, *rows = csv.reader(io.StringIO(content.removeprefix("\ufeff"), newline=""))
    return header, rows


def written(header: list[str], rows: list[list[str]], *, cut: bool = False) -> str:
    out = io.StringIO(newline="")
    table = csv.writer(out, lineterminator="\n")
    table.writerow(header)
    for row in rows:
        while cut and row and not row[-1]:
            row = row[:-1]
        table.writerow(row)
    return out.getvalue()


def groups_of(header: list[str], rows: list[list[str]]) -> list[list[list[str]]]:
    """The rows of each product."""
    groups: list[list[list[str]]] = []
    for row in rows:
        cells = dict(zip(header, row, strict=True))
        if cells.get("Type") == "variation" or (groups and "Handle" in cells and not cells["Title"]):
            groups[-1].append(row)
        else:
            groups.append([row])
    return groups


def state(shop) -> dict[str, dict]:
    return {each["slug"]: each for each in map(json.loads, exported(shop).splitlines())}


class Undone:
    """A folder, and a database that is as it was afterwards."""

    def __enter__(self) -> Path:
        self.folder, self.block = TemporaryDirectory(), transaction.atomic()
        self.block.__enter__()
        return Path(self.folder.name)

    def __exit__(self, *error) -> None:
        transaction.set_rollback(True)
        self.block.__exit__(*error)
        self.folder.cleanup()


@pytest.mark.slow
@given(shops(), st.sampled_from(["woocommerce", "shopify"]), st.booleans(), st.data())
def test_what_a_file_lacks_stays(shop, made, format, cut, data):
    with Undone() as folder:
        assert errors(imported(shop, as_lines(*made), folder)) == []
        before = state(shop)
        header, rows = rows_of(exported(shop, format))
        columns = [name for name in header if name not in KEYS and not name.startswith("Attribute 1 ")]
        dropped = set(data.draw(st.lists(st.sampled_from(columns), unique=True)))
        kept = [position for position, name in enumerate(header) if name not in dropped]
        rows = [row for group in groups_of(header, rows) if data.draw(st.booleans()) for row in group]
        content = written([header[at] for at in kept], [[row[at] for at in kept] for row in rows], cut=cut)
        report = imported(shop, content, folder, update=True)
        assert (report.changes, report.failed, report.conflicts) == ([], 0, 0), report.problems
        assert state(shop) == before


@pytest.mark.slow
@given(shops(), st.data())
def test_members_that_a_native_file_lacks_stay(shop, made, data):
    with Undone() as folder:
        imported(shop, as_lines(*made), folder)
        before = state(shop)
        names = st.lists(st.sampled_from(sorted(made[0].keys() - {"slug"})), unique=True)
        dropped = set(data.draw(names))
        lines = [{name: value for name, value in each.items() if name not in dropped} for each in before.values()]
        report = imported(shop, as_lines(*lines), folder, update=True)
        assert (report.changes, report.failed) == ([], 0), report.problems
        assert state(shop) == before


@pytest.mark.slow
@given(shops(), st.sampled_from(["woocommerce", "shopify"]), st.data())
def test_a_file_without_keys_changes_the_wrong_product_never(shop, made, format, data):
    """A product or variant that the other keys do not tell is refused."""
    with Undone() as folder:
        imported(shop, as_lines(*made), folder)
        before = state(shop)
        header, rows = rows_of(exported(shop, format))
        columns = [name for name in header if name in KEYS or name.startswith("Attribute 1 ")]
        dropped = set(data.draw(st.lists(st.sampled_from(columns), unique=True, min_size=1)))
        if "Storefront source" in dropped:
            # IDs of an unknown source are new products.
            dropped.add("ID")
        if {"Type", "Parent", "Slug"} <= dropped:
            # Nothing is left that tells a variation from a product with its name.
            dropped.remove("Type")
        if {"ID", "SKU", "Slug"} <= dropped:
            # A name whose slug is no product's is that of a new one.
            dropped.remove("Slug")
        kept = [position for position, name in enumerate(header) if name not in dropped]
        content = written([header[at] for at in kept], [[row[at] for at in kept] for row in rows])
        try:
            report = imported(shop, content, folder, update=True)
        except UnreadableFile:
            assert dropped & {"Handle", "ID", "SKU", "Name"}
        else:
            assert (report.created, report.changes) == (0, []), report.problems
            is_told = not dropped & {"Type", "Parent", "Handle"} and bool({"Slug", "SKU", "Handle"} - dropped)
            if is_told and not any(each.get("variants") for each in made):
                assert (report.failed, report.conflicts) == (0, 0), report.problems
        assert state(shop) == before


PRICES = {"price", "compare_price", "regular_compare_price"}
SALES = PRICES | {"sale_price", "sale_from", "sale_until"}
# Columns with new cells for them, and the members that these may change.
CHANGES = {
    ("woocommerce", "Regular price"): (["", "77.00"], PRICES),
    ("woocommerce", "Sale price"): (["", "0.30"], SALES),
    ("woocommerce", "Stock"): (["", "4"], {"stock_qty", "track_inventory"}),
    ("woocommerce", "Published"): (["", "1", "0"], {"status", "is_active", "published_on", *SALES}),
    ("woocommerce", "Description"): (["", "New"], {"description"}),
    ("woocommerce", "Tags"): (["", "New"], {"tags"}),
    ("woocommerce", "Images"): (["", "https://p.example.com/9.jpg"], {"media", "image"}),
    ("woocommerce", "Categories"): (["", "New"], {"categories"}),
    ("woocommerce", "Is featured?"): (["", "1"], {"is_featured"}),
    ("woocommerce", "Tax status"): (["", "none"], {"is_taxable"}),
    ("woocommerce", "Visibility in catalog"): (["", "hidden"], {"exclude_from_catalog"}),
    ("woocommerce", "Backorders allowed?"): (["", "1"], {"allow_backorders"}),
    ("woocommerce", "Weight (kg)"): (["", "3"], {"weight"}),
    # The current price: one above the compare price ends a sale.
    ("shopify", "Variant Price"): (["", "77.00"], SALES),
    ("shopify", "Variant Inventory Qty"): (["", "4"], {"stock_qty"}),
    ("shopify", "Variant Inventory Policy"): (["", "continue"], {"allow_backorders"}),
    # `unlisted` becomes `active` or `draft`.
    ("shopify", "Status"): (["", "active", "draft"], {"status", "published_on", "exclude_from_catalog"}),
    ("shopify", "Published"): (["", "true", "false"], {"status", "published_on"}),
    ("shopify", "Variant Taxable"): (["", "false"], {"is_taxable"}),
    ("shopify", "Vendor"): (["", "New"], {"brand"}),
    ("shopify", "Gift Card"): ([""], set()),
}  # fmt: skip


def differing(before, after, name: str = "") -> set[str]:
    """The names of the innermost members that differ."""
    if isinstance(before, dict) and isinstance(after, dict):
        return {
            found
            for each in before.keys() | after.keys()
            for found in differing(before.get(each), after.get(each), each)
        }
    if name == "variants" and isinstance(after, list) and len(before) == len(after):
        return {found for pair in zip(before, after, strict=True) for found in differing(*pair, name)}
    return set() if before == after else {name}


@pytest.mark.slow
@given(shops(), st.sampled_from(sorted(CHANGES)), st.data())
def test_one_column_changes_its_members_alone(shop, made, where, data):
    format, column = where
    cells, members = CHANGES[where]
    with Undone() as folder:
        imported(shop, as_lines(*made), folder)
        before = state(shop)
        header, rows = rows_of(exported(shop, format))
        position, cell = header.index(column), data.draw(st.sampled_from(cells))
        for row in rows:
            # Of Shopify's rows, only a product's first one has its own values, and some have a picture alone.
            if row[position] and data.draw(st.booleans()):
                row[position] = cell
        imported(shop, written(header, rows), folder, update=True)
        after = state(shop)
        assert after.keys() == before.keys()
        for slug, product in after.items():
            assert differing(before[slug], product) <= members
            _check_harmless(before[slug], product, cell)


def _check_harmless(before: dict, after: dict, cell: str) -> None:
    """An empty cell makes nothing free, no draft and no inactive variant."""
    for old, new in zip([before, *before["variants"]], [after, *after["variants"]], strict=True):
        assert new["price"] != "0.00" or old["price"] == "0.00"
        if not cell:
            assert (new.get("status"), new.get("is_active")) == (old.get("status"), old.get("is_active"))
