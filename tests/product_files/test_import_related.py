import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storefront.catalogue.models import Product, RelatedProduct
from storefront.product_files.exporting import export_products
from tests.catalogue.factories import make_product, make_related, make_variant
from tests.product_files.files import as_lines, errors, imported, warnings, woo
from tests.shops.factories import NOW


def related(shop, name: str, kind: str = "up_sell") -> list[str]:
    rows = RelatedProduct.objects.filter(shop=shop, product__shop=shop, product__name=name, kind=kind)
    return [row.related_product.name for row in rows.order_by("sort_order")]


def test_up_sells_and_cross_sells_can_come_later_in_the_file(shop, other_shop, tmp_path):
    rows = [
        woo(id="1", sku="A", name="Apple", upsells="C, id:2, C", **{"cross-sells": "id:3"}),
        woo(id="2", sku="B", name="Bear", upsells=""),
        woo(id="3", sku="C", name="Cat", upsells="A"),
    ]
    imported(other_shop, rows, tmp_path)
    report = imported(shop, rows, tmp_path)

    assert (report.created, report.failed, report.problems) == (3, 0, [])
    assert (related(shop, "Apple"), related(shop, "Apple", "cross_sell")) == (["Cat", "Bear"], ["Cat"])
    assert (related(shop, "Bear"), related(shop, "Cat")) == ([], ["Apple"])
    assert {row.related_product.shop for row in RelatedProduct.objects.filter(shop=shop)} == {shop}


def test_names_of_no_product_or_of_several_are_warnings(shop, other_shop, tmp_path):
    theirs = make_product(other_shop, "Theirs", sku="T", legacy_source_id=9)
    make_variant(theirs, sku="T-BLUE")
    make_product(shop, "One", sku="S")
    make_product(shop, "Two", sku="S")
    report = imported(shop, [woo(sku="A", name="Apple", upsells="T, T-BLUE, id:9, S, A, id:x")], tmp_path)
    assert report.created == 1
    assert warnings(report) == [
        "line 2, Upsells: 'T' is not a product in the file or the shop; ignored",
        "line 2, Upsells: 'T-BLUE' is not a product in the file or the shop; ignored",
        "line 2, Upsells: 'id:9' is not a product in the file or the shop; ignored",
        "line 2, Upsells: 'S' is the SKU of 2 products; ignored",
        "line 2, Upsells: 'A' is the product itself; ignored",
        "line 2, Upsells: 'id:x' is not a product in the file or the shop; ignored",
    ]
    assert related(shop, "Apple") == []


def test_products_that_the_shop_has_are_found_and_a_variants_sku_is_its_products(shop, tmp_path):
    cup = make_product(shop, "Cup", sku="CUP")
    shirt = make_product(shop, "Shirt", type="variable")
    shirt.variants.create(shop=shop, name="Blue", sku="SHIRT-BLUE", created_at=NOW, updated_at=NOW)
    report = imported(shop, [woo(sku="A", name="Apple", upsells="CUP, SHIRT-BLUE")], tmp_path)
    assert report.problems == []
    assert related(shop, "Apple") == [cup.name, shirt.name]


def test_an_update_writes_what_differs_and_nothing_else(shop, other_shop, tmp_path):
    rows = [woo(sku=sku, name=name, upsells="") for sku, name in (("A", "Apple"), ("B", "Bear"), ("C", "Cat"))]
    rows[0]["Upsells"] = "B, C"
    for each in (shop, other_shop):
        imported(each, rows, tmp_path)
    kept = list(RelatedProduct.objects.filter(shop=shop).values_list("pk", "sort_order"))

    report = imported(shop, rows, tmp_path, update=True)
    assert (report.counts()["skipped"], report.changes) == (3, [])
    assert list(RelatedProduct.objects.filter(shop=shop).values_list("pk", "sort_order")) == kept

    rows[0]["Upsells"], rows[2]["Upsells"] = "C", "A"
    report = imported(shop, rows, tmp_path)
    assert report.counts()["skipped"] == 3
    assert related(shop, "Apple") == ["Bear", "Cat"]

    for dry_run in (True, False):
        report = imported(shop, rows, tmp_path, update=True, dry_run=dry_run)
        assert (report.updated, report.skipped) == (2, 1)
        assert report.changes == [
            {"line": 2, "change": "update", "slug": "apple", "fields": {"up_sells": [["bear", "cat"], ["cat"]]}},
            {"line": 4, "change": "update", "slug": "cat", "fields": {"up_sells": [[], ["apple"]]}},
        ]
        assert related(shop, "Apple") == (["Bear", "Cat"] if dry_run else ["Cat"])
    assert related(other_shop, "Apple") == ["Bear", "Cat"]


