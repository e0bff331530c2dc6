"""Product feeds as Google Merchant Center takes them."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from storefront.catalogue.models import Product
from tests.product_files.files import as_csv, errors, header, imported, warnings

HEADERS = header(
    "id,title,description,link,image_link,additional_image_link,availability,price,sale_price,"
    "sale_price_effective_date,brand,gtin,item_group_id,product_type,google_product_category,condition,color,"
    "size,shipping_weight"
)


def row(**given: str) -> dict[str, str]:
    offer = {"availability": "in_stock", "condition": "new", "link": "https://a.example.com/x"}
    return dict.fromkeys(HEADERS, "") | offer | given


MUG = row(
    id="M-1", title="Mug", description="Blue", price="12.00 EUR", sale_price="9.50 EUR", brand="Acme",
    gtin="4006381333931", image_link="https://a.example.com/1.jpg", product_type="Kitchen > Cups",
    additional_image_link="https://a.example.com/2.jpg,https://a.example.com/3.jpg", shipping_weight="500 g",
)  # fmt: skip
TEE = [
    row(id="T-R", title="Tee", item_group_id="T", color="Red", size="M", price="20 EUR", image_link="https://a.example.com/r.jpg"),
    row(id="T-B", title="Tee", item_group_id="T", color="Blue", size="M", price="22 EUR", availability="out of stock"),
]  # fmt: skip


@pytest.mark.parametrize("separator", [",", "\t"])
@pytest.mark.parametrize("spelling", [str, lambda name: name.replace("_", " "), lambda name: f"g:{name}"])
def test_an_offer_is_a_product(shop, tmp_path, separator, spelling):
    report = imported(shop, as_csv([{spelling(name): value for name, value in MUG.items()}], separator), tmp_path)
    assert (report.created, report.problems) == (1, [])
    mug = Product.objects.get(shop=shop)
    assert (mug.name, mug.sku, mug.barcode, mug.brand.name) == ("Mug", "M-1", "4006381333931", "Acme")
    assert (mug.price, mug.compare_price, mug.weight, mug.track_inventory) == (
        Decimal("9.5"),
        12,
        Decimal("0.5"),
        False,
    )
    assert [each.source_url[-5:] for each in mug.media.all()] == ["1.jpg", "2.jpg", "3.jpg"]
    assert mug.categories.get().name == "Cups"


def test_offers_of_a_group_are_variants_by_what_differs(shop, tmp_path):
    assert errors(imported(shop, TEE, tmp_path)) == []
    found = Product.objects.get(shop=shop).variants.all()
    assert [(each.sku, each.option_values, each.price, each.track_inventory) for each in found] == [
        ("T-R", {"Color": "Red"}, 20, False),
        ("T-B", {"Color": "Blue"}, 22, True),
    ]


@pytest.mark.parametrize(
    ("price", "problem"),
    [
        ("12.00 USD", "line 2, price: is in USD, but the shop's currency is EUR"),
        ("12.00", "line 2, price: expected an amount with its currency, such as 12.00 EUR, found '12.00'"),
        ("", "line 2, price: is empty"),
    ],
)
def test_a_price_in_another_currency_or_in_none_is_refused(shop, tmp_path, price, problem):
    report = imported(shop, [MUG | {"price": price}, TEE[0]], tmp_path)
    assert errors(report) == [problem]
    assert Product.objects.get(shop=shop).name == "Tee"


def test_a_sale_with_dates_is_a_sale_period(shop, tmp_path):
    dates = "2030-01-01T00:00+01:00/2030-02-01T00:00+01:00"
    imported(shop, [MUG | {"sale_price_effective_date": dates}], tmp_path)
    mug = Product.objects.get(shop=shop)
    assert (mug.price, mug.sale_price, mug.compare_price) == (12, Decimal("9.5"), 0)
    assert mug.sale_from == datetime(2029, 12, 31, 23, tzinfo=UTC)


def test_an_sku_of_its_own_counts_before_the_id(shop, tmp_path):
    imported(shop, [MUG | {"sku": "MUG"}], tmp_path)
    assert Product.objects.get(shop=shop).sku == "MUG"
    assert imported(shop, [MUG | {"sku": "MUG", "price": "13.00 EUR"}], tmp_path, update=True).updated == 1


def test_a_second_import_changes_nothing(shop, tmp_path):
    imported(shop, [MUG, *TEE], tmp_path)
    report = imported(shop, [MUG, *TEE], tmp_path, update=True)
    assert (report.skipped, report.updated, report.changes) == (2, 0, [])


def test_what_is_not_carried_is_reported_once(shop, tmp_path):
    report = imported(shop, [MUG | {"google_product_category": "6047"}, TEE[0]], tmp_path)
    assert [each.split(":")[0] for each in warnings(report)] == ["line 2, google_product_category"]


def test_a_feed_with_some_offers_of_a_group_keeps_the_others_and_their_options(shop, tmp_path):
    others = [row(id="T-L", title="Tee", item_group_id="T", color="Red", size="L", price="21 EUR")]
    imported(shop, [*TEE, *others], tmp_path)
    before = Product.objects.get(shop=shop)
    options = {each.sku: each.option_values for each in before.variants.all()}
    report = imported(shop, [TEE[0] | {"price": "19 EUR"}, TEE[1]], tmp_path, update=True)
    assert (report.updated, errors(report)) == (1, [])
    found = {each.sku: (each.option_values, each.price, each.is_active) for each in before.variants.all()}
    assert found == {
        "T-R": (options["T-R"], 19, True),
        "T-B": (options["T-B"], 22, True),
        "T-L": (options["T-L"], 21, True),
    }
    assert options["T-R"] == {"Color": "Red", "Size": "M"}


def test_the_list_price_follows_an_offer_that_the_feed_lacks(shop, tmp_path):
    others = [row(id="T-L", title="Tee", item_group_id="T", color="Red", size="L", price="5 EUR")]
    imported(shop, [*TEE, *others], tmp_path)
    imported(shop, [TEE[0] | {"price": "19 EUR"}, TEE[1]], tmp_path, update=True)
    assert Product.objects.get(shop=shop).price == 5
