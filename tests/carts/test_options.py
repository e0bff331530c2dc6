import pytest

from storefront.carts.models import Cart
from tests.carts.factories import add, contents, filled, quantities
from tests.catalogue.factories import make_option, make_product


@pytest.fixture
def mug(shop):
    return make_product(shop, "Mug", price="9.50")


def value_of(option, label):
    return option.values.get(label=label).pk


@pytest.mark.parametrize("type", ["select", "radio", "checkbox"])
def test_a_chosen_value_adds_its_price(api, mug, type):
    option = make_option(mug, "Engraving", {"Gold": "5.00", "None": "0.00"}, type=type)
    gold = value_of(option, "Gold")
    line = add(api, mug, options={str(option.pk): gold}).json()["data"]
    assert line["price_snapshot"] == "14.50"
    assert line["options"] == [{"id": option.pk, "name": "Engraving", "value": "Gold", "price": "5.00"}]


def test_a_text_adds_the_price_of_its_only_value(api, mug):
    option = make_option(mug, "Dedication", {"Text": "2.00"}, type="text")
    line = add(api, mug, options={str(option.pk): "To Ada"}).json()["data"]
    assert line["price_snapshot"] == "11.50"
    assert line["options"] == [{"id": option.pk, "name": "Dedication", "value": "To Ada", "price": "2.00"}]


def test_a_text_option_without_a_value_costs_nothing(api, mug):
    option = make_option(mug, "Dedication", {}, type="text")
    assert add(api, mug, options={str(option.pk): "To Ada"}).json()["data"]["price_snapshot"] == "9.50"


def test_the_same_product_with_other_options_is_another_line(api, mug):
    option = make_option(mug)
    token = filled(api, mug, options={str(option.pk): value_of(option, "Gold")})
    add(api, mug, options={str(option.pk): value_of(option, "None")}, cart=token)
    add(api, mug, options={str(option.pk): value_of(option, "Gold")}, cart=token)
    assert sorted(quantities(api, token).values()) == [1, 2]


def test_options_are_in_the_merchants_order(api, mug):
    second = make_option(mug, "Second", sort_order=2)
    first = make_option(mug, "First", sort_order=1)
    chosen = {str(second.pk): value_of(second, "Gold"), str(first.pk): value_of(first, "Gold")}
    token = filled(api, mug, options=chosen)
    (item,) = contents(api, token)["items"]
    assert [option["name"] for option in item["options"]] == ["First", "Second"]


def test_a_required_option_is_named_in_message_and_errors(api, mug):
    make_option(mug, "Engraving", required=True)
    answer = add(api, mug)
    assert (answer.status_code, answer.json()["code"]) == (422, "option_required")
    assert "Engraving" in answer.json()["message"]
    assert "Engraving" in str(answer.json()["errors"])
    assert not Cart.objects.exists()


@pytest.mark.parametrize("given", [None, "", "  "])
def test_null_and_blank_text_mean_no_choice(api, mug, given):
    option = make_option(mug, "Dedication", {}, type="text", required=True)
    assert add(api, mug, options={str(option.pk): given}).json()["code"] == "option_required"


def test_an_optional_option_may_be_left_out(api, mug):
    option = make_option(mug)
    line = add(api, mug, options={str(option.pk): None}).json()["data"]
    assert (line["options"], line["price_snapshot"]) == ([], "9.50")


@pytest.mark.parametrize("key", ["999999", "abc", "-1", "1" * 60])
def test_an_unknown_option_is_named(api, mug, key):
    make_option(mug)
    answer = add(api, mug, options={key: 1})
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_option")
    assert key[:40] in answer.json()["message"]


@pytest.mark.parametrize("given", [999_999, "Gold", 2**60])
def test_an_unknown_value_is_refused_and_the_option_named(api, mug, given):
    option = make_option(mug, "Engraving")
    answer = add(api, mug, options={str(option.pk): given})
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_option")
    assert "Engraving" in answer.json()["message"]


def test_a_value_of_another_option_is_refused(api, mug):
    engraving, colour = make_option(mug, "Engraving"), make_option(mug, "Colour")
    answer = add(api, mug, options={str(engraving.pk): value_of(colour, "Gold")})
    assert answer.json()["code"] == "invalid_option"


def test_an_option_of_another_product_is_refused(shop, api, mug):
    option = make_option(make_product(shop))
    answer = add(api, mug, options={str(option.pk): value_of(option, "Gold")})
    assert answer.json()["code"] == "invalid_option"


@pytest.mark.parametrize("given", [5, "x" * 1_001])
def test_refuses_an_option_text_that_is_too_long(api, mug, given):
    option = make_option(mug, "Dedication", {}, type="text")
    assert add(api, mug, options={str(option.pk): given}).json()["code"] == "invalid_option"
