"""Installed apps make, change and delete products (decisions: Shop data endpoints)."""

import pytest

from storefront.catalogue.models import Brand, BundleItem, Media, Product, TaxClass, Variant
from tests.catalogue.factories import make_category, make_media, make_option, make_product, make_variant
from tests.client import ApiClient
from tests.contract.pictures import picture as a_picture
from tests.factories.apps import install
from tests.shops.factories import NOW

PICTURE = "https://cdn.example.com/new.jpg"


@pytest.fixture
def app(shop) -> ApiClient:
    return install(shop, "read_products", "write_products").api


def made(app, **body) -> dict:
    answer = app.post("/products", body)
    assert answer.status_code == 201, answer.content
    return answer.json()["product"]


def changed(app, product, **body) -> dict:
    answer = app.patch(f"/products/{product.pk}", body)
    assert answer.status_code == 200, answer.content
    return answer.json()["product"]


def refused(answer) -> dict:
    assert answer.status_code == 422, answer.content
    return answer.json()["errors"]


def test_a_product_is_made_whole_and_answered_as_it_reads(shop, app):
    cups, brand = make_category(shop, "Cups"), Brand.objects.create(shop=shop, name="Lighthouse")
    product = made(
        app,
        name="Blue Mug",
        price="9.50",
        weight="0.25",
        status="active",
        brand_id=brand.pk,
        tags=["new"],
        publish_at="2026-11-21T08:00:00+01:00",
        categories=[cups.pk],
        variants=[{"name": "Small", "price": "8.00", "stock_qty": 3, "image": PICTURE, "option_values": {"Size": "S"}}],
        options=[{"name": "Engraving", "required": True, "values": [{"label": "Gold", "price": "5.00"}]}],
        media=[{"url": PICTURE, "alt": "Front"}],
    )
    assert product == app.get(f"/products/{product['id']}").json()["product"]
    assert (product["slug"], product["price"], product["weight"], product["type"]) == (
        "blue-mug",
        "9.50",
        "0.250",
        "variable",
    )
    assert (product["publish_at"], product["brand_id"]) == ("2026-11-21T07:00:00.000000Z", brand.pk)
    assert [category["id"] for category in product["categories"]] == [cups.pk]
    (variant,) = product["variants"]
    assert (variant["stock_qty"], variant["track_inventory"], variant["image"]) == (3, True, PICTURE)
    assert product["options"][0]["values"][0]["price"] == "5.00"
    assert (product["media"][0]["url"], product["media"][0]["alt"]) == (PICTURE, "Front")


def test_a_name_is_all_it_needs(app):
    product = made(app, name="Mug")
    assert (product["status"], product["price"], product["track_inventory"]) == ("draft", "0.00", False)


def test_a_bundle_is_made_of_products_and_variants(shop, app):
    jug, blue = make_product(shop, "Jug"), make_variant(make_product(shop, "Mug"))
    parts = [{"product_id": jug.pk}, {"product_id": blue.product_id, "variant_id": blue.pk, "qty": 2}]
    product = made(app, name="Set", bundle_items=parts)
    assert product["type"] == "bundle"
    assert [(item["product_id"], item["variant_id"], item["qty"]) for item in product["bundle_items"]] == [
        (jug.pk, None, 1),
        (blue.product_id, blue.pk, 2),
    ]
    kept = {"id": product["bundle_items"][1]["id"], "qty": 3}
    product = changed(app, Product.objects.get(pk=product["id"]), bundle_items=[kept])
    assert [(item["product_id"], item["qty"]) for item in product["bundle_items"]] == [(blue.product_id, 3)]


def test_a_change_leaves_what_is_not_sent(shop, app):
    mug = make_product(shop, "Mug", categories=(make_category(shop),), sku="M-1", published_on=NOW)
    make_variant(mug)
    make_option(mug)
    make_media(mug)
    before = app.get(f"/products/{mug.pk}").json()["product"]
    after = changed(app, mug, price="7.00")
    assert {name for name in after if after[name] != before[name]} == {"price", "updated_at"}


def test_a_list_that_is_sent_is_all_there_is_then(shop, app):
    mug = make_product(shop, "Mug")
    blue, red = make_variant(mug, "Blue", stock_qty=5), make_variant(mug, "Red", stock_qty=6)
    engraving, gone = make_option(mug), make_option(mug, "Gone")
    gold = engraving.values.get(label="Gold")
    product = changed(
        app,
        mug,
        variants=[{"id": red.pk, "price": "7.00"}, {"name": "Green"}],
        options=[{"id": engraving.pk, "values": [{"id": gold.pk, "price": "6.00"}, {"label": "Silver"}]}],
    )
    assert [(each["name"], each["price"], each["stock_qty"]) for each in product["variants"]] == [
        ("Red", "7.00", 6),
        ("Green", "0.00", 0),
    ]
    assert not Variant.objects.filter(pk=blue.pk).exists()
    (option,) = product["options"]
    assert [(each["label"], each["price"]) for each in option["values"]] == [("Gold", "6.00"), ("Silver", "0.00")]
    assert gone.pk not in {each["id"] for each in product["options"]}