def test_a_product_that_changes_otherwise_is_counted_once(shop, tmp_path):
    imported(shop, [woo(sku="A", name="Apple", upsells=""), woo(sku="B", name="Bear", upsells="")], tmp_path)
    rows = [woo(sku="A", name="Apple", upsells="B", regular_price="7"), woo(sku="B", name="Bear", upsells="")]
    assert imported(shop, rows, tmp_path, update=True).counts()["updated"] == 1
    assert related(shop, "Apple") == ["Bear"]


def test_a_file_without_the_columns_keeps_what_a_product_has(shop, tmp_path):
    apple, bear = make_product(shop, "Apple", sku="A"), make_product(shop, "Bear", sku="B")
    make_related(apple, bear)
    imported(shop, [woo(sku="A", name="Apple", regular_price="7")], tmp_path, update=True)
    assert related(shop, "Apple") == ["Bear"]


def test_related_products_that_are_deleted_stay_for_the_case_that_they_are_restored(shop, tmp_path):
    apple, bear, cat = (make_product(shop, name, sku=name) for name in ("Apple", "Bear", "Cat"))
    make_related(apple, bear, cat)
    Product.objects.filter(pk=bear.pk).update(deleted_at=NOW)
    out = io.StringIO(newline="")
    export_products(shop=shop, format="native", out=out)
    assert imported(shop, out.getvalue(), tmp_path, update=True).counts()["skipped"] == 2
    assert related(shop, "Apple") == ["Bear", "Cat"]


def test_a_dry_run_says_the_same_as_the_import(shop, tmp_path):
    rows = [woo(sku="A", name="Apple", upsells="B, X"), woo(sku="B", name="Bear", upsells="A")]
    said = imported(shop, rows, tmp_path, dry_run=True).problems
    assert not RelatedProduct.objects.exists()
    assert imported(shop, rows, tmp_path).problems == said
    assert [problem.reason for problem in said] == ["'X' is not a product in the file or the shop; ignored"]


def test_the_native_format_has_slugs(shop, tmp_path):
    lines = as_lines(
        {"name": "Apple", "price": "1.00", "up_sells": ["bear", "nothing"], "cross_sells": ["bear"]},
        {"name": "Bear", "price": "1.00"},
    )
    report = imported(shop, lines, tmp_path)
    assert warnings(report) == ["line 1, up_sells: 'nothing' is not a product in the file or the shop; ignored"]
    assert related(shop, "Apple") == related(shop, "Apple", "cross_sell") == ["Bear"]


@pytest.mark.parametrize("given", ["bear", [1], [["bear"]]])
def test_other_values_are_errors_of_the_member(shop, tmp_path, given):
    report = imported(shop, as_lines({"name": "Apple", "price": "1.00", "up_sells": given}), tmp_path)
    assert (report.created, report.failed) == (0, 1)
    assert errors(report)[0].startswith("line 1, up_sells")


# Relations as (product, kind, related product) by their numbers.
relations = st.sets(
    st.tuples(st.integers(0, 4), st.sampled_from(["up_sell", "cross_sell"]), st.integers(0, 4)), max_size=12
)


@pytest.mark.slow
@given(links=relations, format=st.sampled_from(["native", "woocommerce"]))
def test_an_export_keeps_related_products(shop, other_shop, tmp_path, links, format):
    Product.objects.all().delete()
    # All have the same SKU, so that only ids and slugs can tell them apart.
    products = [make_product(shop, f"Product {n}", sku="R") for n in range(5)]
    for n, product in enumerate(products):
        for kind in ("up_sell", "cross_sell"):
            others = [products[to] for of, by, to in sorted(links) if (of, by) == (n, kind) and to != n]
            make_related(product, *others, kind=kind)
    out = io.StringIO(newline="")
    export_products(shop=shop, format=format, out=out)
    assert imported(other_shop, out.getvalue(), tmp_path).created == 5
    report = imported(shop, out.getvalue(), tmp_path, update=True)
    assert (report.skipped, report.changes, report.problems) == (5, [], [])
    for product in products:
        for kind in ("up_sell", "cross_sell"):
            assert related(other_shop, product.name, kind) == related(shop, product.name, kind)
