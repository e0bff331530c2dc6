"""Which existing product a product of a file is: never a guess, and nothing is lost or overwritten in silence."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storefront.catalogue.models import Product
from storefront.product_files import read_ahead
from storefront.product_files.csv_reading import UnreadableFile
from storefront.product_files.models import ExternalId, ImportSource
from tests.product_files.files import as_lines, exported, imported, woo
from tests.shops.factories import NOW

APPLE = woo(id="1001", sku="A-1", name="Apple", regular_price="5")
BICYCLE = woo(id="1001", sku="B-9", name="Bicycle", regular_price="80")


@pytest.fixture(params=["one batch", "a batch each"])
def batches(request, monkeypatch):
    """The result does not depend on which products of a file are in one batch."""
    if request.param == "a batch each":
        monkeypatch.setattr(read_ahead, "BATCH_PRODUCTS", 1)


def conflicts(report) -> list[str]:
    return [str(problem) for problem in report.problems if problem.severity == "conflict"]


def names_of(shop) -> list[str]:
    return list(Product.objects.filter(shop=shop, deleted_at=None).order_by("id").values_list("name", flat=True))


@pytest.mark.parametrize("update", [False, True])
def test_an_id_of_another_shop_is_a_conflict_until_its_source_is_named(shop, tmp_path, update):
    imported(shop, [APPLE], tmp_path)
    before = list(Product.objects.values())

    report = imported(shop, [BICYCLE], tmp_path, update=update)
    assert report.counts() == {"created": 0, "updated": 0, "skipped": 0, "failed": 0, "conflicts": 1}
    assert conflicts(report) == [
        "line 2, ID 1001: ID 1001 is “Apple” (apple, SKU A-1), and neither SKU, slug nor name agrees; if the file is "
        "from another shop, name it as the source of the import"
    ]
    assert list(Product.objects.values()) == before

    assert imported(shop, [BICYCLE], tmp_path, update=update, source="bikes").created == 1
    assert names_of(shop) == ["Apple", "Bicycle"]
    # The last source is remembered, and both know their own product 1001.
    assert imported(shop, [BICYCLE], tmp_path, update=update).counts()["skipped"] == 1
    assert imported(shop, [APPLE], tmp_path, update=update, source="woocommerce").counts()["skipped"] == 1
    assert names_of(shop) == ["Apple", "Bicycle"]


def test_an_id_of_a_named_source_finds_a_product_that_was_renamed(shop, other_shop, tmp_path):
    imported(shop, [APPLE], tmp_path, source="fruit")
    imported(other_shop, [APPLE], tmp_path, source="fruit")
    report = imported(shop, [BICYCLE], tmp_path, source="fruit", update=True)
    assert (report.updated, names_of(shop), names_of(other_shop)) == (1, ["Bicycle"], ["Apple"])


def test_id_and_slug_of_two_products_are_a_conflict(shop, tmp_path):
    imported(shop, [woo(id="1", sku="A", name="Apple"), woo(id="2", sku="B", name="Bicycle")], tmp_path, source="x")
    before = list(Product.objects.values())
    report = imported(shop, [woo(id="2", name="Bicycle", slug="apple")], tmp_path, source="x", update=True)
    assert conflicts(report) == [
        "line 2, ID 2: ID 2 is “Bicycle” (bicycle, SKU B), but slug apple is “Apple” (apple, SKU A)"
    ]
    assert list(Product.objects.values()) == before


def test_id_and_sku_of_two_products_are_a_conflict(shop, tmp_path):
    imported(shop, [woo(id="1", sku="A", name="Apple"), woo(id="2", sku="B", name="Bicycle")], tmp_path)
    report = imported(shop, [woo(id="1", sku="B", name="Apple")], tmp_path, update=True)
    assert conflicts(report) == [
        "line 2, ID 1: ID 1 is “Apple” (apple, SKU A), but SKU B is “Bicycle” (bicycle, SKU B)"
    ]


def test_slug_and_sku_of_two_products_are_a_conflict(shop, tmp_path):
    imported(shop, as_lines({"name": "Apple", "sku": "A"}, {"name": "Bicycle", "sku": "B"}), tmp_path)
    report = imported(shop, as_lines({"name": "Apple", "slug": "apple", "sku": "B"}), tmp_path, update=True)
    assert conflicts(report) == [
        "line 1, slug apple: slug apple is “Apple” (apple, SKU A), but SKU B is “Bicycle” (bicycle, SKU B)"
    ]


def test_names_of_another_script_are_different_products(shop, tmp_path, batches):
    names = ["Кружка XL", "Чашка XL", "日本茶 100g", "中国茶 100g"]
    content = as_lines(*({"name": name, "price": "5.00"} for name in names))
    assert imported(shop, content, tmp_path).counts()["created"] == 4
    assert imported(shop, content, tmp_path, update=True).counts()["skipped"] == 4
    slugs = Product.objects.filter(shop=shop).order_by("id").values_list("slug", flat=True)
    assert list(slugs) == ["кружка-xl", "чашка-xl", "日本茶-100g", "中国茶-100g"]


@pytest.mark.parametrize("as_file", [lambda row: [woo(name=row["name"])], as_lines], ids=["WooCommerce", "native"])
def test_names_that_share_a_slug_are_a_conflict(shop, tmp_path, as_file):
    """A row that states neither ID, slug nor SKU would change a product of another name."""
    imported(shop, as_lines({"name": "C++ book", "price": "5.00"}), tmp_path)
    before = list(Product.objects.values())
    report = imported(shop, as_file({"name": "C book", "price": "6.00"}), tmp_path, update=True)
    assert report.counts()["conflicts"] == 1
    assert "the slug of its name is that of “C++ book” (c-book); state a slug or an SKU" in conflicts(report)[0]
    assert list(Product.objects.values()) == before
    assert imported(shop, as_file({"name": "c++ BOOK", "price": "6.00"}), tmp_path).counts()["skipped"] == 1


def test_a_name_is_the_same_however_its_accents_are_written(shop, tmp_path):
    composed, decomposed = "Caf\u00e9", "Cafe\u0301"
    assert imported(shop, as_lines({"name": composed, "price": "5.00"}), tmp_path).counts()["created"] == 1
    assert imported(shop, as_lines({"name": decomposed, "price": "5.00"}), tmp_path).counts()["skipped"] == 1


def test_names_of_one_file_that_share_a_slug_are_a_conflict(shop, tmp_path, batches):
    report = imported(shop, as_lines(*({"name": name, "price": "5.00"} for name in ("C book", "C++ book"))), tmp_path)
    (conflict,) = conflicts(report)
    assert conflict.startswith("line 2, name C++ book: ")
    assert "the product on line 1 has the same slug" in conflict or "that of “C book” (c-book)" in conflict
    assert names_of(shop) == ["C book"]


@pytest.mark.usefixtures("batches")
def test_products_of_one_file_may_share_a_sku(shop, tmp_path):
    rings = [woo(id="1", sku="R", name="Gold ring"), woo(id="2", sku="R", name="Silver ring")]
    assert imported(shop, rings, tmp_path).created == 2
    for update in (False, True):
        report = imported(shop, rings, tmp_path, update=update)
        assert report.counts() == {"created": 0, "updated": 0, "skipped": 2, "failed": 0, "conflicts": 0}
    assert names_of(shop) == ["Gold ring", "Silver ring"]


@pytest.mark.usefixtures("batches")
def test_a_sku_of_several_products_identifies_none(shop, tmp_path):
    imported(shop, [woo(sku="R", name="Gold ring"), woo(sku="R", name="Silver ring")], tmp_path)
    report = imported(shop, [woo(sku="R", name="Gold ring", regular_price="1")], tmp_path, update=True)
    assert conflicts(report) == [
        "line 2, SKU R: SKU R is that of “Gold ring” (gold-ring, SKU R) and of “Silver ring” (silver-ring, SKU R)"
    ]


@pytest.mark.usefixtures("batches")
def test_a_sku_that_the_file_repeats_identifies_none(shop, tmp_path):
    imported(shop, [woo(sku="R", name="Gold ring")], tmp_path)
    rows = [woo(sku="R", name="Gold ring", regular_price="1"), woo(sku="R", name="Silver ring")]
    report = imported(shop, rows, tmp_path, update=True)
    reason = "several products of the file have the SKU R, which “Gold ring” (gold-ring, SKU R) has"
    assert conflicts(report) == [f"line 2, SKU R: {reason}", f"line 3, SKU R: {reason}"]
    assert [str(price) for price in Product.objects.values_list("price", flat=True)] == ["9.50"]


def test_a_new_id_of_a_named_source_is_a_new_product_even_with_a_shared_sku(shop, tmp_path):
    imported(shop, [woo(id="1", sku="R", name="Gold ring")], tmp_path, source="rings")
    silver = woo(id="2", sku="R", name="Silver ring")
    assert conflicts(imported(shop, [silver], tmp_path)) == [
        "line 2, ID 2: SKU R is “Gold ring” (gold-ring, SKU R), which has another ID; if the file is from another "
        "shop, name it as the source of the import"
    ]
    assert imported(shop, [silver], tmp_path, source="rings").created == 1
    assert names_of(shop) == ["Gold ring", "Silver ring"]


@pytest.mark.usefixtures("batches")
@pytest.mark.parametrize(
    ("first", "second", "key"),
    [
        (woo(id="1", name="Mug"), woo(id="1", name="Other"), "ID 1"),
        (woo(name="Mug", slug="mug"), woo(name="Other", slug="mug"), "slug mug"),
        (woo(sku="M", name="Mug"), woo(sku="M", name="Mug"), "SKU and name M, Mug"),
        (woo(name="Mug"), woo(name="Mug"), "name Mug"),
    ],
)
def test_a_product_that_a_file_has_twice_is_imported_once_and_told(shop, tmp_path, first, second, key):
    for dry_run in (True, False):
        report = imported(shop, [first, second], tmp_path, update=True, dry_run=dry_run)
        assert (report.created, report.updated) == (1, 0)
        assert [text.split(": ", 1)[1] for text in conflicts(report)] == [
            f"the product on line 2 has the same {key}",
        ]
    assert names_of(shop) == ["Mug"]


@pytest.mark.usefixtures("batches")
def test_two_products_of_a_file_that_are_one_of_the_shop(shop, tmp_path):
    imported(shop, [woo(id="1", sku="M", name="Mug")], tmp_path)
    report = imported(shop, [woo(id="1", name="Mug", sku="M"), woo(name="Mug")], tmp_path, update=True)
    assert conflicts(report) == ["line 3, name Mug: is “Mug” (mug, SKU M), as is the product on line 2"]


def test_every_skipped_product_is_reported(shop, tmp_path):
    imported(shop, [APPLE], tmp_path)
    report = imported(shop, [APPLE], tmp_path)
    assert list(map(str, report.unchanged)) == ["line 2, ID 1001: “Apple” (apple, SKU A-1) is in the shop already"]
    report = imported(shop, [APPLE], tmp_path, update=True)
    assert list(map(str, report.unchanged)) == ["line 2, ID 1001: “Apple” (apple, SKU A-1) does not differ"]


def test_an_id_of_a_deleted_product_names_the_new_one(shop, tmp_path):
    imported(shop, [APPLE], tmp_path)
    Product.objects.update(deleted_at=NOW)
    assert imported(shop, [APPLE], tmp_path).created == 1
    assert ExternalId.objects.get().product == Product.objects.get(deleted_at=None)


def test_an_export_of_a_copy_of_the_shop_does_not_overwrite_what_the_original_has_under_that_id(shop, tmp_path):
    imported(shop, [APPLE], tmp_path)
    apple = Product.objects.get()
    row = woo(id=str(apple.pk), sku="B-9", name="Bicycle", slug="bicycle") | {"Storefront source": shop.domain}
    report = imported(shop, [row], tmp_path, update=True)
    assert (report.conflicts, report.updated, names_of(shop)) == (1, 0, ["Apple"])


def test_naming_the_shop_itself_does_not_make_the_ids_of_a_file_its_own(shop, tmp_path):
    imported(shop, [APPLE], tmp_path)
    row = woo(id=str(Product.objects.get().pk), sku="B-9", name="Bicycle")
    assert imported(shop, [row], tmp_path, update=True, source=shop.domain).created == 1
    assert names_of(shop) == ["Apple", "Bicycle"]


def test_a_product_that_was_added_to_an_export_may_share_a_sku(shop, other_shop, tmp_path):
    imported(shop, [woo(id="1", sku="R", name="Gold ring")], tmp_path)
    imported(other_shop, exported(shop, "woocommerce"), tmp_path)
    imported(shop, [woo(id="2", sku="R", name="Silver ring")], tmp_path, source="woocommerce")
    report = imported(other_shop, exported(shop, "woocommerce"), tmp_path, update=True)
    assert (report.created, report.skipped, report.conflicts) == (1, 1, 0)
    assert names_of(other_shop) == ["Gold ring", "Silver ring"]


def test_only_files_with_ids_have_a_source(shop, tmp_path):
    with pytest.raises(UnreadableFile, match="Only WooCommerce files have IDs of a source; this file is native"):
        imported(shop, as_lines({"name": "Mug"}), tmp_path, source="x")
    with pytest.raises(UnreadableFile, match="at most 100 printable characters"):
        imported(shop, [APPLE], tmp_path, source="x" * 101)
    assert not ImportSource.objects.exists()


def test_a_dry_run_remembers_no_source(shop, tmp_path):
    assert imported(shop, [APPLE], tmp_path, source="fruit", dry_run=True).created == 1
    assert not ImportSource.objects.exists()


TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z")), min_size=1, max_size=8)
PRODUCTS = st.fixed_dictionaries(
    {
        "name": st.one_of(st.sampled_from(["Ring", "Mug", "Ring & Mug", "=Sum", "Tasse groß"]), TEXTS),
        "sku": st.sampled_from(["", "R", "'R", "-1", "S"]),
        "price": st.sampled_from(["1.00", "19.90"]),
        "description": st.one_of(st.just(""), TEXTS),
        "variants": st.sampled_from(
            [
                [],
                [{"option_values": {"Size": size}, "sku": "R", "price": "2.00"} for size in ("S", "M, L")],
                [{"option_values": {"Colour": "Blue"}, "sku": "V", "price": "3.00", "is_active": False, "weight": "1"}],
            ]
        ),
    },
    # What a CSV file cannot hold, or only in part.
    optional={
        "status": st.sampled_from(["draft", "archived"]),
        "compare_price": st.sampled_from(["0.50", "25.00"]),
        "weight": st.sampled_from(["0.333", "12.000"]),
        "length": st.just("2.54"),
        "dimension_unit": st.sampled_from(["cm", "in"]),
        "stock_qty": st.sampled_from([0, 7]),
        "tags": st.lists(st.sampled_from(["a", "b, c", "b"]), unique=True),
        "attributes": st.sampled_from([[{"name": "Size", "values": ["XL"]}, {"name": "Care", "values": ["30°, dry"]}]]),
        "meta_title": st.sampled_from(["", "Title"]),
        "translations": st.just({"de": {"name": "Ring"}}),
    },
)


@pytest.mark.slow
@pytest.mark.django_db
@pytest.mark.parametrize("format", ["native", "woocommerce", "shopify"])
@given(products=st.lists(PRODUCTS, min_size=1, max_size=6), encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]))
def test_every_format_keeps_products_that_share_skus_and_names(format, products, encoding, tmp_path, shop, other_shop):
    Product.objects.all().delete()
    lines = [{"status": "active", **each, "slug": f"p-{number}"} for number, each in enumerate(products)]
    assert imported(shop, as_lines(*lines), tmp_path).created == len(products)
    file = exported(shop, format).encode(encoding)

    again = imported(shop, file, tmp_path, update=True)
    assert (again.counts()["skipped"], again.changes, conflicts(again)) == (len(products), [], [])

    report = imported(other_shop, file, tmp_path)
    assert (report.created, conflicts(report)) == (len(products), [])
    copies = [
        sorted(Product.objects.filter(shop=each).values_list("slug", "name", "description", "type"))
        for each in (shop, other_shop)
    ]
    assert copies[0] == copies[1]
    # The formats of others give a product with variants neither a price nor a SKU of its own.
    single = [
        sorted(Product.objects.filter(shop=each, variants=None).values_list("slug", "sku", "price"))
        for each in (shop, other_shop)
    ]
    assert single[0] == single[1]
    variants = [
        sorted(
            (slug, sku, str(values))
            for slug, sku, values in Product.objects.filter(shop=each)
            .exclude(variants=None)
            .values_list("slug", "variants__sku", "variants__option_values")
        )
        for each in (shop, other_shop)
    ]
    assert variants[0] == variants[1]
    assert imported(other_shop, file, tmp_path, update=True).counts()["skipped"] == len(products)
