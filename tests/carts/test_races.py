"""Concurrent changes of one cart, with real threads and transactions, on both databases."""

from contextlib import suppress
from datetime import timedelta

import pytest
from django.db import IntegrityError, connection  # noqa: F401, connection is named in a mark

from storefront.carts import actions, merging
from storefront.carts.models import Cart, CartLine
from storefront.carts.queries import cart_lines
from storefront.catalogue.models import Variant
from storefront.kit import clock
from storefront.shops.models import IdempotentAnswer
from tests.carts.factories import add, filled, make_cart, quantities
from tests.catalogue.factories import make_product, make_variant
from tests.client import ApiClient
from tests.races import run_after_waiting_for, run_concurrently

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def rivals(api):
    """Eight API clients of the same integration, one for each thread."""
    return [ApiClient(api.token) for _ in range(8)]


@pytest.mark.rule("R-CART-18")
def test_concurrent_adds_of_different_products_are_all_kept(shop, api, rivals):
    token = filled(api, make_product(shop))
    products = [make_product(shop) for _ in rivals]
    pairs = zip(rivals, products, strict=True)
    answers = run_concurrently(*(lambda r=r, p=p: add(r, p, 2, cart=token) for r, p in pairs))
    assert [answer.status_code for answer in answers] == [201] * 8
    assert {f"p{product.pk}": 2 for product in products}.items() <= quantities(api, token).items()


@pytest.mark.rule("R-CART-18")
def test_concurrent_first_adds_of_a_product_make_one_line(shop, api, rivals):
    token = api.delete("/cart").json()["cart_token"]
    mug = make_product(shop, stock_qty=100)
    answers = run_concurrently(*(lambda r=r: add(r, mug, 2, cart=token) for r in rivals))
    assert [answer.status_code for answer in answers] == [201] * 8
    assert quantities(api, token) == {f"p{mug.pk}": 16}
    assert sorted(answer.json()["data"]["qty"] for answer in answers) == list(range(2, 17, 2))


@pytest.mark.rule("R-CART-18")
def test_concurrent_adds_never_exceed_the_stock(shop, api, rivals):
    token = api.delete("/cart").json()["cart_token"]
    mug = make_product(shop, stock_qty=5)
    answers = run_concurrently(*(lambda r=r: add(r, mug, cart=token) for r in rivals))
    assert sorted(answer.status_code for answer in answers) == [201] * 5 + [422] * 3
    assert quantities(api, token) == {f"p{mug.pk}": 5}


@pytest.mark.rule("R-CART-18", "R-CART-38")
def test_concurrent_calls_with_several_lines_are_carried_out_whole_or_not_at_all(shop, api, rivals):
    token = api.delete("/cart").json()["cart_token"]
    mug, pot = make_product(shop, stock_qty=5), make_product(shop, stock_qty=100)
    lines = [{"product_id": mug.pk, "qty": 1}, {"product_id": pot.pk, "qty": 2}]
    bodies = [{"lines": lines[::-1] if number % 2 else lines} for number in range(8)]
    pairs = zip(rivals, bodies, strict=True)
    answers = run_concurrently(*(lambda r=r, b=b: r.post("/cart/lines", b, cart=token) for r, b in pairs))
    assert sorted(answer.status_code for answer in answers) == [201] * 5 + [422] * 3
    assert quantities(api, token) == {f"p{mug.pk}": 5, f"p{pot.pk}": 10}


@pytest.mark.rule("R-CART-18")
def test_concurrent_adds_never_exceed_the_most_lines(shop, api, rivals):
    token = filled(api, make_product(shop))
    cart, rice = Cart.objects.get(), make_product(shop)
    CartLine.objects.bulk_create(
        CartLine(shop=shop, cart=cart, key=f"k{n}", product=rice, qty=1, name_snapshot="", created_at=cart.created_at)
        for n in range(198)
    )
    products = [make_product(shop) for _ in rivals]
    pairs = zip(rivals, products, strict=True)
    answers = run_concurrently(*(lambda r=r, p=p: add(r, p, cart=token) for r, p in pairs))
    assert sorted(answer.status_code for answer in answers) == [201] + [422] * 7
    assert cart.lines.count() == 200


def test_adding_against_emptying_leaves_the_add_or_nothing(shop, api, rivals):
    mug, plate = make_product(shop), make_product(shop)
    for _ in range(5):
        token = filled(api, mug)
        adding, emptying = run_concurrently(
            lambda token=token: add(rivals[0], plate, cart=token),
            lambda token=token: rivals[1].delete("/cart", cart=token),
        )
        assert (adding.status_code, emptying.status_code) == (201, 200)
        assert quantities(api, token) in ({}, {f"p{plate.pk}": 1})