def test_what_was_read_can_be_written_back(shop, app):
    mug = make_product(shop, "Mug", categories=(make_category(shop, is_active=False),), published_on=NOW)
    make_variant(mug, image=make_media(mug))
    make_option(mug)
    read = app.get(f"/products/{mug.pk}").json()["product"]
    body = read | {"categories": [category["id"] for category in read["categories"]]}
    after = changed(app, mug, **body)
    for record in (read, after):
        record.pop("updated_at")
        record["variants"][0].pop("updated_at")
    assert after == read


def test_a_pictures_new_address_takes_the_place_of_its_file(shop, app):
    mug = make_product(shop, "Mug")
    picture = make_media(mug, "", file=a_picture())
    url = app.get(f"/products/{mug.pk}").json()["product"]["media"][0]["url"]
    assert changed(app, mug, media=[{"id": picture.pk, "url": url, "alt": "One"}])["media"][0]["url"] == url
    assert Media.objects.get(pk=picture.pk).file
    assert changed(app, mug, media=[{"id": picture.pk, "url": PICTURE}])["media"][0]["url"] == PICTURE


def test_unknown_members_and_those_of_the_catalogue_itself_are_ignored(app):
    product = made(app, name="Mug", colour="blue", id=7, created_at="2020-01-01T00:00:00Z", deleted_at=None)
    assert product["id"] != 7 or product["created_at"][:4] != "2020"
    assert product["created_at"][:4] != "2020"


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"name": ""}, "name"),
        ({"name": None}, "name"),
        ({"name": 7}, "name"),
        ({"name": "x" * 501}, "name"),
        ({"price": 9.5}, "price"),
        ({"price": 9}, "price"),
        ({"price": "-1.00"}, "price"),
        ({"price": "1.234"}, "price"),
        ({"price": None}, "price"),
        ({"weight": 0.5}, "weight"),
        ({"weight": "0.1234"}, "weight"),
        ({"status": "sold"}, "status"),
        ({"type": "odd"}, "type"),
        ({"stock_qty": "3"}, "stock_qty"),
        ({"stock_qty": 1.5}, "stock_qty"),
        ({"stock_qty": True}, "stock_qty"),
        ({"stock_qty": -1}, "stock_qty"),
        ({"stock_qty": 2**40}, "stock_qty"),
        ({"track_inventory": "yes"}, "track_inventory"),
        ({"slug": "a b"}, "slug"),
        ({"brand_id": "1"}, "brand_id"),
        ({"brand_id": 99999}, "brand_id"),
        ({"publish_at": "2026-11-21T08:00:00"}, "publish_at"),
        ({"tags": "new"}, "tags"),
        ({"canonical_url": "not a url"}, "canonical_url"),
        ({"categories": [99999]}, "categories"),
        ({"categories": None}, "categories"),
        ({"variants": [{"name": "Blue", "price": 9}]}, "variants.0.price"),
        ({"variants": [{"name": "Blue"}, {"name": ""}]}, "variants.1.name"),
        ({"variants": [{"id": 99999}]}, "variants.0.id"),
        ({"variants": [{"name": "Blue", "image": PICTURE}]}, "variants.0.image"),
        ({"variants": {}}, "variants"),
        ({"options": [{"name": "Engraving", "type": "odd"}]}, "options.0.type"),
        ({"options": [{"name": "Engraving", "values": [{"label": ""}]}]}, "options.0.values.0.label"),
        ({"media": [{"alt": "Front"}]}, "media.0.url"),
        ({"media": [{"url": "javascript:alert(1)"}]}, "media.0.url"),
        ({"bundle_items": [{"qty": 1}]}, "bundle_items.0.product_id"),
        ({"bundle_items": [{"product_id": 99999}]}, "bundle_items.0.product_id"),
        ({"bundle_items": [{"product_id": 1, "qty": 0}]}, "bundle_items.0.qty"),
    ],
)
def test_what_does_not_fit_is_refused_by_its_path_and_nothing_is_written(shop, app, body, field):
    mug = make_product(shop, "Mug")
    before = app.get(f"/products/{mug.pk}").json()
    for answer in (app.post("/products", {"name": "New"} | body), app.patch(f"/products/{mug.pk}", body)):
        errors = refused(answer)
        assert list(errors) == [field]
        assert all(text.endswith(".") for text in errors[field])
    assert app.get(f"/products/{mug.pk}").json() == before
    assert Product.objects.count() == 1


def test_a_new_product_needs_its_name(app):
    assert refused(app.post("/products", {"price": "1.00"})) == {"name": ["name is required."]}


def test_a_slug_that_another_has_is_refused(shop, app):
    make_product(shop, "Mug")
    assert list(refused(app.post("/products", {"name": "Cup", "slug": "mug"}))) == ["slug"]


