"""Orders are found in the admin by number, reference, name, email address and SKU, by an index on both databases."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from storefront.orders import words
from storefront.orders.models import Order, OrderWord
from storefront.orders.words import find_orders
from tests.addresses import ADDRESS
from tests.catalogue.factories import make_product
from tests.orders.factories import make_order, sale_line
from tests.orders.test_list_indexes import plan_of
from tests.staff import admin_url


@pytest.fixture
def mug(shop):
    return make_product(shop, "Mug", sku="MUG 7-Blue", stock_qty=500)


def order_of(shop, product, email: str, name: str, **given) -> Order:
    return make_order(shop, sale_line(product), email=email, billing_address=ADDRESS | {"name": name}, **given)


def test_orders_are_found_by_each_of_their_names(shop, other_shop, mug):
    one = order_of(shop, mug, "Zoé.Müller@example.com", "Zoé van Müller", shipping_address=ADDRESS | {"name": "Bo Ek"})
    other = order_of(shop, make_product(shop, "Pot", sku="POT_1"), "bo@example.com", "Bo Lind")
    theirs = make_product(other_shop, sku="MUG 7-Blue")
    order_of(other_shop, theirs, "zoe@example.com", "Zoe Müller")
    Order.objects.filter(pk=other.pk).update(client_reference="REF 9")
    found = {
        str(one.number): {one.pk},
        f" #{one.number} ": {one.pk},
        "REF 9": {other.pk},
        "zoe.mull": {one.pk},
        "MÜLLER,": {one.pk},
        "bo": {one.pk, other.pk},
        "bo müller": {one.pk},
        "lind bo@example": {other.pk},
        "mug 7-b": {one.pk},
        "pot_": {other.pk},
        "pot%": set(),
        "ller": set(),
        "\0": set(),
        "#": set(),
        "99999999999999999999": set(),
    }
    for text, keys in found.items():
        assert find_orders(shop, text).keys == keys, text


def test_a_word_of_very_many_orders_finds_some_and_says_so(desk, shop, mug, monkeypatch):
    orders = [order_of(shop, mug, f"a{number}@example.com", "Ada Lind") for number in range(5)]
    rare = order_of(shop, mug, "b@example.com", "Ada Berg")
    monkeypatch.setattr(words, "MAX_ORDERS_PER_WORD", 3)
    found = find_orders(shop, "ada")
    # Those with exactly this word are the newest.
    assert (found.is_all, found.keys) == (False, {orders[-2].pk, orders[-1].pk, rare.pk})
    assert not find_orders(shop, "ad").is_all
    assert (find_orders(shop, "ada berg").keys, find_orders(shop, "ada berg").is_all) == ({rare.pk}, True)
    page = desk.get(admin_url(Order, "changelist"), {"q": "ada"})
    assert "Very many orders match." in page.content.decode()
    assert len(page.context_data["cl"].result_list) == 3


def test_a_word_that_few_orders_have_often_hides_no_order(shop, mug, monkeypatch):
    often, other = (order_of(shop, mug, f"{name}@example.com", f"Ada {name}") for name in ("lind", "berg"))
    OrderWord.objects.bulk_create(OrderWord(shop=shop, order=often, word=f"lamp{number}") for number in range(8))
    OrderWord.objects.create(shop=shop, order=other, word="lamp9")
    monkeypatch.setattr(words, "MAX_ORDERS_PER_WORD", 3)
    assert (find_orders(shop, "lamp berg").keys, find_orders(shop, "lamp berg").is_all) == ({other.pk}, True)
    assert not find_orders(shop, "lamp").is_all
    Order.objects.filter(shop=shop).update(client_reference="REF 9")
    monkeypatch.setattr(words, "MAX_ORDERS_PER_WORD", 2)
    assert not find_orders(shop, "REF 9").is_all


def test_words_are_found_by_their_index(shop, mug):
    order = order_of(shop, mug, "ada@example.com", "Ada Lind")
    OrderWord.objects.bulk_create(OrderWord(shop=shop, order=order, word=f"word{number}") for number in range(2000))
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE orders_orderword")
    with CaptureQueriesContext(connection) as asked:
        assert find_orders(shop, "word17 ada").keys == {order.pk}
    of_words = [query["sql"] for query in asked if "orders_orderword" in query["sql"]]
    assert len(of_words) == 4
    for statement in of_words:
        assert "order_word_found" in plan_of(statement, may_sort=True), statement


@pytest.mark.slow
def test_words_are_without_accents_and_punctuation(shop, mug):
    order = order_of(shop, mug, "Zoé@example.com", "Zoé (van) Müller; GmbH")
    kept = set(order.words.values_list("word", flat=True))
    assert {"zoe@example.com", "van", "muller", "gmbh", "7-blue"} <= kept
