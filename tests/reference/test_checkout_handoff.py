"""The checkout link: asked for, made, followed, refused, and kept nowhere."""

import logging
import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from urllib.parse import parse_qsl, urlsplit
from uuid import UUID

import pytest
import time_machine
from django.apps import apps
from django.contrib.sessions.models import Session

from storefront.carts.models import Cart, CheckoutLink
from storefront.orders.models import Order
from storefront.payments.models import Payment
from tests.carts.factories import make_group
from tests.catalogue.factories import make_product
from tests.checkout.shopper import Shopper, fill_cart, link_to
from tests.client import ApiClient
from tests.customers.factories import make_customer
from tests.shops.factories import make_token

START = datetime(2026, 11, 21, 7, 30, tzinfo=UTC)


@pytest.fixture
def shopper(shop):
    return Shopper(shop)


@pytest.fixture
def mug(shop):
    return make_product(shop, "Mug", stock_qty=50)


@pytest.fixture
def cart(api, mug):
    return fill_cart(api, {"product_id": mug.pk, "qty": 2})


@pytest.fixture
def link(api, cart):
    return link_to(api, cart)


@pytest.mark.rule("R-LINK-1")
def test_checkout_answers_the_cart_token_the_checkout_url_and_the_seconds(api, cart):
    answer = api.post("/cart/checkout", cart=cart)
    assert answer.status_code == 200
    assert list(answer.json()) == ["cart_token", "checkout_url", "expires_in", "problems"]
    assert answer.json()["cart_token"] == cart


@pytest.mark.rule("R-LINK-1")
def test_it_takes_no_body_and_ignores_one_that_comes(api, cart):
    assert api.post("/cart/checkout", cart=cart).status_code == 200
    assert api.post("/cart/checkout", {"anything": 1}, cart=cart).status_code == 200


@pytest.mark.rule("R-LINK-2")
def test_the_url_has_the_form_base_url_cart_resume_with_cart_expires_and_signature(shop, link):
    parts = urlsplit(link)
    assert link.startswith(f"{shop.base_url}/cart/resume?")
    assert [name for name, _ in parse_qsl(parts.query)] == ["cart", "expires", "signature"]


@pytest.mark.rule("R-LINK-3")
def test_cart_is_a_uuid_made_for_the_link_and_neither_the_token_nor_the_carts_own(api, link, cart):
    named = [dict(parse_qsl(urlsplit(url).query))["cart"] for url in (link, link_to(api, cart))]
    assert len({*map(UUID, named), Cart.objects.get().public_id}) == 3
    assert cart not in link


@pytest.mark.rule("R-LINK-4")
def test_the_signature_is_lower_case_hex_of_hmac_sha256(link):
    assert re.fullmatch(r"[0-9a-f]{64}", dict(parse_qsl(urlsplit(link).query))["signature"])


@pytest.mark.rule("R-LINK-8")
def test_the_link_is_valid_for_3600_seconds(api, cart):
    with time_machine.travel(START, tick=False):
        answer = api.post("/cart/checkout", cart=cart).json()
    assert answer["expires_in"] == 3600
    expires = int(dict(parse_qsl(urlsplit(answer["checkout_url"]).query))["expires"])
    assert expires == int(START.timestamp()) + 3600


@pytest.mark.rule("R-LINK-8")
@pytest.mark.parametrize(("seconds", "status"), [(0, 303), (3599, 303), (3600, 303), (3601, 403), (86_400, 403)])
def test_the_link_lives_3600_seconds(api, shop, mug, seconds, status):
    with time_machine.travel(START, tick=False):
        link = link_to(api, fill_cart(api, {"product_id": mug.pk}))
    with time_machine.travel(START + timedelta(seconds=seconds), tick=False):
        assert Shopper(shop).follow(link).status_code == status


@pytest.mark.rule("R-LINK-9")
def test_changing_the_cart_it_names_makes_it_403(api, mug, shopper, link):
    other = link_to(api, fill_cart(api, {"product_id": mug.pk}))
    mine, theirs = (dict(parse_qsl(urlsplit(url).query))["cart"] for url in (link, other))
    assert mine != theirs
    assert shopper.follow(link.replace(mine, theirs)).status_code == 403


@pytest.mark.slow
@pytest.mark.rule("R-LINK-9")
def test_changing_any_character_of_the_query_makes_it_403(shopper, link):
    query_begins = link.index("?") + 1
    for place in range(query_begins, len(link)):
        changed = "0" if link[place] != "0" else "1"
        altered = link[:place] + changed + link[place + 1 :]
        assert shopper.follow(altered).status_code == 403, altered
    assert shopper.follow(link).status_code == 303


