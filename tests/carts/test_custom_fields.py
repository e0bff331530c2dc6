import pytest

from tests.carts.factories import add, filled, quantities
from tests.catalogue.factories import make_product


def test_custom_fields_are_kept_in_order(shop, api):
    fields = [{"name": "To", "value": "Ada"}, {"name": "From", "value": "Björn\nand Cleo"}]
    assert add(api, make_product(shop), custom_fields=fields).json()["data"]["custom_fields"] == fields


def test_different_custom_fields_make_another_line(shop, api):
    mug = make_product(shop)
    token = filled(api, mug, custom_fields=[{"name": "To", "value": "Ada"}])
    add(api, mug, cart=token, custom_fields=[{"name": "To", "value": "Cleo"}])
    add(api, mug, cart=token)
    assert list(quantities(api, token).values()) == [1, 1, 1]


def test_the_order_of_custom_fields_does_not_make_another_line(shop, api):
    mug = make_product(shop)
    fields = [{"name": "To", "value": "Ada"}, {"name": "From", "value": "Cleo"}]
    token = filled(api, mug, custom_fields=fields)
    add(api, mug, cart=token, custom_fields=fields[::-1])
    assert list(quantities(api, token).values()) == [2]


def test_empty_custom_fields_equal_none(shop, api):
    mug = make_product(shop)
    assert list(quantities(api, filled(api, mug, custom_fields=[]))) == [f"p{mug.pk}"]


@pytest.mark.parametrize(
    "fields",
    [
        [{"name": "To", "value": "Ada"}] * 21,
        [{"name": "", "value": "Ada"}],
        [{"name": "  ", "value": "Ada"}],
        [{"name": "x" * 101, "value": "Ada"}],
        [{"name": "To", "value": "x" * 1_001}],
        [{"name": "To", "value": "nul\0"}],
        [{"name": "nul\0", "value": "Ada"}],
        [{"name": "To", "value": 5}],
        [{"name": "To"}],
        [{"value": "Ada"}],
    ],
)
def test_refuses_too_many_or_too_long_custom_fields(shop, api, fields):
    answer = add(api, make_product(shop), custom_fields=fields)
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_fields")
    assert next(iter(answer.json()["errors"])).startswith("custom_fields")


def test_twenty_custom_fields_are_accepted(shop, api):
    fields = [{"name": f"Field {i}", "value": "x" * 1_000} for i in range(20)]
    assert add(api, make_product(shop), custom_fields=fields).status_code == 201
