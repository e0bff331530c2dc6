import json
from datetime import UTC, datetime
from decimal import Decimal
from operator import itemgetter

from django.db import connection, transaction

from storefront.catalogue import tree
from storefront.catalogue.models import BundleItem, Category, Product, Variant
from storefront.listing import queries
from tests.catalogue.factories import make_category, make_media, make_option, make_product, make_variant
from tests.product_files.files import as_lines, errors, exported, imported, warnings
from tests.shops.factories import NOW


def test_the_readmes_line_is_a_complete_file(shop, tmp_path):
    mug = {
        "name": "Mug", "sku": "M1", "price": "9.50", "status": "active", "categories": ["Kitchen > Cups"],
        "options": [
            {"name": "Engraving", "type": "select", "required": True, "values": [{"label": "Gold", "price": "5.00"}]},
        ],
    }  # fmt: skip
    report = imported(shop, as_lines(mug), tmp_path)
    assert (report.created, report.problems) == (1, [])
    read = queries.product_record(shop, "mug", now=NOW)
    assert (read["price"], read["type"], read["track_inventory"]) == ("9.50", "simple", False)
    assert [category["name"] for category in read["categories"]] == ["Cups"]
    assert [(option["name"], option["required"]) for option in read["options"]] == [("Engraving", True)]
    assert [(value["label"], value["price"]) for value in read["options"][0]["values"]] == [("Gold", "5.00")]
    assert imported(shop, as_lines(mug), tmp_path).skipped == 1


def a_value_of_each_column() -> dict:
    columns = {}
    for number, column in enumerate(Product._meta.concrete_fields):
        kind = column.get_internal_type()
        if column.is_relation or column.name in ("id", "status", "slug", "name", "sort_name", "deleted_at", "type"):
            continue
        if column.choices:
            columns[column.name] = column.choices[-1][0]
        elif kind == "CharField" and "url" in column.name:
            columns[column.name] = f"https://a.example.com/{number}"
        elif kind in ("CharField", "TextField"):
            columns[column.name] = f"text {number} „ü“\n"
        elif kind == "DecimalField":
            columns[column.name] = Decimal(f"{number}.25")
        elif kind in ("IntegerField", "PositiveIntegerField", "BigIntegerField"):
            columns[column.name] = number + 1
        elif kind == "BooleanField":
            columns[column.name] = not column.default
    return columns


def everything(shop) -> None:
    """Fill a shop with products that have every field set."""
    kitchen = make_category(shop, "Kitchen", description="<p>All</p>", sort_order=2, meta_title="K")
    cups = make_category(shop, "Cups > Mugs", kitchen, slug="cups", noindex=True)
    plain = make_category(shop, "Sale")
    moment = datetime(2026, 3, 1, 12, 30, 15, 123456, tzinfo=UTC)
    columns = a_value_of_each_column()
    columns |= {
        "translations": {"de": {"name": "Becher"}},
        "tags": ["a, b", "c"],
        "attributes": [{"name": "Colour", "values": ["Blue", "Red"], "variation": True}],
        "publish_at": moment, "published_on": moment, "sitemap_lastmod": moment,
        "unpublish_at": moment.replace(year=2030),
        # A sale that is on: the sale price holds, and the regular one is in `compare_price`.
        "price": Decimal(8), "sale_price": Decimal(8), "compare_price": Decimal(10), "is_gift_card": False,
        "regular_compare_price": Decimal(11), "sale_from": moment, "sale_until": moment.replace(year=2030),
        "available_from": moment.replace(year=2030),
        "allow_backorders": True, "stock_qty": -3, "created_at": NOW, "updated_at": NOW,
        "og_image_url": "https://a.example.com/og", "canonical_url": "https://a.example.com/c",
    }  # fmt: skip
    shirt = make_product(shop, "Shirt", slug="the-shirt", categories=(cups, plain), **columns)
    shirt.category_links.filter(category=cups).update(sort_order=7)
    shirt.brand = shop.brands.create(name="Loom")
    shirt.vendor = shop.vendors.create(name="Mill")
    shirt.tax_class = shop.tax_classes.create(name="Reduced")
    shirt.shipping_origin = shop.shipping_origins.create(name="Hamburg")
    first = make_media(shirt, "https://a.example.com/1.jpg", alt="Front", width=10, height=20)
    make_media(shirt, "https://a.example.com/2.jpg", sort_order=1)
    blue = make_variant(shirt, "Blue", sku="B", weight=Decimal("0.125"), image=first, cost_price=Decimal("3.10"))
    make_variant(shirt, "Red", is_active=False, sort_order=1, track_inventory=False, compare_price=Decimal("20"))
    make_variant(
        shirt, "Any", option_values={}, sort_order=2, sale_price=Decimal(5), sale_from=moment.replace(year=2030)
    )
    shirt.default_variant = blue
    shirt.save()
    make_option(shirt, "Engraving", {"Gold": "5.00", "None": "0.00"}, type="radio", required=True)
    make_option(shirt, "Text", {}, type="text", sort_order=1)
    box = make_product(shop, "Box", type="bundle")
    BundleItem.objects.create(shop=shop, bundle=box, product=shirt, variant=blue, qty=2)
    make_product(shop, "Same SKU", sku="text 9", slug="same")
    tree.renumber(shop)


