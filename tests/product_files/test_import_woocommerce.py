import time
from decimal import Decimal

import pytest

from storefront.catalogue.models import Category, Product, ProductSearch, Variant
from storefront.catalogue.search_index import rewrite_texts
from storefront.product_files.csv_reading import UnreadableFile
from storefront.product_files.opening import open_source
from tests.product_files.files import as_csv, errors, imported, warnings, woo
from tests.shops.factories import NOW


def product(shop) -> Product:
    return Product.objects.get(shop=shop)


def test_a_simple_product_is_imported_completely(shop, other_shop, tmp_path):
    row = woo(
        id="44", sku="M1", stock="5", in_stock="1", description="<p>One\\nTwo</p>", categories="Kitchen > Cups, Sale",
        tags="new, red\\, blue", images="https://a.example.com/1.jpg, https://a.example.com/2.jpg",
    )  # fmt: skip
    report = imported(shop, [row], tmp_path)

    assert (report.created, report.failed, report.problems) == (1, 0, [])
    made = product(shop)
    assert (made.name, made.slug, made.sku, made.legacy_source_id) == ("Mug", "mug", "M1", 44)
    assert (made.status, made.price, made.stock_qty, made.track_inventory) == ("active", Decimal("9.50"), 5, True)
    assert made.description == "<p>One\nTwo</p>"
    assert made.tags == ["new", "red, blue"]
    assert [media.source_url for media in made.media.all()] == [
        "https://a.example.com/1.jpg",
        "https://a.example.com/2.jpg",
    ]
    assert sorted(category.name for category in made.categories.all()) == ["Cups", "Sale"]
    # The text of an import is the one that any change of the product writes.
    assert " mug " in ProductSearch.objects.get(product=made).text
    assert rewrite_texts(shop) == 0
    assert not Product.objects.filter(shop=other_shop).exists()
    bounds = Category.objects.filter(shop=shop).values_list("name", "lft", "rgt", "parent__name")
    assert sorted(bounds) == [("Cups", 2, 3, "Kitchen"), ("Kitchen", 1, 4, None), ("Sale", 5, 6, None)]


def test_variations_can_come_before_their_parent(shop, tmp_path):
    axes = {"attribute_1_name": "Colour", "attribute_2_name": "Size"}
    blue = woo(type="variation", sku="S-B", parent="S", regular_price="12", **axes) | {
        "Attribute 1 value(s)": "Blue",
        "Position": "1",
    }
    red = woo(type="variation", sku="S-R", parent="S", regular_price="10", **axes) | {
        "Attribute 1 value(s)": "Red",
        "Position": "0",
    }
    parent = woo(type="variable", sku="S", name="Shirt", regular_price="", **axes) | {
        "Attribute 1 value(s)": "Blue, Red",
        "Attribute 2 value(s)": "L, M",
        "Attribute 1 default": "Red",
        "Attribute 2 default": "L",
    }
    report = imported(shop, [blue, red, parent], tmp_path)

    assert (report.created, errors(report)) == (1, [])
    made = product(shop)
    assert (made.type, made.price) == ("variable", Decimal("10.00"))
    # A blank value means any value, for which the name is left out.
    assert [(variant.sku, variant.option_values) for variant in made.variants.all()] == [
        ("S-R", {"Colour": "Red"}),
        ("S-B", {"Colour": "Blue"}),
    ]
    assert made.default_variant.sku == "S-R"
    assert made.attributes == [
        {"name": "Colour", "values": ["Blue", "Red"], "variation": True},
        {"name": "Size", "values": ["L", "M"], "variation": True},
    ]


def test_a_parent_is_found_by_its_id_in_the_same_file(shop, tmp_path):
    child = woo(type="variation", parent="id:7", attribute_1_name="Colour") | {"Attribute 1 value(s)": "Blue"}
    parent = woo(id="7", type="variable", name="Shirt", attribute_1_name="colour") | {"Attribute 1 value(s)": "Blue"}
    report = imported(shop, [child, parent], tmp_path)

    assert errors(report) == []
    assert [variant.option_values for variant in product(shop).variants.all()] == [{"colour": "Blue"}]


