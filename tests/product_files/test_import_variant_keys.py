"""Which existing variant a variation of a file is: by ID, then by a unique SKU, then by options; never a guess."""

import pytest

from storefront.carts.models import CartLine
from storefront.catalogue.models import Product, Variant
from storefront.product_files.models import ExternalVariantId
from tests.carts.factories import make_cart
from tests.product_files.files import as_lines, errors, exported, imported, woo
from tests.product_files.variants import BLUE, MUG, PARENT, RED, conflicts, listed, mug, sold, variation
from tests.shops.factories import NOW

UNCHANGED = [("Red", "M-R", "9.50", 5), ("Blue", "M-B", "9.90", 6)]


@pytest.fixture
def mugs(shop, other_shop, tmp_path):
    """The same mug in two shops, of which only the first is imported into."""
    for each in (shop, other_shop):
        assert imported(each, MUG, tmp_path).created == 1
    yield
    assert sold(other_shop) == UNCHANGED


@pytest.mark.usefixtures("mugs")
@pytest.mark.parametrize("parents", [mug(colours="Crimson, Blue"), []], ids=["with its parent", "alone"])
def test_a_renamed_variation_keeps_its_variant(shop, tmp_path, parents):
    red = Variant.objects.get(shop=shop, sku="M-R")
    line = CartLine.objects.create(
        shop=shop,
        created_at=NOW,
        cart=make_cart(shop),
        product=red.product,
        variant=red,
        key="k",
        qty=1,
    )
    for update in (False, True):
        report = imported(shop, [*parents[:1], RED | {"Attribute 1 value(s)": "Crimson"}], tmp_path, update=update)
        assert conflicts(report) == errors(report) == []
    assert sold(shop) == [("Crimson", "M-R", "9.50", 5), ("Blue", "M-B", "9.90", 6)]
    assert (listed(shop), CartLine.objects.get().variant_id, line.qty) == (["Crimson", "Blue"], red.pk, 1)
    red.refresh_from_db()
    assert red.name == "Crimson"


@pytest.mark.usefixtures("mugs")
def test_a_value_that_another_variant_has_stays_listed(shop, tmp_path):
    sizes = [
        row | {"Attribute 2 name": "Size", "Attribute 2 value(s)": size} for row, size in ((RED, "S"), (BLUE, "S"))
    ]
    imported(shop, sizes, tmp_path, update=True)
    imported(shop, [sizes[0] | {"Attribute 2 value(s)": "L"}], tmp_path, update=True)
    assert [item["values"] for item in Product.objects.get(shop=shop).attributes] == [["Red", "Blue"], ["S", "L"]]


@pytest.mark.usefixtures("mugs")
def test_an_id_finds_a_variation_that_changed_all_else_if_the_source_is_named(shop, tmp_path):
    changed = [variation("2", "NEW", "Crimson", stock="5")]
    assert conflicts(imported(shop, changed, tmp_path, update=True)) == [
        "line 2, SKU M: ID 2 is the variant “Red” (SKU M-R) of “Mug” (mug, SKU M), and neither SKU nor options agree; "
        "if the file is from another shop, name it as the source of the import"
    ]
    assert sold(shop) == UNCHANGED
    assert imported(shop, changed, tmp_path, update=True, source="woocommerce").updated == 1
    assert sold(shop)[0] == ("Crimson", "NEW", "9.50", 5)


def test_ids_of_variations_belong_to_their_source(shop, tmp_path):
    imported(shop, MUG, tmp_path, source="mugs")
    other = [woo(id="9", type="variable", sku="C", name="Cup"), variation("2", "C-R", "Red") | {"Parent": "C"}]
    assert imported(shop, other, tmp_path, source="cups").created == 1
    links = ExternalVariantId.objects.order_by("source__name", "external_id")
    assert list(links.values_list("source__name", "external_id", "variant__sku")) == [
        ("cups", 2, "C-R"), ("mugs", 2, "M-R"), ("mugs", 3, "M-B"),
    ]  # fmt: skip


def test_variations_that_were_imported_without_ids_get_them(shop, tmp_path):
    imported(shop, MUG, tmp_path)
    ExternalVariantId.objects.all().delete()
    assert imported(shop, MUG, tmp_path, update=True).skipped == 1
    assert list(ExternalVariantId.objects.order_by("external_id").values_list("external_id", flat=True)) == [2, 3]


def test_an_id_of_a_deleted_products_variation_names_the_new_one(shop, tmp_path):
    imported(shop, MUG, tmp_path)
    Product.objects.update(deleted_at=NOW)
    assert imported(shop, MUG, tmp_path).created == 1
    link = ExternalVariantId.objects.get(external_id=2)
    assert link.variant.product == Product.objects.get(deleted_at=None)