IDS = {"id", "product_id", "category_id", "parent_id", "brand_id", "vendor_id", "tax_class_id", "shipping_origin_id"}
TIMES = {"created_at", "updated_at"}


def without_ids_and_times(value):
    if isinstance(value, dict):
        kept = {name: without_ids_and_times(each) for name, each in value.items() if name not in IDS | TIMES}
        return kept | {name: value[name] is None for name in IDS & value.keys()} | _chosen(value)
    return [without_ids_and_times(each) for each in value] if isinstance(value, list) else value


def _chosen(value: dict) -> dict:
    """The default variant by name, since its id differs."""
    if "default_variant_id" not in value:
        return {}
    names = {variant["id"]: variant["name"] for variant in value.get("variants", [])}
    return {"default_variant_id": names.get(value["default_variant_id"])}


def reads(shop) -> list[dict]:
    slugs = Product.objects.filter(shop=shop).order_by("slug").values_list("slug", flat=True)
    return [without_ids_and_times(queries.product_record(shop, slug, now=NOW)) for slug in slugs]


def test_export_and_import_into_an_empty_shop_lose_nothing(shop, other_shop, tmp_path):
    everything(shop)
    text = exported(shop)
    report = imported(other_shop, text, tmp_path)

    assert (report.created, report.problems) == (3, [])
    assert reads(other_shop) == reads(shop)
    assert len(reads(shop)[2]["variants"]) == 3
    # Fields that the single read does not show are the same, too.
    assert sorted(text.splitlines()) == sorted(exported(other_shop).splitlines())
    part = BundleItem.objects.get(shop=other_shop)
    assert (part.product.slug, part.variant.name, part.qty) == ("the-shirt", "Blue", 2)
    assert part.product.shop == part.variant.shop == other_shop


def test_importing_a_shops_own_export_changes_nothing(shop, tmp_path):
    everything(shop)
    before = exported(shop)
    report = imported(shop, before, tmp_path, update=True)
    assert (report.updated, report.skipped, report.problems, report.changes) == (0, 3, [], [])
    assert exported(shop) == before


def test_every_line_is_a_product_with_the_members_of_the_single_read(shop):
    everything(shop)
    shirt = next(line for line in map(json.loads, exported(shop).splitlines()) if line["slug"] == "the-shirt")
    read = queries.product_record(shop, "the-shirt", now=NOW)
    left_out = IDS | TIMES | {"default_variant_id", "deleted_at", "sort_name"}
    assert set(read) - left_out <= set(shirt)
    assert {name: shirt[name] for name in ("price", "weight", "publish_at", "translations", "tags")} == {
        name: read[name] for name in ("price", "weight", "publish_at", "translations", "tags")
    }


def test_failed_lines_are_reported_with_the_member(shop, tmp_path):
    """Of each line first the columns, then the lists, in the order of the file."""
    lines = as_lines(
        {"name": "A", "price": 9.5},
        {"name": "B", "price": "1.00", "variants": [{"price": "x", "option_values": {"C": 1}}], "status": "gone"},
        {"price": "1.00"},
        {"name": "D", "weight": "-1", "stock_qty": True, "media": [{"url": "javascript:alert(1)"}], "sku": None},
        {"name": "E", "variants": [{"option_values": {"C": "x"}}, {"option_values": {"C": "x"}}]},
        {"name": "F", "bundle_items": [{"product": "nothing"}]},
        {"name": "G", "prize": "1.00"},
    )
    report = imported(shop, lines + "{broken\n[]\n", tmp_path)
    assert (report.created, report.failed) == (1, 8)
    found = [(problem.line, problem.column) for problem in report.problems if problem.severity == "error"]
    assert sorted(found, key=itemgetter(0)) == [
        (1, "price"), (2, "status"), (2, "variants.0.price"), (2, "variants.0.option_values"), (3, ""), (4, "weight"),
        (4, "stock_qty"), (4, "sku"), (4, "media.0.url"), (5, "variants"), (6, ""), (8, ""), (9, ""),
    ]  # fmt: skip
    assert warnings(report) == ['line 7, prize: is not a product field; ignored. Did you mean "price"?']
    assert "line 1, price: expected a decimal string such as \"12.50\", found '9.5'" in errors(report)


