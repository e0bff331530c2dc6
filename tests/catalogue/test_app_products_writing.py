"""Installed apps create, change and delete products (R-APP-31, R-APP-32)."""

import pytest

from storefront.catalogue import rules
from storefront.catalogue.models import Brand, BundleItem, Media, Product, TaxClass, Variant
from tests.answers import error_of
from tests.catalogue.factories import make_category, make_media, make_option, make_product, make_variant
from tests.client import ApiClient
from tests.factories.apps import install
from tests.reference.pictures import picture as a_picture
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


def test_a_product_is_created_with_its_children_and_returned_as_read(shop, app):
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


def test_only_the_name_is_required(app):
    product = made(app, name="Mug")
    assert (product["status"], product["price"], product["track_inventory"]) == ("draft", "0.00", False)


def test_a_bundle_contains_products_and_variants(shop, app):
    jug, blue = make_product(shop, "Jug"), make_variant(make_product(shop, "Mug"))
    parts = [{"product_id": jug.pk}, {"product_id": blue.product_id, "variant_id": blue.pk, "qty": 2}]
    product = made(app, name="Set", bundle_items=parts)
    assert product["type"] == "bundle"
    assert [(item["product_id"], item["variant_id"], item["qty"]) for item in product["bundle_items"]] == [
        (jug.pk, None, 1),
        (blue.product_id, blue.pk, 2),
    ]
    first, second = (item["id"] for item in product["bundle_items"])
    change = [{"id": second, "qty": 3}, {"id": first, "remove": True}]
    product = changed(app, Product.objects.get(pk=product["id"]), bundle_items=change)
    assert [(item["product_id"], item["qty"]) for item in product["bundle_items"]] == [(blue.product_id, 3)]


@pytest.mark.rule("R-APP-32")
def test_members_that_are_not_sent_do_not_change(shop, app):
    mug = make_product(shop, "Mug", categories=(make_category(shop),), sku="M-1", published_on=NOW)
    make_variant(mug)
    make_option(mug)
    make_media(mug)
    before = app.get(f"/products/{mug.pk}").json()["product"]
    after = changed(app, mug, price="7.00")
    assert {name for name in after if after[name] != before[name]} == {"price", "updated_at"}


@pytest.mark.rule("R-APP-32")
def test_entries_of_a_list_are_changed_added_and_removed_and_others_stay(shop, app):
    mug = make_product(shop, "Mug")
    blue, red, black = (make_variant(mug, name, stock_qty=5, sort_order=at) for at, name in enumerate(["B", "R", "K"]))
    engraving, gone, ribbon = make_option(mug), make_option(mug, "Gone"), make_option(mug, "Ribbon")
    gold = engraving.values.get(label="Gold")
    product = changed(
        app,
        mug,
        variants=[{"name": "Green"}, {"id": red.pk, "price": "7.00"}, {"id": blue.pk, "remove": True}],
        options=[
            {"id": gone.pk, "remove": True},
            {"id": engraving.pk, "values": [{"id": gold.pk, "price": "6.00"}, {"label": "Silver"}]},
        ],
    )
    assert [(each["id"], each["name"], each["price"], each["stock_qty"]) for each in product["variants"]][:2] == [
        (red.pk, "R", "7.00", 5),
        (black.pk, "K", "12.00", 5),
    ]
    assert [each["name"] for each in product["variants"]] == ["R", "K", "Green"]
    assert not Variant.objects.filter(pk=blue.pk).exists()
    assert {each["id"] for each in product["options"]} == {engraving.pk, ribbon.pk}
    option = next(each for each in product["options"] if each["id"] == engraving.pk)
    prices = {each["label"]: each["price"] for each in option["values"]}
    assert (prices["Gold"], prices["Silver"]) == ("6.00", "0.00")
    assert len(option["values"]) == engraving.values.count()


