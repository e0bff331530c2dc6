"""Square's CSV of its item library."""

from decimal import Decimal

from storefront.catalogue.models import Product
from tests.product_files.files import errors, header, imported, warnings

HEADERS = header(
    "Token,Item Name,Variation Name,SKU,Description,Categories,Reporting Category,GTIN,Price,Online Sale Price,"
    "Archived,Square Online Item Visibility,Weight (lb),Option Name 1,Option Value 1,"
    "Current Quantity High Street,New Quantity High Street,Current Quantity Market,Tax - Sales Tax (13%)"
)


def row(**given: str) -> dict[str, str]:
    names = {name.lower().replace(" ", "_"): name for name in HEADERS} | {"name": "Item Name"}
    return dict.fromkeys(HEADERS, "") | {names[name]: value for name, value in given.items()}


MUG = row(
    token="A", name="Mug", variation_name="Regular", sku="M-1", description="Blue", price="12.00", gtin="4006381333931",
    online_sale_price="9.50", categories="Cups (R2BT4JIZR3EWLSBNJ6WDSQPP), New (R2BT4JIZR3EWLSBNJ6WDSQPA)",
    square_online_item_visibility="visible", current_quantity_high_street="4", current_quantity_market="2",
    archived="N",
) | {"Weight (lb)": "2"}  # fmt: skip
TEE = [
    row(token="B", name="Tee", variation_name="Small", sku="T-S", price="20", square_online_item_visibility="hidden"),
    row(token="C", name="Tee", variation_name="Large", sku="T-L", price="22", current_quantity_market="0"),
]


def test_an_item_has_the_stock_of_all_locations(shop, tmp_path):
    report = imported(shop, [MUG], tmp_path)
    assert (report.created, report.problems) == (1, [])
    mug = Product.objects.get(shop=shop)
    assert (mug.name, mug.sku, mug.barcode, mug.status, mug.type) == ("Mug", "M-1", "4006381333931", "active", "simple")
    assert (mug.price, mug.compare_price, mug.stock_qty, mug.weight) == (Decimal("9.5"), 12, 6, Decimal("0.907"))
    assert sorted(each.name for each in mug.categories.all()) == ["Cups", "New"]


def test_rows_of_one_item_are_variants(shop, tmp_path):
    assert imported(shop, [TEE[0], MUG, TEE[1]], tmp_path).created == 2
    tee = Product.objects.get(shop=shop, name="Tee")
    found = [(each.sku, each.option_values, each.price, each.track_inventory) for each in tee.variants.all()]
    assert found == [("T-S", {"Variation": "Small"}, 20, False), ("T-L", {"Variation": "Large"}, 22, True)]
    assert tee.status == "draft"


def test_options_are_read_where_they_are_stated(shop, tmp_path):
    given = [each | {"Option Name 1": "Size", "Option Value 1": each["Variation Name"]} for each in TEE]
    imported(shop, given, tmp_path)
    assert [each.option_values for each in Product.objects.get(shop=shop).variants.all()] == [
        {"Size": "Small"},
        {"Size": "Large"},
    ]


def test_a_second_import_changes_nothing(shop, tmp_path):
    imported(shop, [MUG, *TEE], tmp_path)
    report = imported(shop, [MUG, *TEE], tmp_path, update=True)
    assert (report.skipped, report.updated, report.changes) == (2, 0, [])


def test_a_price_that_is_typed_at_the_till_and_a_repeated_item_are_refused(shop, tmp_path):
    report = imported(shop, [MUG | {"Price": "variable"}, *TEE, TEE[0]], tmp_path)
    assert errors(report) == [
        "line 2, Price: expected a number, found 'variable'",
        "line 5, Variation Name: has the same options as the variant on line 3",
    ]
    assert not Product.objects.exists()


def test_what_is_not_carried_is_reported_once(shop, tmp_path):
    report = imported(shop, [each | {"Reporting Category": "Cups"} for each in (MUG, *TEE)], tmp_path)
    assert [each.split(":")[0] for each in warnings(report)] == ["line 2, Reporting Category"]
