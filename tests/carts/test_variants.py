import pytest

from tests.carts.factories import add, filled, quantities
from tests.catalogue.factories import make_option, make_product, make_variant


@pytest.fixture
def shirt(shop):
    return make_product(shop, "Shirt", price="0.00", stock_qty=0)


def test_a_variant_has_its_own_price_name_and_key(api, shirt):
    blue = make_variant(shirt, "Blue", price="12.00")
    line = add(api, shirt, variant_id=blue.pk).json()["data"]
    assert (line["variant_id"], line["price_snapshot"], line["name_snapshot"]) == (blue.pk, "12.00", "Shirt – Blue")
    assert list(quantities(api, filled(api, shirt, variant_id=blue.pk))) == [f"p{shirt.pk}-v{blue.pk}"]


def test_a_variants_name_that_says_the_product_is_not_said_twice(api, shirt):
    blue = make_variant(shirt, "Shirt, blue")
    assert add(api, shirt, variant_id=blue.pk).json()["data"]["name_snapshot"] == "Shirt, blue"


def test_two_variants_are_two_lines(api, shirt):
    blue, red = make_variant(shirt, "Blue"), make_variant(shirt, "Red")
    token = filled(api, shirt, variant_id=blue.pk)
    add(api, shirt, variant_id=red.pk, cart=token)
    add(api, shirt, variant_id=blue.pk, cart=token)
    assert list(quantities(api, token).values()) == [2, 1]


def test_options_of_a_variant_extend_its_key(api, shirt):
    blue = make_variant(shirt, "Blue")
    option = make_option(shirt, "Print", {"Logo": "3.00"})
    token = filled(api, shirt, variant_id=blue.pk, options={str(option.pk): option.values.get().pk})
    (key,) = quantities(api, token)
    assert key.startswith(f"p{shirt.pk}-v{blue.pk}-")
    assert len(key.rpartition("-")[2]) == 12


@pytest.mark.rule("R-CART-25")
def test_a_variant_must_be_chosen(api, shirt):
    make_variant(shirt)
    answer = add(api, shirt)
    assert (answer.status_code, answer.json()["code"]) == (422, "variant_required")


def test_an_inactive_variant_is_unavailable(api, shirt):
    blue = make_variant(shirt, is_active=False, allow_backorders=True)
    assert add(api, shirt, variant_id=blue.pk).json()["code"] == "product_unavailable"


def test_a_variant_of_another_product_or_shop_is_unavailable(shop, other_shop, api, shirt):
    make_variant(shirt)
    strange, foreign = make_variant(make_product(shop)), make_variant(make_product(other_shop))
    for variant in (strange, foreign):
        assert add(api, shirt, variant_id=variant.pk).json()["code"] == "product_unavailable"


def test_a_variant_of_a_plain_product_is_unavailable(shop, api, shirt):
    blue = make_variant(shirt)
    assert add(api, make_product(shop), variant_id=blue.pk).json()["code"] == "product_unavailable"


def test_the_variants_stock_counts_not_the_products(api, shirt):
    blue = make_variant(shirt, stock_qty=2)
    answer = add(api, shirt, 3, variant_id=blue.pk)
    assert (answer.json()["code"], answer.json()["available"]) == ("insufficient_stock", 2)
    assert add(api, shirt, 2, variant_id=blue.pk).status_code == 201


def test_a_backordered_or_untracked_variant_sells_past_zero(api, shirt):
    for given in ({"allow_backorders": True}, {"track_inventory": False}):
        variant = make_variant(shirt, stock_qty=0, **given)
        assert add(api, shirt, 5, variant_id=variant.pk).status_code == 201
