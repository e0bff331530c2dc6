"""Imports of existing products: they are skipped, or updated only where the file differs."""

from datetime import timedelta
from decimal import Decimal

from django.db import connection

from storefront.catalogue.models import Product, ProductCategory, Variant
from tests.product_files.files import as_lines, errors, imported, woo
from tests.shops.factories import NOW

LATER = NOW + timedelta(days=1)
SHIRT = {
    "name": "Shirt", "price": "10.00", "status": "active", "stock_qty": 3, "categories": ["Clothing", "Sale"],
    "media": ["https://a.example.com/1.jpg", "https://a.example.com/2.jpg"],
    "variants": [
        {"option_values": {"Colour": "Blue"}, "price": "10.00", "image": "https://a.example.com/1.jpg"},
        {"option_values": {"Colour": "Red"}, "price": "11.00"},
    ],
    "options": [{"name": "Print", "values": [{"label": "Yes", "price": "2.00"}, {"label": "No"}]}],
}  # fmt: skip


def test_running_twice_changes_nothing(shop, tmp_path):
    rows = [woo(id="1", sku="A"), woo(name="Neither id nor SKU"), woo(id="3", name="No SKU")]
    assert imported(shop, rows, tmp_path).created == 3
    before = list(Product.objects.values())
    for update in (False, True):
        report = imported(shop, rows, tmp_path, now=LATER, update=update)
        assert report.counts() == {"created": 0, "updated": 0, "skipped": 3, "failed": 0, "conflicts": 0}
    assert list(Product.objects.values()) == before


def test_only_what_differs_is_written(shop, other_shop, tmp_path):
    imported(shop, [woo(sku="A", stock="5"), woo(sku="B", stock="5")], tmp_path)
    imported(other_shop, [woo(sku="A", stock="5")], tmp_path)
    report = imported(shop, [woo(sku="A", stock="5"), woo(sku="B", stock="6")], tmp_path, now=LATER, update=True)

    assert (report.updated, report.skipped) == (1, 1)
    assert report.changes == [{"line": 3, "change": "update", "slug": "mug-b", "fields": {"stock_qty": [5, 6]}}]
    assert {each.sku: each.updated_at for each in Product.objects.filter(shop=shop)} == {"A": NOW, "B": LATER}
    assert Product.objects.get(shop=other_shop).stock_qty == 5


def test_a_blank_value_clears_and_a_missing_column_keeps(shop, tmp_path):
    imported(shop, [woo(sku="A", description="Old", tags="x", brands="Kiln", categories="Cups")], tmp_path)
    report = imported(shop, "SKU,Description,Regular price,Categories,Brands\nA,,7,,\n", tmp_path, update=True)

    assert (report.updated, errors(report)) == (1, [])
    assert [str(each) for each in report.problems] == [
        "line 2, Description: is cleared, since the file has it empty; reported once",
        "line 2, Brands: is cleared, since the file has it empty; reported once",
        "line 2, Categories: is cleared, since the file names none; reported once",
    ]
    made = Product.objects.get(shop=shop)
    assert (made.description, made.price, made.brand, made.categories.count()) == ("", 7, None, 0)
    assert (made.name, made.tags, made.status) == ("Mug", ["x"], "active")
    assert "old" not in made.search.text
    assert "kiln" not in made.search.text
    assert " mug " in made.search.text


def test_rows_without_a_name_or_price_only_update_existing_products(shop, tmp_path):
    report = imported(shop, "SKU,Stock,Published\nA,4,1\n", tmp_path, update=True)
    assert (report.created, report.failed) == (0, 1)
    assert errors(report) == ["line 2: no product or variant has the SKU A, and a new product needs a price column"]


