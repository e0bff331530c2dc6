"""Sale periods in product files: what is stated goes out and comes back, and holds by the time of the import."""

from datetime import UTC, datetime, timedelta

from storefront.catalogue.models import Product
from tests.product_files.files import as_lines, errors, exported, imported, woo
from tests.shops.factories import NOW


def test_a_sale_and_its_dates_go_out_and_come_back(shop, other_shop, tmp_path):
    """In the shop's time zone, Berlin. A day is meant whole."""
    dates = {"date_sale_price_starts": "2026-11-20", "date_sale_price_ends": "2026-12-01"}
    rows = [
        woo(sku="M1", sale_price="8", regular_price="10", **dates),
        woo(sku="P1", name="Plan", sale_price="7", regular_price="10", date_sale_price_starts="2027-01-01 10:30:00"),
    ]
    imported(shop, rows, tmp_path)
    mug, plan = Product.objects.filter(shop=shop).order_by("pk")
    assert (mug.price, mug.compare_price, mug.sale_price, plan.price, plan.sale_price) == (8, 10, 8, 10, 7)
    assert (mug.sale_from, mug.sale_until) == (
        datetime(2026, 11, 19, 23, tzinfo=UTC),
        datetime(2026, 12, 1, 22, 59, 59, tzinfo=UTC),
    )
    text = exported(shop, "woocommerce")
    assert imported(shop, text, tmp_path, update=True).updated == 0
    imported(other_shop, text, tmp_path)
    columns = ("price", "compare_price", "sale_price", "sale_from", "sale_until")
    copies = Product.objects.filter(shop=other_shop).order_by("pk")
    assert list(copies.values_list(*columns)) == list(
        Product.objects.filter(shop=shop).order_by("pk").values_list(*columns)
    )
    # A new regular price changes that one, and the sale goes on.
    report = imported(shop, text.replace("10.00", "12.00"), tmp_path, update=True)
    assert report.updated == 2
    assert list(Product.objects.filter(shop=shop).order_by("pk").values_list("price", "compare_price")) == [
        (8, 12),
        (12, 0),
    ]
    # A file without the sale ends it.
    imported(shop, [woo(sku="M1", sale_price="", regular_price="12")], tmp_path, update=True)
    mug.refresh_from_db()
    assert (mug.price, mug.compare_price, mug.sale_price, mug.sale_until) == (12, 0, None, None)


def test_a_variable_product_is_sorted_by_its_cheapest_sale(shop, tmp_path):
    sale = {"sale_price": "6", "regular_price": "10", "date_sale_price_ends": "2026-12-01"}
    rows = [
        woo(type="variable", sku="S", name="Scarf", regular_price="", attribute_1_name="Colour"),
        woo(type="variation", sku="S1", parent="S", attribute_1_name="Colour", attribute_1_values_="Blue", **sale),
    ]
    imported(shop, rows, tmp_path)
    scarf = Product.objects.get(shop=shop)
    assert (scarf.price, scarf.compare_price, scarf.variants.get().price) == (6, 10, 6)


def test_a_native_file_that_states_a_regular_price_leaves_the_sale_on(shop, tmp_path):
    sale = {"sale_price": "8.00", "sale_until": "2026-12-01T00:00:00Z"}
    imported(shop, as_lines({"name": "Mug", "price": "10.00", **sale}), tmp_path)
    mug = Product.objects.get(shop=shop)
    assert (mug.price, mug.compare_price) == (8, 10)
    imported(shop, as_lines({"name": "Mug", "slug": "mug", "price": "12.00"}), tmp_path, update=True)
    mug.refresh_from_db()
    assert (mug.price, mug.compare_price, mug.sale_price) == (8, 12, 8)
    imported(shop, as_lines({"name": "Mug", "slug": "mug", "sale_price": None}), tmp_path, update=True)
    mug.refresh_from_db()
    assert (mug.price, mug.compare_price, mug.sale_until) == (12, 0, None)


def test_a_sale_that_begins_while_an_import_runs_goes_on(shop, tmp_path):
    imported(shop, as_lines({"name": "Mug", "price": "10.00"}), tmp_path)
    # As the worker left it.
    begun = {"sale_price": 8, "sale_from": NOW + timedelta(microseconds=1), "price": 8, "compare_price": 10}
    Product.objects.filter(shop=shop).update(**begun, regular_compare_price=0)
    imported(shop, as_lines({"name": "Mug", "slug": "mug", "price": "12.00"}), tmp_path, update=True)
    mug = Product.objects.get(shop=shop)
    assert (mug.price, mug.compare_price, mug.sale_price) == (8, 12, 8)


def test_a_sale_that_cannot_be_is_told_with_its_line(shop, tmp_path):
    lines = as_lines(
        {"name": "Mug", "price": "10.00", "sale_price": "10.00"},
        {"name": "Cup", "price": "10.00", "sale_from": "2026-12-01T00:00:00Z"},
        {"name": "Pot", "price": "10.00"},
    )
    report = imported(shop, lines, tmp_path)
    assert (report.created, report.failed) == (1, 2)
    assert [error.split(":")[:2] for error in errors(report)] == [["line 1", " sale_price"], ["line 2", " sale_from"]]
