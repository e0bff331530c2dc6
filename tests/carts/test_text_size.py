"""The texts in all lines of a cart together are limited."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from storefront.carts import actions, merging, rules
from storefront.carts.models import Cart, CartLine
from storefront.carts.queries import cart_lines
from tests.answers import error_of
from tests.carts.factories import add, make_cart
from tests.catalogue.factories import make_option, make_product
from tests.client import ApiClient
from tests.races import run_concurrently
from tests.shops.factories import NOW

# Nine of these are within the limit, ten are not.
SEVENTH = [{"name": f"n{number}", "value": "x" * 998} for number in range(7)]


@pytest.fixture
def mug(shop):
    return make_product(shop, "Mug", stock_qty=1000)


def text(number: int, fields=SEVENTH) -> list[dict[str, str]]:
    """Custom fields that no other line has."""
    return [*fields[:-1], fields[-1] | {"value": f"{number:03}" + "x" * 995}]


def fill(api: ApiClient, mug, lines: int = 9) -> str:
    token = None
    for number in range(lines):
        answer = add(api, mug, cart=token, custom_fields=text(number))
        assert answer.status_code == 201, answer.content
        token = answer.json()["cart_token"]
    return token


@pytest.mark.rule("R-LIM-6")
def test_refuses_more_text_than_a_cart_can_have(api, mug):
    token = fill(api, mug)
    answer = add(api, mug, cart=token, custom_fields=text(9))
    assert answer.status_code == 422
    assert error_of(answer) == {
        "message": "The texts in a cart can have at most 64 KiB in total.",
        "code": "cart_too_large",
        "errors": {"cart": ["The texts in a cart can have at most 64 KiB in total."]},
    }
    assert CartLine.objects.count() == 9


def test_full_cart_accepts_lines_without_text_and_more_of_the_same(api, mug):
    token = fill(api, mug)
    assert add(api, mug, cart=token).status_code == 201
    assert add(api, mug, cart=token, custom_fields=text(0)).status_code == 201
    assert add(api, mug, cart=token, custom_fields=[{"name": "To", "value": "Ada"}]).status_code == 201


def test_texts_are_counted_in_bytes(api, mug):
    wide = [{"name": f"n{number}", "value": "😀" * 1000} for number in range(17)]
    assert add(api, mug, custom_fields=wide).json()["code"] == "cart_too_large"
    assert add(api, mug, custom_fields=wide[:16]).status_code == 201
    assert Cart.objects.count() == 1


def test_option_texts_count(shop, api):
    mug = make_product(shop)
    option = make_option(mug, type="text", values={})
    token = fill(api, make_product(shop))
    codes = []
    for number in range(4):
        answer = add(api, mug, cart=token, options={str(option.pk): f"{number}" + "x" * 999})
        codes.append(answer.json().get("code"))
    assert codes == [None, None, "cart_too_large", "cart_too_large"]


def test_merging_leaves_out_what_does_not_fit(shop, mug):
    basket, sent = make_cart(shop), make_cart(shop)

    def put(cart, number):
        given = {"product_id": mug.pk, "qty": 1, "custom_fields": text(number)}
        actions.add_line(shop=shop, now=NOW, cart=cart, **given)

    for number in range(6):
        put(basket, number)
    for number in range(3, 12):
        put(sent, number)
    merged = merging.merge_carts(shop=shop, source=sent, target=basket, now=NOW)
    lines = cart_lines(shop, merged)
    assert [line.qty for line in lines] == [1, 1, 1, 2, 2, 2, 1, 1, 1]
    assert sum(map(rules.text_bytes, lines)) <= rules.MAX_CART_TEXT


@pytest.mark.django_db(transaction=True)
def test_concurrent_adds_stay_within_the_text_limit(shop, api, mug):
    token = fill(api, mug, 7)
    rivals = [ApiClient(api.token) for _ in range(6)]
    answers = run_concurrently(
        *(
            lambda rival=rival, number=number: add(rival, mug, cart=token, custom_fields=text(number))
            for number, rival in enumerate(rivals, 10)
        )
    )
    assert sorted(answer.status_code for answer in answers) == [201, 201, 422, 422, 422, 422]
    assert sum(map(rules.text_bytes, CartLine.objects.all())) <= rules.MAX_CART_TEXT


def test_text_limit_takes_no_queries(api, mug):
    """A line with text takes as many queries as one without."""
    token = fill(api, mug, 1)
    counts = []
    for given in ({}, {"custom_fields": text(5)}):
        with CaptureQueriesContext(
            connection,
        ) as asked:
            add(api, mug, cart=token, **given)
        counts.append(len(asked))
    assert counts[0] == counts[1]


def test_a_cart_holds_its_limit_to_the_byte(api, mug):
    """In texts that are added, and in lines that carts bring in when they are merged."""
    full = [{"name": f"{number:02}", "value": "😀" * 1000} for number in range(16)]
    full.append({"name": "16", "value": "😀" * 375 + "xx"})
    assert rules.MAX_CART_TEXT == 65_536
    too_much = [*full[:-1], full[-1] | {"name": "016"}]
    assert add(api, mug, custom_fields=too_much).json()["code"] == "cart_too_large"
    assert add(api, mug, custom_fields=full).status_code == 201
    line = CartLine.objects.get()
    assert rules.text_bytes(line) == rules.MAX_CART_TEXT
    assert rules.has_room_for_text(line, [])
    one_more = CartLine(custom_fields=[{"name": "", "value": "x"}], options=[])
    assert not rules.has_room_for_text(line, [one_more])
    assert not rules.has_room_for_text(one_more, [line])
    assert rules.has_room_for_text(CartLine(custom_fields=[], options=[]), [line, one_more])