@pytest.mark.rule("R-LINK-9")
def test_a_checkout_link_altered_in_any_part_is_403(shopper, link):
    base, query = link.split("?")
    cart, expires, signature = query.split("&")
    later = f"expires={int(expires.removeprefix('expires=')) + 60}"
    altered = {
        "no query": "",
        "no cart": f"{expires}&{signature}",
        "no expires": f"{cart}&{signature}",
        "no signature": f"{cart}&{expires}",
        "empty signature": f"{cart}&{expires}&signature=",
        "a later end": f"{cart}&{later}&{signature}",
        "reordered": f"{expires}&{cart}&{signature}",
        "signature first": f"{signature}&{cart}&{expires}",
        "something added": f"{query}&utm_source=mail",
        "something added before": f"a=1&{query}",
        "duplicated cart": f"{cart}&{query}",
        "duplicated signature": f"{query}&{signature}",
        "upper-case cart": f"{cart.upper().replace('CART', 'cart')}&{expires}&{signature}",
        "upper-case signature": f"{cart}&{expires}&signature={signature.removeprefix('signature=').upper()}",
        "percent-encoded": query.replace("-", "%2D"),
        "percent-encoded name": query.replace("cart", "%63art"),
        "semicolons": query.replace("&", ";"),
        "cut short": query[:-1],
        "a space behind": f"{query}%20",
        "an ampersand behind": f"{query}&",
        "no ASCII": f"{query}é",
    }
    for what, changed in altered.items():
        assert shopper.follow(f"{base}?{changed}").status_code == 403, what


@pytest.mark.rule("R-LINK-12", "R-LINK-17")
def test_the_shopper_arrives_at_the_shops_own_checkout_with_the_cart_loaded_and_pays_there(shopper, link, mug):
    answer = shopper.follow(link)
    assert (answer.status_code, answer["Location"]) == (303, "/checkout")
    page = shopper.get(answer["Location"]).content.decode()
    assert "Mug" in page
    assert "2 ×" in page
    placed = shopper.order("demo")
    assert Order.objects.get().payment_status == "paid"
    assert shopper.get(placed["Location"]).status_code == 200


@pytest.mark.rule("R-LINK-12")
def test_the_basket_of_a_signed_in_shopper_and_this_cart_are_merged(shop, shopper, link, mug):
    ada = make_customer(shop, group=make_group(shop, "10"))
    pot = make_product(shop, "Pot")
    shopper.sign_in()
    for product in (pot, mug):
        shopper.post("/basket/add", {"product": product.pk, "qty": 1})
    basket = Cart.objects.get(customer=ada)

    shopper.arrive(link)

    lines = {line.name_snapshot: (line.qty, line.price_snapshot) for line in basket.lines.all()}
    assert lines == {"Pot": (1, Decimal("8.55")), "Mug": (3, Decimal("8.55"))}
    shopper.order()
    order = Order.objects.get()
    assert order.customer == ada
    # Group prices are resolved at checkout and stand on the order.
    assert {line.name: line.unit_price for line in order.lines.all()} == {
        "Pot": Decimal("8.55"),
        "Mug": Decimal("8.55"),
    }


@pytest.mark.rule("R-LINK-12")
def test_a_signed_in_shopper_without_a_basket_gets_one_of_their_own(shop, api, shopper, cart, link):
    ada = make_customer(shop)
    shopper.sign_in()
    shopper.arrive(link)
    assert [line.name_snapshot for line in Cart.objects.get(customer=ada).lines.all()] == ["Mug"]
    # Cart tokens: a signed-in shopper's basket is never shown to the API, so this one is another cart, as it was.
    assert [item["qty"] for item in api.get("/cart", cart=cart).json()["data"]["items"]] == [2]


@pytest.mark.rule("R-LINK-5")
def test_an_empty_cart_is_refused_and_no_link_is_issued(api, cart):
    api.delete("/cart", cart=cart)
    answer = api.post("/cart/checkout", cart=cart)
    assert answer.status_code == 422
    assert answer.json()["code"] == "empty_cart"
    assert "checkout_url" not in answer.json()


@pytest.mark.rule("R-LINK-5")
def test_checkout_without_a_usable_token_is_refused_and_makes_nothing(api, db):
    for token in (None, "", "nonsense", "cart_" + "A" * 43):
        answer = api.post("/cart/checkout", cart=token)
        assert (answer.status_code, answer.json()["code"]) == (422, "empty_cart")
    assert not Cart.objects.exists()


@pytest.mark.rule("R-LINK-5")
def test_an_expired_cart_is_an_empty_one(api, mug):
    with time_machine.travel(START, tick=False):
        cart = fill_cart(api, {"product_id": mug.pk})
    with time_machine.travel(START + timedelta(days=7, seconds=1), tick=False):
        answer = api.post("/cart/checkout", cart=cart)
    assert (answer.status_code, answer.json()["code"]) == (422, "empty_cart")