def test_raising_against_removing_one_line(shop, api, rivals):
    mug = make_product(shop)
    for _ in range(5):
        token = filled(api, mug, 2)
        raising, removing = run_concurrently(
            lambda token=token: add(rivals[0], mug, cart=token),
            lambda token=token: rivals[1].delete(f"/cart/p{mug.pk}", cart=token),
        )
        assert (raising.status_code, removing.status_code) == (201, 200)
        assert quantities(api, token) in ({}, {f"p{mug.pk}": 1})


def test_adding_against_the_sweep_loses_no_line(shop, api, rivals):
    mug, plate = make_product(shop), make_product(shop)
    for _ in range(5):
        token = filled(api, mug)
        expiry = Cart.objects.latest("pk").expires_at
        adding, _ = run_concurrently(
            lambda token=token: add(rivals[0], plate, cart=token),
            lambda expiry=expiry: actions.delete_expired_carts(now=expiry),
        )
        assert adding.status_code == 201
        assert f"p{plate.pk}" in quantities(api, adding.json()["cart_token"])
        Cart.objects.all().delete()


def test_adding_a_variant_that_is_being_deleted_is_a_line_or_a_refusal(shop, rivals):
    shirt = make_product(shop)

    def delete(variant):
        # If the add came first, the database may refuse to delete the variant.
        with suppress(IntegrityError):
            variant.delete()

    for _ in range(8):
        blue = make_variant(shirt)
        adding, _ = run_concurrently(
            # Read the id now: deleting removes it from the instance that both threads share.
            lambda variant_id=blue.pk: add(rivals[0], shirt, variant_id=variant_id),
            lambda blue=blue: delete(blue),
        )
        assert adding.status_code == 201 or adding.json()["code"] == "product_unavailable"


@pytest.mark.rule("R-CALL-24")
@pytest.mark.skipif("connection.vendor != 'postgresql'", reason="SQLite has one writer at a time")
@pytest.mark.parametrize("path", ["/cart", "/cart/lines"])
@pytest.mark.parametrize("headers", [{}, {"Idempotency_Key": "k"}], ids=["without a key", "with a key"])
def test_adding_a_variant_whose_deletion_is_committed_first_is_a_refusal(shop, api, path, headers):
    shirt, token = make_product(shop), filled(api, make_product(shop))
    blue, green = make_variant(shirt), make_variant(shirt, "Green")
    for id, cart in ((blue.pk, None), (green.pk, token)):
        line = {"product_id": shirt.pk, "variant_id": id, "qty": 1}
        answer = run_after_waiting_for(
            Variant.objects.filter(pk=id).delete,
            lambda line=line, cart=cart: api.post(
                path, line if path == "/cart" else {"lines": [line]}, cart=cart, **headers
            ),
        )
        assert answer.status_code == 422
    assert quantities(api, token) == {f"p{Cart.objects.get().lines.get().product_id}": 1}
    assert not IdempotentAnswer.objects.exists()


def test_concurrent_merges_in_both_directions_lose_nothing(shop):
    now = clock.now()
    rice, corn = make_product(shop, stock_qty=100), make_product(shop, stock_qty=100)
    for _ in range(5):
        one, two = make_cart(shop, now=now), make_cart(shop, now=now)
        actions.add_line(shop=shop, now=now, cart=one, product_id=rice.pk, qty=2)
        actions.add_line(shop=shop, now=now, cart=two, product_id=corn.pk, qty=3)
        run_concurrently(
            lambda one=one, two=two: merging.merge_carts(shop=shop, source=one, target=two, now=now),
            lambda one=one, two=two: merging.merge_carts(shop=shop, source=two, target=one, now=now),
        )
        lines = [*cart_lines(shop, one), *cart_lines(shop, two)]
        assert sorted((line.product_id, line.qty) for line in lines) == [(rice.pk, 2), (corn.pk, 3)]


def test_repricing_against_a_change_keeps_the_change(shop, api, rivals):
    now = clock.now() + timedelta(minutes=1)
    for _ in range(5):
        mug = make_product(shop, price="9.50")
        token = filled(api, mug)
        type(mug).objects.filter(pk=mug.pk).update(price="11.00")
        cart = Cart.objects.latest("pk")
        changing, _ = run_concurrently(
            lambda token=token, mug=mug: rivals[0].patch(f"/cart/p{mug.pk}", {"qty": 4}, cart=token),
            lambda cart=cart: actions.reprice_cart(shop=shop, cart=cart, now=now),
        )
        assert changing.status_code == 200
        line = cart.lines.get()
        assert (line.qty, str(line.price_snapshot)) == (4, "11.00")
