"""An order's page needs only its URL for a day; after that it asks for the order's email address."""

from datetime import timedelta

import pytest
import time_machine
from django.contrib.sessions.models import Session

from storefront.orders.models import Order
from tests.answers import words_of
from tests.catalogue.factories import make_product
from tests.checkout.shopper import Shopper
from tests.customers.factories import make_customer
from tests.orders.factories import make_order, sale_line
from tests.shops.factories import NOW

DAY = timedelta(days=1)
SECRETS = ("Ada Lovelace", "Example Street", "ada@example.com", "Mug")


@pytest.fixture
def order(shop) -> Order:
    return make_order(shop, sale_line(make_product(shop, "Mug")), email="Ada@example.com")


@pytest.fixture
def clock():
    with time_machine.travel(NOW + DAY, tick=False) as clock:
        yield clock


def path(order: Order, more: str = "") -> str:
    return f"/orders/{order.public_id}{more}"


def say(visitor: Shopper, order: Order, email: str):
    return visitor.post(path(order, "/e-mail"), {"email": email})


def test_url_is_enough_for_a_day(order, shopper, clock):
    clock.move_to(NOW + DAY - timedelta(seconds=1))
    page = shopper.get(path(order))
    assert page.status_code == 200
    assert "Ada Lovelace" in page.content.decode()
    assert shopper.get(path(order, "/blocks")).status_code == 204


def test_after_a_day_the_page_asks_for_the_email_and_shows_nothing(order, shopper, clock):
    for more in ("", "/blocks"):
        page = shopper.get(path(order, more))
        assert page.status_code == 403
        assert page["Cache-Control"] == "no-store"
        text = page.content.decode()
        assert "Is this your order?" in text
        assert not [secret for secret in SECRETS if secret in text]
        assert str(order.number) not in words_of(text)
    assert not Session.objects.exists()


def test_email_address_unlocks_the_order_for_this_browser(order, shopper, shop, clock):
    answer = say(shopper, order, " aDA@Example.COM ")
    assert (answer.status_code, answer["Location"]) == (303, path(order))
    assert "Ada Lovelace" in shopper.get(path(order)).content.decode()
    assert shopper.get(path(order, "/blocks")).status_code == 204
    assert Shopper(shop).get(path(order)).status_code == 403


def test_another_email_address_does_not_unlock_it(order, shopper, clock):
    answer = say(shopper, order, "eve@example.com")
    assert answer.status_code == 422
    assert "This is not the email address of this order." in answer.content.decode()
    assert "ada@" not in answer.content.decode().lower()
    assert say(shopper, order, "nobody").status_code == 422
    assert shopper.get(path(order)).status_code == 403
    assert not Session.objects.exists()


def test_unlocking_one_order_unlocks_no_other(shop, order, shopper, clock):
    other = make_order(shop, sale_line(make_product(shop)), email="eve@example.com")
    say(shopper, order, "ada@example.com")
    assert shopper.get(path(other)).status_code == 403


@pytest.mark.slow
def test_only_the_latest_unlocked_orders_stay_unlocked(shop, shopper, clock, settings):
    settings.LIMITS = settings.LIMITS | {"order_pages": ()}
    orders = [make_order(shop, sale_line(make_product(shop))) for _ in range(21)]
    for order in orders:
        assert say(shopper, order, "ada@example.com").status_code == 303
    seen = [shopper.get(path(order)).status_code for order in orders]
    assert seen == [403] + [200] * 20


def test_its_customer_sees_it_signed_in_and_no_other_customer_does(shop, shopper, clock):
    ada = make_customer(shop)
    make_customer(shop, "eve@example.com")
    order = make_order(shop, sale_line(make_product(shop)), customer_id=ada.pk, email="else@example.com")
    page = shopper.get(path(order)).content.decode()
    assert f"/account/sign-in?next={path(order)}" in page
    shopper.sign_in()
    assert shopper.get(path(order)).status_code == 200
    eve = Shopper(shop)
    eve.sign_in("eve@example.com")
    assert eve.get(path(order)).status_code == 403


def test_another_shops_customer_with_the_same_id_does_not_see_it(shop, other_shop, shopper, clock):
    order = make_order(shop, sale_line(make_product(shop)), customer_id=make_customer(shop).pk)
    make_customer(other_shop)
    visitor = Shopper(other_shop)
    visitor.sign_in()
    assert visitor.get(path(order)).status_code == 404
    assert say(visitor, order, "ada@example.com").status_code == 404


def test_limits_guesses_of_the_email_address(shop, order, shopper, clock):
    for number in range(10):
        assert say(shopper, order, f"{number}@example.com").status_code == 422
    # The limit counts by order, so another network address does not help.
    answer = shopper.post(path(order, "/e-mail"), {"email": "ada@example.com"}, REMOTE_ADDR="192.0.2.7")
    assert answer.status_code == 429
    assert answer["Retry-After"] == "3600"
    assert "Please try again in 60 minutes." in answer.content.decode()
    assert 'value="ada@example.com"' in answer.content.decode()
    clock.shift(3601)
    assert say(shopper, order, "ada@example.com").status_code == 303


@pytest.mark.slow
def test_limits_guesses_for_many_orders_from_one_network_address(shop, clock, settings):
    orders = [make_order(shop, sale_line(make_product(shop))) for _ in range(7)]
    answers = [say(Shopper(shop), orders[number % 7], "eve@example.com").status_code for number in range(61)]
    assert answers == [422] * 60 + [429]


def test_unknown_order_is_a_404(shop, shopper, clock):
    assert (
        shopper.post("/orders/00000000-0000-0000-0000-000000000000/e-mail", {"email": "a@b.example"}).status_code == 404
    )
    assert shopper.get("/orders/00000000-0000-0000-0000-000000000000").status_code == 404