@pytest.mark.rule("R-LINK-5")
def test_another_shops_cart_is_an_empty_one(other_api, cart):
    answer = other_api.post("/cart/checkout", cart=cart)
    assert (answer.status_code, answer.json()["code"]) == (422, "empty_cart")


@pytest.mark.slow
@pytest.mark.rule("R-LINK-11")
def test_the_link_is_stored_in_no_table_and_in_no_log(api, cart, shopper, caplog):
    with caplog.at_level(logging.DEBUG, "storefront"), caplog.at_level(logging.DEBUG, "django.request"):
        link = api.post("/cart/checkout", cart=cart, Idempotency_Key="once").json()["checkout_url"]
        shopper.arrive(link)
    signature = link.rpartition("=")[2]
    rows = [str(row) for model in apps.get_models() for row in model.objects.values()]
    assert any(str(CheckoutLink.objects.get().public_id) in row for row in rows)
    assert not any(signature in row for row in rows)
    assert not any(signature in str(dict(stored.get_decoded())) for stored in Session.objects.all())
    assert signature not in caplog.text


@pytest.mark.rule("R-LINK-11")
def test_the_link_is_in_no_mail(shopper, link, mailoutbox):
    shopper.arrive(link)
    shopper.order()
    signature = link.rpartition("=")[2]
    assert not any(signature in f"{mail.subject}{mail.body}" for mail in mailoutbox)


@pytest.mark.rule("R-CART-19")
def test_no_payment_is_taken_through_the_api_and_no_card_details_reach_the_integration(api, cart):
    card = {"number": "4242424242424242", "cvc": "123", "payment_method": "demo"}
    answer = api.post("/cart/checkout", {"card": card}, cart=cart)
    assert set(answer.json()) == {"cart_token", "checkout_url", "expires_in", "problems"}
    assert not Order.objects.exists()
    assert not Payment.objects.exists()
    api.prefix = "/api"
    described = api.get("/openapi.json").json()
    # Codes of gift cards are none of a card's details, and take no money.
    paths = " ".join(described["paths"]).replace("/gift-cards", "")
    members = {name for schema in described["components"]["schemas"].values() for name in schema.get("properties", ())}
    assert not {word for word in ("pay", "card") if word in paths}
    assert not {name for name in members if "card" in name} - {"is_gift_card", "gift_card", "gift_cards"}


@pytest.mark.rule("R-LINK-1")
def test_the_link_is_not_kept_in_any_cache(api, cart, shopper, link):
    assert api.post("/cart/checkout", cart=cart)["Cache-Control"] == "no-store"
    assert shopper.follow(link)["Cache-Control"] == "no-store"


@pytest.mark.rule("R-LINK-6")
def test_the_cart_goes_on_existing_with_its_lines(api, cart, link):
    items = api.get("/cart", cart=cart).json()["data"]["items"]
    assert [item["qty"] for item in items] == [2]


@pytest.mark.rule("R-LINK-6")
def test_the_post_is_a_write_that_renews_the_seven_days(api, mug):
    with time_machine.travel(START, tick=False):
        cart, other = (fill_cart(api, {"product_id": mug.pk}) for _ in range(2))
    with time_machine.travel(START + timedelta(days=6), tick=False):
        link_to(api, cart)
    with time_machine.travel(START + timedelta(days=12), tick=False):
        assert api.get("/cart", cart=cart).json()["cart_token"] == cart
        # Those of the cart, and of no other.
        assert api.get("/cart", cart=other).json()["data"]["items"] == []


@pytest.mark.rule("R-LINK-7")
def test_the_link_needs_write_cart_and_reading_does_not_do(shop, cart):
    reader = ApiClient(make_token(shop, "read_cart", "read_products"))
    answer = reader.post("/cart/checkout", cart=cart)
    assert answer.status_code == 403
    assert answer.json()["required_scopes"] == ["write_cart"]
    assert ApiClient(make_token(shop, "write_cart")).post("/cart/checkout", cart=cart).status_code == 200


@pytest.mark.rule("R-LINK-7")
def test_no_credential_no_link(stranger, cart):
    assert stranger.post("/cart/checkout", cart=cart).status_code == 401


@pytest.mark.rule("R-LINK-1")
def test_the_link_costs_few_queries(api, cart, django_assert_max_num_queries):
    with django_assert_max_num_queries(4):
        answer = api.post("/cart/checkout", cart=cart)
    assert "/cart/resume?" in answer.json()["checkout_url"]
