"""Files of SKUs and stock, or SKUs and prices, update products and variants alike."""

import pytest

from storefront.catalogue.models import Product, Variant
from storefront.product_files import read_ahead
from storefront.product_files.models import ExternalId
from tests.catalogue.factories import make_product
from tests.product_files.files import as_lines, errors, imported, woo
from tests.product_files.variants import MUG, conflicts, sold
from tests.shops.factories import NOW

UNCHANGED = [("Red", "M-R", "9.50", 5), ("Blue", "M-B", "9.90", 6)]


@pytest.fixture(params=["one batch", "a batch each"], autouse=True)
def batches(request, monkeypatch):
    """A product is one unit wherever its rows are in the file."""
    if request.param == "a batch each":
        monkeypatch.setattr(read_ahead, "BATCH_PRODUCTS", 1)


@pytest.fixture(autouse=True)
def shops(shop, other_shop, tmp_path):
    """A mug in two colours and a plain cup, in two shops, of which only the first is imported into."""
    for each in (shop, other_shop):
        imported(each, MUG, tmp_path)
        make_product(each, "Cup", sku="C", price="4.00", stock_qty=3, created_at=NOW, updated_at=NOW)
    yield
    assert sold(other_shop) == UNCHANGED
    assert cup(other_shop) == ("4.00", 3)


def cup(shop) -> tuple[str, int]:
    found = Product.objects.get(shop=shop, sku="C")
    return str(found.price), found.stock_qty


LISTS = {
    "stock of WooCommerce": ("SKU,Stock\nM-R,1\nC,8\nM-B,2\n", "", 1),
    "prices of WooCommerce": ("SKU,Regular price\nM-R,1.00\nC,8.00\nM-B,2.00\n", "price", 0),
    "with ID and name": ("ID,SKU,Name,Regular price\n2,M-R,Any,1\n,C,Cup,8\n3,M-B,Mug,2\n", "price", 0),
    "by ID": ("ID,Regular price\n2,1\n3,2\n", "price", 0),
    "variations without parents": ("Type,SKU,Regular price\nvariation,M-R,1\nvariation,M-B,2\n", "price", 0),
    "parents without types": ("SKU,Parent,Regular price\nM-R,M,1\nC,,8\nM-B,M,2\n", "price", 0),
    "prices of Shopify": ("Variant SKU,Variant Price\nM-R,1\nC,8\nM-B,2\n", "price", 0),
    "stock of Shopify": ("Handle,Variant SKU,Variant Inventory Qty\nmug,M-R,1\ncup,C,8\nmug,M-B,2\n", "", 1),
    "one variant of Shopify": ("Handle,Variant SKU,Variant Price\nmug,M-R,1\ncup,C,8\n", "price", 0),
    "stock of the native format": (
        as_lines(*({"sku": s, "stock_qty": n} for s, n in {"M-R": 1, "C": 8}.items())),
        "",
        1,
    ),
}


@pytest.mark.parametrize("name", LISTS)
def test_products_and_variants_are_updated(shop, tmp_path, name):
    content, is_price, _ = LISTS[name]
    before = list(Variant.objects.filter(shop=shop).order_by("pk").values_list("pk", flat=True))
    for dry_run in (True, False):
        report = imported(shop, content, tmp_path, update=True, dry_run=dry_run)
        assert (report.created, report.failed, report.conflicts, errors(report)) == (0, 0, 0, [])
        assert report.updated == (2 if "C," in content or '"C"' in content else 1)
    values = [row[2] if is_price else row[3] for row in sold(shop)]
    given = ["1.00", "2.00"] if is_price else [1, 2]
    assert values == [
        wanted if f"M-{sku}" in content or name == "by ID" else old[2 if is_price else 3]
        for wanted, sku, old in zip(given, "RB", UNCHANGED, strict=True)
    ]
    if report.updated == 2:
        assert cup(shop) == (("8.00", 3) if is_price else ("4.00", 8))
    others = [(row[0], row[1], row[3] if is_price else row[2]) for row in sold(shop)]
    assert others == [(row[0], row[1], row[3] if is_price else row[2]) for row in UNCHANGED]
    assert list(Variant.objects.filter(shop=shop).order_by("pk").values_list("pk", flat=True)) == before
    assert [variant.name for variant in Variant.objects.filter(shop=shop).order_by("pk")] == ["Red", "Blue"]
    again = imported(shop, content, tmp_path, update=True)
    assert (again.skipped, again.changes, again.problems) == (report.updated, [], [])
    assert not ExternalId.objects.filter(product__shop=shop, external_id__in=(2, 3)).exists()


def test_the_row_of_the_product_itself_belongs_to_its_variants(shop, tmp_path):
    content = "SKU,Regular price,Tags\nM-R,1,\nM,,new\nM-B,2,\n"
    report = imported(shop, content, tmp_path, update=True)
    assert (report.updated, report.conflicts, errors(report)) == (1, 0, [])
    assert [row[2] for row in sold(shop)] == ["1.00", "2.00"]
    assert Product.objects.get(shop=shop, sku="M").tags == ["new"]