@pytest.mark.usefixtures("mugs")
@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([RED | {"SKU": "M-B"}], "ID 2 is the variant “Red” (SKU M-R) of “Mug” (mug, SKU M), but SKU M-B is that of "),
        ([RED, RED | {"Attribute 1 value(s)": "Green"}], "lines 2 and 3 are the same variant, “Red”"),
        ([RED | {"Attribute 1 value(s)": "Blue"}], "the variant on line 2 would have the same options as the variant"),
        ([variation("", "M-R"), variation("", "M-R")], "lines 2 and 3 have the same SKU M-R"),
        ([variation("", "M-G")], "“Mug” (mug, SKU M) has no variant with the SKU M-G (line 2); a new one needs its op"),
    ],
)
def test_contradictions_are_conflicts_and_the_product_stays_as_a_whole(shop, tmp_path, rows, reason):
    rows = [rows[0], *rows[1:], BLUE | {"Stock": "1", "SKU": ""}] if reason.startswith("line") else rows
    for dry_run in (True, False):
        (conflict,) = conflicts(imported(shop, rows, tmp_path, update=True, dry_run=dry_run))
        assert reason in conflict
    assert sold(shop) == UNCHANGED


@pytest.mark.usefixtures("mugs")
def test_a_sku_of_another_products_variant_is_a_conflict_that_names_both(shop, tmp_path):
    imported(
        shop,
        as_lines({"name": "Cup", "sku": "C", "variants": [{"option_values": {"Colour": "Green"}, "sku": "C-G"}]}),
        tmp_path,
    )
    report = imported(shop, [variation("", "C-G", "Green")], tmp_path, update=True)
    assert conflicts(report) == [
        "line 2, SKU M: SKU C-G is the variant “Green” (SKU C-G) of “Cup” (cup, SKU C), but the product of line 2 is "
        "“Mug” (mug, SKU M)"
    ]
    assert sold(shop) == UNCHANGED


@pytest.mark.usefixtures("mugs")
def test_an_id_of_another_products_variant_is_a_conflict_that_names_both(shop, tmp_path):
    cup = woo(id="9", type="variable", sku="C", name="Cup")
    imported(shop, [cup, variation("8", "C-G", "Green") | {"Parent": "C"}], tmp_path)
    (conflict,) = conflicts(imported(shop, [variation("8", "M-R", "Red")], tmp_path, update=True))
    reason = "ID 8 is the variant “Green” (SKU C-G) of “Cup” (cup, SKU C), but its product is “Mug” (mug, SKU M)"
    assert reason in conflict


def test_variants_of_one_product_that_share_a_sku_are_found_by_their_options(shop, tmp_path):
    rows = mug(variation("", "S", "Red"), variation("", "S", "Blue"))
    imported(shop, rows, tmp_path)
    rows[2]["Regular price"] = "7"
    assert imported(shop, rows, tmp_path, update=True).updated == 1
    assert sold(shop) == [("Red", "S", "9.50", 0), ("Blue", "S", "7.00", 0)]


@pytest.mark.usefixtures("mugs")
def test_swapped_skus_without_ids_swap_no_more_than_the_options(shop, tmp_path):
    rows = [variation("", "M-B", "Red", stock="5"), variation("", "M-R", "Blue", stock="6")]
    imported(shop, rows, tmp_path, update=True)
    assert sorted(sold(shop)) == [("Blue", "M-R", "9.50", 6), ("Red", "M-B", "9.50", 5)]


@pytest.mark.parametrize("format", ["native", "woocommerce", "shopify"])
def test_an_export_changes_nothing(shop, tmp_path, format):
    imported(shop, MUG, tmp_path)
    imported(shop, [RED | {"Attribute 1 value(s)": "Crimson"}], tmp_path, update=True)
    report = imported(shop, exported(shop, format), tmp_path, update=True)
    assert (report.skipped, report.changes, report.problems) == (1, [], [])


@pytest.mark.usefixtures("mugs")
@pytest.mark.parametrize("format", ["shopify", "native"])
def test_a_renamed_value_of_other_formats_keeps_its_variant(shop, tmp_path, format):
    before = list(Variant.objects.filter(shop=shop).order_by("pk").values_list("pk", flat=True))
    assert imported(shop, exported(shop, format).replace("Red", "Crimson"), tmp_path, update=True).updated == 1
    assert [(row[0], row[1]) for row in sold(shop)] == [("Crimson", "M-R"), ("Blue", "M-B")]
    assert list(Variant.objects.filter(shop=shop).order_by("pk").values_list("pk", flat=True)) == before
    assert listed(shop) == ["Crimson", "Blue"]


def test_a_new_product_cannot_have_several_variations_without_attributes(shop, tmp_path):
    rows = [PARENT, variation("2", "M-R"), variation("3", "M-B")]
    report = imported(shop, rows, tmp_path)
    reason = "the variations on lines 3 and 4 have no attributes to choose by"
    assert (report.created, errors(report)) == (0, [f"line 3: {reason}", f"line 4: {reason}"])