@pytest.mark.rule("R-APP-32")
@pytest.mark.parametrize("name", ["variants", "options", "media", "bundle_items"])
def test_an_empty_list_changes_nothing_and_null_is_refused(shop, app, name):
    set_of_two = make_product(shop, "Set", type="bundle")
    BundleItem.objects.create(shop=shop, bundle=set_of_two, product=make_product(shop, "Jug"))
    mug = make_product(shop, "Mug")
    make_variant(mug, image=make_media(mug))
    make_option(mug)
    product = set_of_two if name == "bundle_items" else mug
    before = app.get(f"/products/{product.pk}").json()["product"]
    assert changed(app, product, **{name: []})[name] == before[name] != []
    assert name in app.patch(f"/products/{product.pk}", {name: None}).json()["errors"]
    assert app.get(f"/products/{product.pk}").json()["product"][name] == before[name]


@pytest.mark.parametrize(
    ("entries", "field"),
    [
        ([{"remove": True}], "variants.0.remove"),
        ([{"id": "OWN", "price": "1.00"}, {"id": "OWN", "remove": True}], "variants.1.id"),
        ([{"id": "OWN", "remove": True}, {"id": "OWN", "remove": True}], "variants.1.id"),
        ([{"id": "OWN", "remove": "yes"}], "variants.0.remove"),
        ([{"id": "FOREIGN", "remove": True}], "variants.0.id"),
    ],
)
def test_an_entry_that_cannot_be_removed_is_named(shop, other_shop, app, entries, field):
    own, foreign = make_variant(make_product(shop)), make_variant(make_product(other_shop))
    ids = {"OWN": own.pk, "FOREIGN": foreign.pk}
    body = {"variants": [{name: ids.get(value, value) for name, value in entry.items()} for entry in entries]}
    answer = app.patch(f"/products/{own.product_id}", body)
    assert (answer.status_code, list(answer.json()["errors"])) == (422, [field])
    assert Variant.objects.filter(pk__in=ids.values()).count() == 2


def test_a_list_cannot_grow_beyond_its_limit_by_additions(shop, app, monkeypatch):
    monkeypatch.setitem(rules.MAX_ENTRIES, "variants", 2)
    mug = make_product(shop)
    blue = make_variant(mug, "Blue")
    make_variant(mug, "Red")
    answer = app.patch(f"/products/{mug.pk}", {"variants": [{"name": "Green"}]})
    assert (answer.status_code, list(answer.json()["errors"])) == (422, ["variants"])
    body = {"variants": [{"name": "Green"}, {"id": blue.pk, "remove": True}]}
    assert app.patch(f"/products/{mug.pk}", body).status_code == 200


def test_a_record_that_was_read_can_be_sent_back_unchanged(shop, app):
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


def test_a_new_url_of_a_picture_replaces_its_file(shop, app):
    mug = make_product(shop, "Mug")
    picture = make_media(mug, "", file=a_picture())
    url = app.get(f"/products/{mug.pk}").json()["product"]["media"][0]["url"]
    assert changed(app, mug, media=[{"id": picture.pk, "url": url, "alt": "One"}])["media"][0]["url"] == url
    assert Media.objects.get(pk=picture.pk).file
    assert changed(app, mug, media=[{"id": picture.pk, "url": PICTURE}])["media"][0]["url"] == PICTURE


def test_unknown_and_read_only_members_are_ignored(app):
    product = made(app, name="Mug", colour="blue", id=7, created_at="2020-01-01T00:00:00Z", deleted_at=None)
    assert product["id"] != 7 or product["created_at"][:4] != "2020"
    assert product["created_at"][:4] != "2020"


INVALID = [
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
]


def test_an_invalid_value_is_refused_by_its_path_and_nothing_is_written(shop, app):
    mug = make_product(shop, "Mug")
    before = app.get(f"/products/{mug.pk}").json()
    for body, field in INVALID:
        for answer in (app.post("/products", {"name": "New"} | body), app.patch(f"/products/{mug.pk}", body)):
            errors = refused(answer)
            assert list(errors) == [field], body
            assert all(text.endswith(".") for text in errors[field])
    assert app.get(f"/products/{mug.pk}").json() == before
    assert Product.objects.count() == 1