@pytest.mark.parametrize("reference", ["nobody", "id:99", "id:x", "CHILD"])
def test_a_variation_without_its_parent_fails_alone(shop, tmp_path, reference):
    orphan = woo(type="variation", sku="CHILD", parent=reference)
    report = imported(shop, [orphan, woo(sku="M1")], tmp_path)

    assert (report.created, report.failed) == (1, 1)
    assert errors(report) == [f"line 2: there is no variable product {reference!r} in the file or the shop"]


def test_an_invalid_variation_fails_the_whole_product(shop, tmp_path):
    axis = {"Attribute 1 name": "Colour", "Attribute 1 value(s)": "Blue"}
    rows = [
        woo(type="variable", sku="S", name="Shirt", regular_price="") | axis,
        woo(type="variation", parent="S", regular_price="ten") | axis,
        woo(sku="M1"),
    ]
    report = imported(shop, rows, tmp_path)

    assert (report.created, report.failed) == (1, 1)
    assert errors(report) == ["line 3, Regular price: expected a number, found 'ten'"]
    assert product(shop).sku == "M1"
    assert not Variant.objects.exists()


def test_every_problem_of_a_row_is_reported(shop, tmp_path):
    report = imported(shop, [woo(name="", regular_price="-1", stock="many", type="booking")], tmp_path)
    assert errors(report) == [
        "line 2, Type: expected one of simple, variable, variation, grouped, external, found 'booking'"
    ]

    report = imported(shop, [woo(name="", regular_price="-1", stock="many")], tmp_path)
    assert errors(report) == [
        "line 2, Name: is empty",
        "line 2, Stock: expected a number, found 'many'",
        "line 2, Regular price: expected an amount that is not negative, found '-1'",
    ]
    assert (report.created, report.failed) == (0, 1)


@pytest.mark.parametrize(
    ("cell", "price"),
    [
        ("9.5", "9.50"),
        ("9,50", "9.50"),
        ("1.770,50", "1770.50"),
        ("1,770.50", "1770.50"),
        ("1 770,50", "1770.50"),
        (".5", "0.50"),
        ("0.00", "0.00"),
        ("2400000", "2400000.00"),
        ("1,770", "1770.00"),
        ("8.403361", "8.40"),
    ],
)
def test_prices_are_read_with_either_decimal_separator(shop, tmp_path, cell, price):
    imported(shop, [woo(regular_price=cell)], tmp_path)
    assert product(shop).price == Decimal(price)


def test_a_sale_price_is_the_price_and_the_regular_one_the_compare_price(shop, tmp_path):
    imported(shop, [woo(sale_price="8", regular_price="10")], tmp_path)
    assert (product(shop).price, product(shop).compare_price) == (8, 10)


@pytest.mark.parametrize(
    ("starts", "ends", "price"),
    [
        ("2026-11-21", "2026-11-21", 8),
        ("2026-11-22", "", 10),
        ("", "2026-11-20 23:59:59", 10),
        ("Nov 8, 2026", "2026/12/01", 8),
        ("1794000000", "", 8),
        ("2026-11-20 9:05:00", "2026-11-20T9:05", 10),
        ("2026-11-20 9:05:00", "2026-11-29 9:05:00", 8),
    ],
)
def test_a_sale_counts_only_while_it_runs(shop, tmp_path, starts, ends, price):
    row = woo(sale_price="8", regular_price="10", date_sale_price_starts=starts, date_sale_price_ends=ends)
    report = imported(shop, [row], tmp_path)
    assert product(shop).price == price
    is_planned = starts == "2026-11-22"
    assert product(shop).sale_price == (8 if is_planned or price == 8 else None)
    assert warnings(report) == ([] if is_planned or price == 8 else ["line 2, Sale price: the sale has ended; ignored"])


@pytest.mark.parametrize("sale", ["10", "12.50"])
def test_a_sale_price_that_is_not_lower_is_no_sale(shop, tmp_path, sale):
    report = imported(shop, [woo(sale_price=sale, regular_price="10")], tmp_path)
    assert (product(shop).price, product(shop).compare_price) == (10, 0)
    assert warnings(report) == ["line 2, Sale price: is not lower than the regular price; ignored"]


