import pytest

from storefront.carts.models import Cart
from tests.carts.factories import add, filled, only_key
from tests.catalogue.factories import make_product

WRONG_NUMBERS = [None, True, "1", 1.5, 1.0, 0, -1, 2**53, 2**64, 10**30, [], {}]


@pytest.mark.parametrize("qty", [*WRONG_NUMBERS, 10_000])
def test_a_quantity_is_an_integer_from_1_to_9999(shop, api, qty):
    answer = add(api, make_product(shop, track_inventory=False), qty)
    assert answer.status_code == 422
    assert "qty" in answer.json()["errors"]
    assert not Cart.objects.exists()


@pytest.mark.parametrize("product_id", WRONG_NUMBERS)
def test_a_product_id_is_a_positive_integer(shop, api, product_id):
    answer = api.post("/cart", {"product_id": product_id, "qty": 1})
    assert answer.status_code == 422
    assert "product_id" in answer.json()["errors"]


def test_9999_pieces_fit_one_line_and_no_more(shop, api):
    rice = make_product(shop, track_inventory=False)
    token = filled(api, rice, 9_999)
    answer = add(api, rice, 1, cart=token)
    assert (answer.status_code, list(answer.json()["errors"])) == (422, ["qty"])


@pytest.mark.parametrize("qty", [True, "1", 1.5, -1, 10_000, 2**64, None])
def test_a_change_takes_an_integer_from_0_to_9999(shop, api, qty):
    token = filled(api, make_product(shop, track_inventory=False))
    answer = api.patch(f"/cart/{only_key(api, token)}", {"qty": qty}, cart=token)
    assert (answer.status_code, list(answer.json()["errors"])) == (422, ["qty"])


@pytest.mark.parametrize(
    "member",
    [
        {"variant_id": "1"},
        {"variant_id": True},
        {"variant_id": 2**70},
        {"options": [1]},
        {"options": {"1": 1.5}},
        {"options": {"1": True}},
        {"options": {"1": {"value": 1}}},
        {"custom_fields": {"name": "value"}},
        {"custom_fields": ["To Ada"]},
        {"custom_price": 12},
        {"custom_price": 12.5},
        {"is_damaged": "yes"},
        {"is_damaged": 1},
    ],
)
def test_a_member_of_the_wrong_type_is_named(shop, api, member):
    answer = add(api, make_product(shop, allow_custom_price=True), **member)
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_fields")
    assert next(iter(answer.json()["errors"])).split(".")[0] == next(iter(member))


@pytest.mark.parametrize("member", ["variant_id", "options", "custom_fields", "custom_price", "is_damaged"])
def test_null_is_the_same_as_leaving_a_member_out(shop, api, member):
    mug = make_product(shop)
    assert only_key(api, add(api, mug, **{member: None}).json()["cart_token"]) == f"p{mug.pk}"


def test_unknown_members_are_ignored(shop, api):
    assert add(api, make_product(shop), colour="blue").status_code == 201


def test_missing_members_are_named(api):
    assert set(api.post("/cart", {}).json()["errors"]) == {"product_id", "qty"}


def test_a_body_that_is_no_object_is_malformed(api):
    assert api.post("/cart", [1]).status_code == 400
