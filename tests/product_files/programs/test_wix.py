"""Wix's CSV of products."""

from decimal import Decimal

from storefront.catalogue.models import Product
from tests.product_files.files import errors, header, imported, warnings

HEADERS = header(
    "handleId,fieldType,name,description,productImageUrl,collection,sku,ribbon,price,surcharge,visible,"
    "discountMode,discountValue,inventory,weight,cost,productOptionName1,productOptionType1,"
    "productOptionDescription1,brand"
)


def row(**given: str) -> dict[str, str]:
    return dict.fromkeys(HEADERS, "") | given


MUG = row(
    handleId="p1", fieldType="Product", name="Mug", description="<p>Blue</p>", collection="Cups;Kitchen", sku="M-1",
    productImageUrl="https://a.example.com/1.jpg;0ab1c2_0123abcd~mv2.jpg", price="10.00", visible="true",
    discountMode="PERCENT", discountValue="15", inventory="7", cost="3", brand="Acme",
)  # fmt: skip
TEE = [
    row(
        handleId="p2", fieldType="Product", name="Tee", price="20", visible="true", inventory="InStock",
        productOptionName1="Colour", productOptionType1="COLOR", productOptionDescription1="#ff0000:Red;#0000ff:Blue",
    ),
    row(handleId="p2", fieldType="Variant", sku="T-R", surcharge="0", inventory="3", productOptionDescription1="Red"),
    row(
        handleId="p2", fieldType="Variant", sku="T-B", surcharge="2.5", inventory="OutOfStock",
        productOptionDescription1="#0000ff:Blue", visible="false",
    ),
]  # fmt: skip


def test_a_product_has_its_discount_stock_pictures_and_brand(shop, tmp_path):
    report = imported(shop, [MUG], tmp_path)
    assert (report.created, report.problems) == (1, [])
    mug = Product.objects.get(shop=shop)
    assert (mug.name, mug.sku, mug.price, mug.compare_price) == ("Mug", "M-1", Decimal("8.5"), 10)
    assert (mug.stock_qty, mug.track_inventory, mug.cost_price, mug.brand.name) == (7, True, 3, "Acme")
    assert [each.source_url for each in mug.media.all()] == [
        "https://a.example.com/1.jpg",
        "https://static.wixstatic.com/media/0ab1c2_0123abcd~mv2.jpg",
    ]
    assert sorted(each.name for each in mug.categories.all()) == ["Cups", "Kitchen"]


def test_variants_cost_the_price_and_their_surcharge(shop, tmp_path):
    assert errors(imported(shop, TEE, tmp_path)) == []
    tee = Product.objects.get(shop=shop)
    found = [(each.sku, each.option_values, each.price, each.stock_qty, each.is_active) for each in tee.variants.all()]
    assert found == [
        ("T-R", {"Colour": "Red"}, 20, 3, True),
        ("T-B", {"Colour": "Blue"}, Decimal("22.5"), 0, False),
    ]


def test_choices_without_variants_are_options(shop, tmp_path):
    imported(shop, [TEE[0]], tmp_path)
    tee = Product.objects.get(shop=shop)
    option = tee.options.get()
    assert (tee.type, option.name, [each.label for each in option.values.all()]) == (
        "simple",
        "Colour",
        ["Red", "Blue"],
    )


def test_a_second_import_changes_nothing(shop, tmp_path):
    imported(shop, [MUG, *TEE], tmp_path)
    report = imported(shop, [MUG, *TEE], tmp_path, update=True)
    assert (report.skipped, report.updated, report.changes) == (2, 0, [])


def test_a_variant_without_a_product_and_a_second_product_are_refused(shop, tmp_path):
    report = imported(shop, [TEE[1], MUG, MUG], tmp_path)
    assert "line 2, fieldType: there is no row of the product before its variants" in errors(report)
    assert "line 4, handleId: is that of the product on line 3, too" in errors(report)
    assert not Product.objects.exists()


def test_a_discount_above_the_price_is_refused(shop, tmp_path):
    report = imported(shop, [MUG | {"discountMode": "AMOUNT", "discountValue": "11"}], tmp_path)
    assert errors(report) == ["line 2, discountValue: expected a discount that is not more than the price, found 11"]


def test_what_is_not_carried_is_reported_once(shop, tmp_path):
    report = imported(shop, [MUG | {"ribbon": "New", "weight": "2"}, TEE[0] | {"ribbon": "New"}], tmp_path)
    assert [each.split(":")[0] for each in warnings(report)] == ["line 2, ribbon", "line 2, weight"]