@pytest.mark.parametrize(
    ("types", "is_shipped", "warned"),
    [
        (["variation, virtual", "virtual,variation"], False, []),
        (["variation", "variation"], True, []),
        (["variation", "variation, virtual"], True, ["is virtual, as are not all"]),
        (["variation, downloadable, virtual", "Variation, Virtual"], False, ["is downloadable, which only"]),
    ],
)
def test_virtual_variations_make_a_product_that_is_not_shipped(shop, tmp_path, types, is_shipped, warned):
    axis = {"Attribute 1 name": "Size"}
    rows = [woo(type="variable", sku="S") | axis | {"Attribute 1 value(s)": "0, 1"}]
    rows += [
        woo(type=kind, sku=f"S-{n}", parent="S") | axis | {"Attribute 1 value(s)": str(n)}
        for n, kind in enumerate(types)
    ]
    report = imported(shop, rows, tmp_path)
    assert errors(report) == []
    assert product(shop).requires_shipping is is_shipped
    assert [
        text.split(": ", 1)[1][: len(start)] for text, start in zip(warnings(report), warned, strict=True)
    ] == warned


@pytest.mark.parametrize("columns", ["SKU,Published,Tags", "SKU,Published,Name"])
def test_a_file_that_can_create_nothing_is_refused_once_unless_it_updates(shop, tmp_path, columns):
    content = columns + "\n" + "".join(f"M{n},1,new\n" for n in range(240))
    with pytest.raises(UnreadableFile, match="looks like WooCommerce's, but has no column"):
        imported(shop, content, tmp_path)
    assert imported(shop, content, tmp_path, update=True).failed == 240


@pytest.mark.slow
def test_ten_thousand_repeated_variations_are_found_in_linear_time(shop, tmp_path):
    axis = {"Attribute 1 name": "Size", "Attribute 1 value(s)": "1"}
    rows = [woo(type="variable", sku="S") | axis]
    rows += [woo(type="variation", sku="S-1", parent="S") | axis] * 10_000
    file = tmp_path / "products.csv"
    file.write_text(as_csv(rows))
    started = time.process_time()
    source = open_source(file, "auto", shop=shop, update=False, now=NOW)
    (parsed,) = source.results
    assert len(parsed.variants) == 1
    # Comparing each with each took minutes.
    assert time.process_time() - started < 2


@pytest.mark.slow
def test_a_product_with_as_many_variants_as_there_can_be_is_updated_in_linear_time(shop, tmp_path):
    axis = {"Attribute 1 name": "Size"}
    rows = [woo(type="variable", sku="S") | axis | {"Attribute 1 value(s)": "0"}]
    rows += [
        woo(type="variation", sku=f"S-{n}", parent="S") | axis | {"Attribute 1 value(s)": str(n)} for n in range(2000)
    ]
    assert imported(shop, rows, tmp_path).created == 1
    for row in rows[1:]:
        row["Regular price"] = "7"
    started = time.process_time()
    assert imported(shop, rows, tmp_path, update=True).updated == 1
    # Listing the attribute's values anew for each variant took half a minute.
    assert time.process_time() - started < 8
    assert set(Variant.objects.filter(shop=shop).values_list("price", flat=True)) == {Decimal(7)}


@pytest.mark.parametrize(
    ("published", "status"),
    [("1", "active"), ("true", "active"), ("0", "draft"), ("-1", "draft"), ("'-1", "draft"), ("2", "draft")],
)
def test_only_published_products_are_active(shop, tmp_path, published, status):
    imported(shop, [woo(published=published)], tmp_path)
    assert product(shop).status == status


def test_products_without_a_price_are_drafts(shop, tmp_path):
    report = imported(shop, [woo(sku="A", regular_price=""), woo(sku="B", regular_price="", published="-1")], tmp_path)
    assert {(each.status, each.price) for each in Product.objects.filter(shop=shop)} == {("draft", 0)}
    # The second was a draft already.
    assert warnings(report) == ["line 2, Regular price: there is no price; the product was imported as a draft"]


@pytest.mark.parametrize("kind", ["grouped", "external"])
def test_unsupported_types_are_imported_as_drafts(shop, tmp_path, kind):
    report = imported(shop, [woo(type=kind)], tmp_path)
    assert product(shop).status == "draft"
    assert warnings(report) == [f"line 2, Type: {kind} products are not supported; imported as a draft"]