def test_without_update_they_are_skipped_with_the_reason(shop, tmp_path):
    report = imported(shop, "SKU,Name,Regular price\nM-R,Mug Red,1\n", tmp_path)
    assert report.counts() == {"created": 0, "updated": 0, "skipped": 1, "failed": 0, "conflicts": 0}
    assert list(map(str, report.unchanged)) == [
        "line 2, SKU M-R: the variant “Red” (SKU M-R) of “Mug” (mug, SKU M) is in the shop already"
    ]
    assert sold(shop) == UNCHANGED


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("SKU,Stock\nX,1\n", "line 2: no product or variant has the SKU X, and a new product needs a price column"),
        ("Variant SKU,Variant Price\nX,1\n", "line 2: no product or variant has the SKU X, and a new product needs th"),
        (as_lines({"sku": "X", "stock_qty": 1}), "line 1: no product or variant has the SKU X, and name: is required"),
        ("Variant SKU,Variant Price\n,1\n", "line 2, Variant SKU: is empty"),
    ],
)
def test_a_sku_that_nothing_has_is_refused(shop, tmp_path, content, reason):
    report = imported(shop, content, tmp_path, update=True)
    assert (report.created, report.failed) == (0, 1)
    assert errors(report)[0].startswith(reason)


def test_a_sku_of_a_product_and_a_variant_is_a_conflict_that_names_both(shop, tmp_path):
    make_product(shop, "Jug", sku="M-R")
    report = imported(shop, "SKU,Stock\nM-R,1\nM-B,2\n", tmp_path, update=True)
    assert conflicts(report) == [
        "line 2, SKU M-R: SKU M-R is that of “Jug” (jug, SKU M-R) and of the variant “Red” (SKU M-R) of "
        "“Mug” (mug, SKU M)"
    ]
    assert sold(shop)[0] == UNCHANGED[0]
    # A name that is the product's tells which one is meant.
    assert imported(shop, [woo(type="", sku="M-R", name="Jug")], tmp_path).skipped == 1


def test_a_sku_of_several_variants_is_a_conflict(shop, tmp_path):
    Variant.objects.filter(shop=shop).update(sku="S")
    (conflict,) = conflicts(imported(shop, "SKU,Stock\nS,1\n", tmp_path, update=True))
    assert "SKU S is that of the variant “Red” (SKU S) of “Mug” (mug, SKU M) and of the variant “Blue”" in conflict


def test_two_rows_of_one_variant_are_a_conflict_of_the_whole_product(shop, tmp_path):
    report = imported(shop, "SKU,Stock\nM-R,1\nM-B,2\nM-R,3\n", tmp_path, update=True)
    reason = "lines 2 and 4 have the same SKU M-R"
    assert conflicts(report) == [
        f"line 2, SKU M-R: {reason}",
        f"line 3, SKU M-B: {reason}",
        f"line 4, SKU M-R: {reason}",
    ]
    assert report.conflicts == 1
    assert sold(shop) == UNCHANGED


def test_a_row_that_cannot_be_read_keeps_the_whole_product_as_it_is(shop, tmp_path):
    report = imported(shop, "SKU,Stock\nM-R,1\nM-B,many\nC,8\n", tmp_path, update=True)
    assert (report.updated, report.failed) == (1, 1)
    assert errors(report) == [
        "line 2: is not imported, since line 3 is about the same product",
        "line 3, Stock: expected a number, found 'many'",
    ]
    assert (sold(shop), cup(shop)) == (UNCHANGED, ("4.00", 8))


def test_id_and_sku_of_two_variants_are_a_conflict(shop, tmp_path):
    (conflict,) = conflicts(imported(shop, "ID,SKU,Regular price\n2,M-B,1\n", tmp_path, update=True))
    assert "ID 2 is the variant “Red” (SKU M-R) of “Mug” (mug, SKU M), but SKU M-B is the variant “Blue”" in conflict
    assert sold(shop) == UNCHANGED


def test_an_id_of_another_shops_file_changes_no_variant(shop, tmp_path):
    rows = "ID,SKU,Name,Regular price\n2,B-9,Bicycle,80\n"
    (conflict,) = conflicts(imported(shop, rows, tmp_path, update=True))
    assert conflict.endswith("; if the file is from another shop, name it as the source of the import")
    assert imported(shop, rows, tmp_path, update=True, source="bikes").created == 1
    assert sold(shop) == UNCHANGED


def test_members_that_a_variant_has_not_are_named(shop, tmp_path):
    line = as_lines({"sku": "M-R", "name": "Other", "tags": ["x"], "stock_qty": 1})
    report = imported(shop, line, tmp_path, update=True)
    assert list(map(str, report.problems)) == ["line 1, tags: is not a member of a variant; ignored"]
    assert Product.objects.get(shop=shop, sku="M").tags == []


def test_a_product_with_handle_but_no_option_columns_can_change_without_its_variants(shop, tmp_path):
    assert imported(shop, "Handle,Title,Tags\nmug,Mug,new\n", tmp_path, update=True).updated == 1
    assert Product.objects.get(shop=shop, sku="M").tags == ["new"]
    assert sold(shop) == UNCHANGED