def test_a_new_product_needs_its_name(app):
    assert refused(app.post("/products", {"price": "1.00"})) == {"name": ["name is required."]}


def test_refuses_a_slug_in_use(shop, app):
    make_product(shop, "Mug")
    assert list(refused(app.post("/products", {"name": "Cup", "slug": "mug"}))) == ["slug"]


def test_a_bundle_cannot_contain_itself_or_another_products_variant(shop, app):
    bundle, mug = make_product(shop, "Set", type="bundle"), make_product(shop, "Mug")
    blue = make_variant(make_product(shop, "Shirt"))
    for part, field in (
        ({"product_id": bundle.pk}, "bundle_items.0.product_id"),
        ({"product_id": mug.pk, "variant_id": blue.pk}, "bundle_items.0.variant_id"),
    ):
        assert list(refused(app.patch(f"/products/{bundle.pk}", {"bundle_items": [part]}))) == [field]


def test_rows_of_another_shop_cannot_be_referenced_or_changed(shop, other_shop, app):
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
        assert (call.status_code, error_of(call)) == (404, {"message": "Not found.", "code": "not_found"})
    theirs.refresh_from_db()
    assert (theirs.name, theirs.deleted_at) == ("Theirs", None)


def test_a_deleted_product_is_a_404_in_both_apis(shop, app, api):
    mug = make_product(shop, "Mug")
    answer = app.delete(f"/products/{mug.pk}")
    assert (answer.status_code, answer.json()) == (200, {"message": "Product deleted."})
    assert app.get(f"/products/{mug.pk}").status_code == api.get(f"/products/{mug.pk}").status_code == 404
    for again in (app.delete(f"/products/{mug.pk}"), app.patch(f"/products/{mug.pk}", {"name": "Cup"})):
        assert again.status_code == 404
    mug.refresh_from_db()
    assert mug.deleted_at


def test_refuses_to_delete_a_product_in_a_bundle_and_names_the_bundle(shop, app):
    mug, bundle = make_product(shop, "Mug"), make_product(shop, "Set of two", type="bundle")
    BundleItem.objects.create(shop=shop, bundle=bundle, product=mug, qty=2)
    answer = app.delete(f"/products/{mug.pk}")
    assert (answer.status_code, answer.json()["code"]) == (422, "part_of_bundle")
    assert "Set of two" in answer.json()["message"]


def test_writing_needs_the_scope(shop):
    app = install(shop, "read_products").api
    for answer in (app.post("/products", {"name": "Mug"}), app.patch("/products/1", {}), app.delete("/products/1")):
        assert (answer.status_code, answer.json()["required_scopes"]) == (403, ["write_products"])


def queries_of_change(count: int, app, product, django_assert_max_num_queries) -> int:
    """The number of queries of a change that updates and creates this many of each child."""
    record = app.get(f"/products/{product.pk}").json()["product"]
    body = {
        "variants": [{"id": each["id"], "price": "1.00"} for each in record["variants"]]
        + [{"name": f"New {number}"} for number in range(count)],
        "options": [{"id": each["id"], "values": each["values"] + [{"label": "More"}]} for each in record["options"]],
        "media": [{"id": each["id"], "alt": "One"} for each in record["media"]] + [{"url": PICTURE}] * count,
    }
    with django_assert_max_num_queries(45) as counted:
        after = changed(app, product, **body)
    assert [len(after[children]) for children in ("variants", "options", "media")] == [2 * count, count, 2 * count]
    return len(counted)


def test_a_change_takes_the_same_queries_for_one_and_for_twelve_of_each_child(shop, app, django_assert_max_num_queries):
    counts = []
    for count in (1, 12):
        mug = make_product(shop)
        for number in range(count):
            make_variant(mug, f"V{number}")
            make_option(mug, f"O{number}")
            make_media(mug)
        counts.append(queries_of_change(count, app, mug, django_assert_max_num_queries))
    assert counts[0] == counts[1]