def test_a_bundle_can_come_before_its_items(shop, tmp_path):
    box = {"name": "Box", "type": "bundle", "price": "5.00", "bundle_items": [{"product": "mug", "qty": 2}]}
    report = imported(shop, as_lines(box, {"name": "Mug", "price": "1.00"}), tmp_path)
    assert (report.created, report.problems) == (2, [])
    assert BundleItem.objects.get(shop=shop).product.slug == "mug"


def test_the_trees_bounds_are_right_after_an_import(shop, other_shop, tmp_path):
    make_category(other_shop, "Cups")
    products = [{"name": f"P{n}", "categories": [f"A{n % 3} > B{n % 5} > C{n % 7}", "A1"]} for n in range(60)]
    imported(shop, as_lines(*products), tmp_path)
    rows = list(Category.objects.filter(shop=shop).values_list("id", "parent_id", "sort_order", "lft", "rgt"))
    right = tree.bounds((id, parent) for id, parent, *_ in sorted(rows, key=lambda row: (row[2], row[0])))
    assert {row[0]: row[3:] for row in rows} == right
    assert Category.objects.filter(shop=other_shop).count() == 1


def test_products_without_a_stated_stock_can_be_sold(shop, tmp_path):
    file = as_lines(
        {"name": "Mug", "price": "9.50", "status": "active"},
        {"name": "Cup", "price": "4.00", "status": "active", "stock_qty": 0},
        {
            "name": "Shirt",
            "variants": [{"option_values": {"Size": "S"}}, {"option_values": {"Size": "M"}, "stock_qty": 2}],
        },
    )
    imported(shop, file, tmp_path)
    assert dict(Product.objects.values_list("name", "track_inventory")) == {"Mug": False, "Cup": True, "Shirt": False}
    assert list(Variant.objects.order_by("sort_order").values_list("track_inventory", flat=True)) == [False, True]


def test_a_file_can_be_imported_within_a_running_transaction(shop, tmp_path):
    """Like the demo shop's import: within a transaction, SQLite refuses to change where it stores temporary tables."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("CREATE TEMPORARY TABLE busy (id integer)")
        assert imported(shop, as_lines({"name": "Mug"}), tmp_path).created == 1
        transaction.set_rollback(True)


def test_a_product_is_the_same_whether_its_import_may_update_or_not(shop, other_shop, tmp_path):
    """The rows are packed by the reading process, or by the writing one."""
    awkward = r"\N \. \\ a\tb 'x' " + '{"y": 1}\tline\nbreak'
    mug = {
        "name": f"Mug {awkward}", "slug": "mug", "sku": "M", "price": "9.50", "status": "active", "brand": "B",
        "description": awkward, "short_description": awkward, "tags": [awkward], "categories": ["Cups > Large", "Gift"],
        "attributes": [{"name": "Made of", "values": [awkward]}], "translations": {"de": {"name": awkward}},
        "media": [{"url": "https://a.example.com/1.png", "alt": awkward}, "https://a.example.com/2.png"],
        "options": [{"name": "Text", "type": "select", "values": [{"label": awkward, "price": "5.0"}, {"label": "B"}]}],
    }  # fmt: skip
    pictures = {"S": "https://a.example.com/s.png", "M": None, "L": "https://a.example.com/s.png"}
    variants = [
        {"option_values": {"Size": size}, "sku": size, "price": "21.00", "image": picture}
        for size, picture in pictures.items()
    ]
    shirt = {"name": "Shirt", "slug": "shirt", "price": "20.00", "status": "active", "variants": variants}
    pair = {"name": "Pair", "price": "25.00", "type": "bundle", "bundle_items": [{"product": "mug", "qty": 2}]}
    for products in ([mug, shirt], [pair]):
        assert imported(shop, as_lines(*products), tmp_path).created == len(products)
        assert imported(other_shop, as_lines(*products), tmp_path, update=True).created == len(products)
    assert exported(shop) == exported(other_shop)
    stored = Product.objects.get(shop=shop, slug="mug")
    assert {stored.description, stored.short_description, *stored.tags, stored.attributes[0]["values"][0]} == {awkward}
    assert Variant.objects.get(shop=shop, sku="L").image == Variant.objects.get(shop=shop, sku="S").image
    texts = [dict(each.products.values_list("slug", "search__text")) for each in (shop, other_shop)]
    assert texts[0] == texts[1]
    assert imported(shop, exported(shop), tmp_path, update=True).updated == 0