def test_ids_stay_when_a_product_changes(shop, tmp_path):
    imported(shop, as_lines(SHIRT), tmp_path)
    blue, red = Variant.objects.filter(shop=shop)
    pictures = list(blue.product.media.values_list("pk", "source_url"))
    option = blue.product.options.get()
    yes = option.values.get(label="Yes")
    link = ProductCategory.objects.get(product=blue.product, category__name="Sale")

    changed = SHIRT | {
        "categories": ["Sale", "New > Shirts"],
        "media": ["https://a.example.com/2.jpg", "https://a.example.com/3.jpg"],
        "variants": [
            {"option_values": {"Colour": "Green"}, "price": "9.00"},
            {"option_values": {"Colour": "Blue"}, "price": "12.00", "image": "https://a.example.com/2.jpg"},
        ],
        "options": [{"name": "Print", "values": [{"label": "Maybe"}, {"label": "Yes", "price": "3.00"}]}],
    }
    report = imported(shop, as_lines(changed), tmp_path, now=LATER, update=True)
    assert (report.updated, errors(report)) == (1, [])

    product = Product.objects.get(shop=shop)
    assert product.updated_at == LATER
    now_blue = product.variants.get(pk=blue.pk)
    assert (now_blue.price, now_blue.image.source_url) == (12, "https://a.example.com/2.jpg")
    # Deactivated, not deleted: carts and orders may refer to it.
    assert product.variants.get(pk=red.pk).is_active is False
    assert product.variants.get(name="Green").price == 9
    assert (
        dict(product.media.values_list("source_url", "pk"))["https://a.example.com/2.jpg"]
        == dict(map(reversed, pictures))["https://a.example.com/2.jpg"]
    )
    assert [media.source_url[-5:] for media in product.media.all()] == ["2.jpg", "3.jpg"]
    assert product.options.get().pk == option.pk
    assert [(value.label, value.price) for value in option.values.all()] == [("Maybe", 0), ("Yes", Decimal("3.00"))]
    assert option.values.get(label="Yes").pk == yes.pk
    assert sorted(product.categories.values_list("name", flat=True)) == ["Sale", "Shirts"]
    assert product.category_links.get(category__name="Sale").pk == link.pk
    assert imported(shop, as_lines(changed), tmp_path, update=True).counts()["skipped"] == 1


def test_variations_alone_update_an_existing_parent(shop, tmp_path):
    axis = {"Attribute 1 name": "Colour", "Attribute 1 value(s)": "Blue"}
    imported(
        shop, [woo(id="7", type="variable", name="Shirt") | axis, woo(type="variation", parent="id:7") | axis], tmp_path
    )
    variant = Variant.objects.get(shop=shop)
    rows = [woo(type="variation", parent="id:7", regular_price="20") | axis]
    rows.append(rows[0] | {"Attribute 1 value(s)": "Red"})

    assert imported(shop, rows, tmp_path).counts()["skipped"] == 1
    assert imported(shop, rows, tmp_path, update=True).counts()["updated"] == 1
    assert Variant.objects.get(pk=variant.pk).price == 20
    assert Variant.objects.filter(shop=shop).count() == 2
    assert Product.objects.get(shop=shop).attributes[0]["values"] == ["Blue", "Red"]


def test_a_deleted_product_is_created_again(shop, tmp_path):
    imported(shop, [woo(sku="A")], tmp_path)
    Product.objects.update(deleted_at=NOW)
    assert imported(shop, [woo(sku="A")], tmp_path).created == 1
    assert Product.objects.get(shop=shop, deleted_at=None).slug == "mug"


def test_a_dry_run_reports_and_writes_nothing(shop, tmp_path):
    imported(shop, [woo(sku="A", stock="5")], tmp_path)
    before = list(Product.objects.values())
    rows = [woo(sku="A", stock="6", categories="Cups"), woo(sku="B"), woo(sku="B"), woo(sku="C", stock="x")]
    report = imported(shop, rows, tmp_path, update=True, dry_run=True)

    assert report.counts() == {"created": 1, "updated": 1, "skipped": 0, "failed": 1, "conflicts": 1}
    assert report.changes == [
        {
            "line": 2,
            "change": "update",
            "slug": "mug",
            "fields": {"stock_qty": [5, 6], "category Cups": [None, "added"]},
        },
        {"line": 3, "change": "create", "name": "Mug"},
    ]
    assert list(Product.objects.values()) == before
    assert not shop.categories.exists()


def test_a_product_that_the_database_rejects_fails_alone(shop, tmp_path):
    """A violated constraint fails one product, not the batch."""
    with connection.cursor() as cursor:
        cursor.execute("CREATE UNIQUE INDEX surprise ON catalogue_product (barcode)")
    rows = [woo(sku=sku) | {"GTIN, UPC, EAN, or ISBN": code} for sku, code in [("A", "1"), ("B", "1"), ("C", "2")]]
    report = imported(shop, rows, tmp_path)
    assert (report.created, report.failed) == (2, 1)
    assert errors(report) == ["line 3, barcode: cannot be stored: expected a value that no other row of the shop has"]
    assert sorted(Product.objects.values_list("sku", flat=True)) == ["A", "C"]