@pytest.mark.parametrize(
    ("stock", "in_stock", "backorders", "expected"),
    [
        ("5", "1", "0", (True, 5, False)),
        ("'-5", "0", "notify", (True, -5, True)),
        ("-5", "0", "0", (True, 0, False)),
        ("2.5", "1", "0", (True, 2, False)),
        ("", "1", "0", (False, 0, False)),
        ("", "0", "0", (True, 0, False)),
        ("", "backorder", "0", (False, 0, True)),
    ],
)
def test_stock(shop, tmp_path, stock, in_stock, backorders, expected):
    report = imported(shop, [woo(stock=stock, in_stock=in_stock, backorders_allowed=backorders)], tmp_path)
    made = product(shop)
    assert (made.track_inventory, made.stock_qty, made.allow_backorders) == expected
    assert bool(warnings(report)) is (stock in ("-5", "2.5"))


def test_units_come_from_the_headers(shop, tmp_path):
    imported(shop, [woo() | {"Weight (lbs)": ".5", "Length (mm)": "120", "Width (mm)": "10"}], tmp_path)
    made = product(shop)
    assert (made.weight, made.length, made.width, made.height) == (Decimal("0.227"), 12, 1, None)
    assert made.dimension_unit == "cm"


def test_types_combine_in_any_order_and_case(shop, tmp_path):
    imported(shop, [woo(type="Virtual, Downloadable, simple", download_limit="-1", download_expiry_days="3")], tmp_path)
    made = product(shop)
    assert (made.type, made.requires_shipping, made.max_downloads, made.download_expiry_days) == (
        "digital",
        False,
        0,
        3,
    )


def test_products_with_the_same_name_get_different_slugs(shop, tmp_path):
    rows = [woo(id=str(number), sku=f"S{number}") for number in (1, 2, 3)] + [woo(sku="S 4")]
    imported(shop, rows, tmp_path)
    slugs = Product.objects.filter(shop=shop).order_by("id").values_list("slug", flat=True)
    assert list(slugs) == ["mug", "mug-2", "mug-3", "mug-s-4"]


def test_a_product_with_an_existing_sku_is_skipped(shop, tmp_path):
    imported(shop, [woo(sku="M1", name="One")], tmp_path)
    report = imported(shop, [woo(sku="M1", name="Two")], tmp_path)
    assert (report.created, report.skipped) == (0, 1)
    assert product(shop).name == "One"


def test_products_of_another_shop_do_not_match(shop, other_shop, tmp_path):
    imported(other_shop, [woo(id="1", sku="M1", categories="Cups", brands="Kiln")], tmp_path)
    report = imported(shop, [woo(id="1", sku="M1", categories="Cups", brands="Kiln")], tmp_path)
    assert report.created == 1
    assert product(shop).slug == product(other_shop).slug == "mug"
    assert product(shop).categories.get().shop == product(shop).brand.shop == shop


@pytest.mark.parametrize(("published", "is_active"), [("1", True), ("0", False), ("-1", True)])
def test_a_deactivated_variation_is_imported_as_inactive(shop, other_shop, tmp_path, published, is_active):
    axis = {"attribute_1_name": "Colour"}
    rows = [
        woo(type="variable", sku="S", **axis) | {"Attribute 1 value(s)": "Blue, Red"},
        woo(type="variation", sku="S-B", parent="S", published=published, **axis) | {"Attribute 1 value(s)": "Blue"},
        woo(type="variation", sku="S-R", parent="S", **axis) | {"Attribute 1 value(s)": "Red"},
    ]
    assert errors(imported(shop, rows, tmp_path)) == []
    found = dict(product(shop).variants.values_list("sku", "is_active"))
    assert found == {"S-B": is_active, "S-R": True}
    assert not Product.objects.filter(shop=other_shop).exists()


@pytest.mark.parametrize(
    ("visibility", "is_excluded"), [("visible", False), ("catalog", False), ("search", True), ("hidden", True)]
)
def test_a_product_hidden_from_its_catalogue_is_hidden_here(
    shop, other_shop, api, other_api, tmp_path, visibility, is_excluded
):
    imported(shop, [woo(visibility_in_catalog=visibility)], tmp_path)
    imported(other_shop, [woo()], tmp_path)
    assert product(shop).exclude_from_catalog is is_excluded
    assert len(api.get("/products").json()["data"]) == (0 if is_excluded else 1)
    assert len(other_api.get("/products").json()["data"]) == 1