def test_a_bundle_cannot_hold_itself_nor_another_products_variant(shop, app):
    bundle, mug = make_product(shop, "Set", type="bundle"), make_product(shop, "Mug")
    blue = make_variant(make_product(shop, "Shirt"))
    for part, field in (
        ({"product_id": bundle.pk}, "bundle_items.0.product_id"),
        ({"product_id": mug.pk, "variant_id": blue.pk}, "bundle_items.0.variant_id"),
    ):
        assert list(refused(app.patch(f"/products/{bundle.pk}", {"bundle_items": [part]}))) == [field]


def test_nothing_of_another_shop_can_be_named_or_touched(shop, other_shop, app):
    theirs = make_product(other_shop, "Theirs")
    variant, picture, option = make_variant(theirs), make_media(theirs), make_option(theirs)
    category = make_category(other_shop, "Theirs")
    brand, tax = Brand.objects.create(shop=other_shop, name="B"), TaxClass.objects.create(shop=other_shop, name="T")
    mine = make_product(shop, "Mine")
    for body, field in (
        ({"categories": [category.pk]}, "categories"),
        ({"brand_id": brand.pk}, "brand_id"),
        ({"tax_class_id": tax.pk}, "tax_class_id"),
        ({"default_variant_id": variant.pk}, "default_variant_id"),
        ({"variants": [{"id": variant.pk, "name": "Mine"}]}, "variants.0.id"),
        ({"options": [{"id": option.pk, "name": "Mine"}]}, "options.0.id"),
        ({"media": [{"id": picture.pk, "url": PICTURE}]}, "media.0.id"),
        ({"bundle_items": [{"product_id": theirs.pk}]}, "bundle_items.0.product_id"),
        ({"bundle_items": [{"product_id": mine.pk, "variant_id": variant.pk}]}, "bundle_items.0.variant_id"),
    ):
        assert list(refused(app.post("/products", {"name": "New"} | body))) == [field]
        assert refused(app.patch(f"/products/{mine.pk}", body)).get(field)
    for call in (app.patch(f"/products/{theirs.pk}", {"name": "Mine"}), app.delete(f"/products/{theirs.pk}")):
        assert (call.status_code, call.json()) == (404, {"message": "Not found.", "code": "not_found"})
    theirs.refresh_from_db()
    assert (theirs.name, theirs.deleted_at) == ("Theirs", None)


def test_a_deleted_product_is_gone_for_apps_and_shoppers(shop, app, api):
    mug = make_product(shop, "Mug")
    answer = app.delete(f"/products/{mug.pk}")
    assert (answer.status_code, answer.json()) == (200, {"message": "Product deleted."})
    assert app.get(f"/products/{mug.pk}").status_code == api.get(f"/products/{mug.pk}").status_code == 404
    for again in (app.delete(f"/products/{mug.pk}"), app.patch(f"/products/{mug.pk}", {"name": "Cup"})):
        assert again.status_code == 404
    mug.refresh_from_db()
    assert mug.deleted_at


def test_a_part_of_a_bundle_is_not_deleted_and_the_bundle_is_named(shop, app):
    mug, bundle = make_product(shop, "Mug"), make_product(shop, "Set of two", type="bundle")
    BundleItem.objects.create(shop=shop, bundle=bundle, product=mug, qty=2)
    answer = app.delete(f"/products/{mug.pk}")
    assert (answer.status_code, answer.json()["code"]) == (422, "part_of_bundle")
    assert "Set of two" in answer.json()["message"]


def test_reading_does_not_let_write(shop):
    app = install(shop, "read_products").api
    for answer in (app.post("/products", {"name": "Mug"}), app.patch("/products/1", {}), app.delete("/products/1")):
        assert (answer.status_code, answer.json()["required_scopes"]) == (403, ["write_products"])


def asked(count: int, app, product, django_assert_max_num_queries) -> int:
    """How often the database is asked by a change that names and makes so many of everything."""
    record = app.get(f"/products/{product.pk}").json()["product"]
    body = {
        "variants": [{"id": each["id"], "price": "1.00"} for each in record["variants"]]
        + [{"name": f"New {number}"} for number in range(count)],
        "options": [{"id": each["id"], "values": each["values"] + [{"label": "More"}]} for each in record["options"]],
        "media": [{"id": each["id"], "alt": "One"} for each in record["media"]] + [{"url": PICTURE}] * count,
    }
    with django_assert_max_num_queries(45) as counted:
        changed(app, product, **body)
    return len(counted)


def test_a_change_asks_no_more_for_twelve_of_everything_than_for_one(shop, app, django_assert_max_num_queries):
    counts = []
    for count in (1, 12):
        mug = make_product(shop)
        for number in range(count):
            make_variant(mug, f"V{number}")
            make_option(mug, f"O{number}")
            make_media(mug)
        counts.append(asked(count, app, mug, django_assert_max_num_queries))
    assert counts[0] == counts[1]
