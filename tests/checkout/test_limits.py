"""Limits on orders, mails and card payments of unknown visitors."""

import re

import pytest
from django.core import mail

from storefront.orders.models import Order
from storefront.payments.actions import cancel_order, mark_paid
from storefront.payments.models import Payment
from storefront.server import environment
from storefront.shops import ratelimit
from tests.catalogue.factories import make_product
from tests.checkout.shopper import DECLINED, Shopper
from tests.customers.factories import make_customer
from tests.races import run_concurrently
from tests.shops.factories import NOW
from tests.worker import run_due_tasks

pytestmark = [pytest.mark.any_database, pytest.mark.slow]


@pytest.fixture
def mug(shop):
    return make_product(shop, "Mug", stock_qty=1000)


def limit(settings, **given: str) -> None:
    settings.LIMITS = settings.LIMITS | {
        name: environment.limits("STOREFRONT_UNSET", text) for name, text in given.items()
    }


def only(settings, **given: str) -> None:
    """These limits, and no others."""
    limit(settings, **dict.fromkeys(settings.LIMITS, "0"))
    settings.MAX_UNPAID = settings.MAX_UNPAID_PER_EMAIL = 0
    limit(settings, **given)


def order(shopper: Shopper, mug, *, email: str = "ada@example.com", place: str = "192.0.2.1", **given):
    """Add a mug to the basket and order it. `place` is the shopper's network address."""
    shopper.browser.defaults["REMOTE_ADDR"] = place
    assert shopper.post("/basket/add", {"product": mug.pk, "qty": "1"}).status_code == 302
    assert shopper.fill_details(email=email).status_code == 303
    return shopper.post("/checkout/payment", shopper.payment_fields(**given))


def many(shop, mug, count: int, **given) -> list[int]:
    """The statuses of `count` orders, each from its own browser. `{}` in a value is replaced by the order's number."""
    return [
        order(Shopper(shop), mug, **{name: text.format(number) for name, text in given.items()}).status_code
        for number in range(count)
    ]


class TestOrders:
    def test_a_burst_of_orders_to_one_address_ends(self, shop, mug, clock):
        """As the attack did it, with the limits as they come."""
        answers = many(shop, mug, 25, place="192.0.2.{}")
        assert answers == [303] * 10 + [429] * 15
        mug.refresh_from_db()
        assert (mug.stock_qty, Order.objects.count()) == (990, 10)

    def test_a_burst_from_one_network_address_to_many_email_addresses_ends(self, shop, mug, clock):
        answers = many(shop, mug, 25, email="{}@example.com")
        assert answers == [303] * 10 + [429] * 15
        clock.shift(61)
        # Twenty orders are unpaid now.
        answers = many(shop, mug, 12, email="again{}@example.com")
        assert answers == [303] * 10 + [429] * 2
        clock.shift(61)
        assert many(shop, mug, 1, email="late@example.com") == [429]

    def test_the_page_says_when_to_come_back_and_keeps_what_was_typed(self, shop, mug, settings, clock):
        only(settings, orders_each="1/hour")
        many(shop, mug, 1)
        shopper = Shopper(shop)
        answer = order(shopper, mug, note="Ring twice <3")
        assert (answer.status_code, answer["Retry-After"]) == (429, "3600")
        page = answer.content.decode()
        assert "Too many attempts. Please try again in 60 minutes." in page
        assert "Ring twice &lt;3" in page
        clock.shift(3601)
        assert shopper.post("/checkout/payment", shopper.payment_fields()).status_code == 303

    def test_an_address_counts_in_any_case_and_shops_count_apart(self, shop, other_shop, mug, settings):
        only(settings, orders_each="1/hour", orders="1/hour")
        many(shop, mug, 1)
        assert many(shop, mug, 1, email="ADA@example.com", place="192.0.2.2") == [429]
        assert many(other_shop, make_product(other_shop), 1) == [303]

    def test_refused_orders_do_not_count(self, shop, mug, settings):
        only(settings, orders="1/hour", orders_each="1/hour")
        shopper = Shopper(shop)
        for _ in range(3):
            assert order(shopper, mug, method="demo", number=DECLINED).status_code == 422
        assert shopper.post("/checkout/payment", shopper.payment_fields()).status_code == 303

    def test_customer_is_not_limited_by_others_at_the_network_address(self, shop, mug, settings):
        make_customer(shop)
        only(settings, orders="2/hour", orders_each="2/hour")
        assert many(shop, mug, 3) == [303, 303, 429]
        ada = Shopper(shop)
        ada.sign_in()
        assert [order(ada, mug).status_code for _ in range(3)] == [303, 303, 429]
        # From any network address.
        assert order(ada, mug, place="192.0.2.9").status_code == 429

    def test_a_double_click_at_the_limit_shows_the_order(self, shop, mug, settings):
        only(settings, orders="1/hour")
        shopper = Shopper(shop)
        shopper.post("/basket/add", {"product": mug.pk, "qty": "1"})
        shopper.fill_details()
        form = shopper.payment_fields()
        answers = [shopper.post("/checkout/payment", form) for _ in range(2)]
        assert [answer.status_code for answer in answers] == [303, 303]
        assert answers[0]["Location"] == answers[1]["Location"]

    def test_a_limit_can_be_turned_off(self, shop, mug, settings):
        only(settings)
        assert many(shop, mug, 30) == [303] * 30


class TestUnpaid:
    def test_limits_unpaid_orders_of_one_email_address(self, shop, other_shop, mug, settings):
        only(settings)
        settings.MAX_UNPAID_PER_EMAIL = 2
        assert many(shop, mug, 3, place="192.0.2.{}") == [303, 303, 429]
        assert many(shop, mug, 1, email="ADA@example.com") == [429]
        assert many(shop, mug, 1, email="eve@example.com") == [303]
        assert many(other_shop, make_product(other_shop), 1) == [303]

    def test_limits_unpaid_orders_from_one_network_address(self, shop, other_shop, mug, settings):
        only(settings)
        settings.MAX_UNPAID = 2
        assert many(shop, mug, 3, email="{}@example.com") == [303, 303, 429]
        assert many(shop, mug, 1, email="eve@example.com", place="192.0.2.2") == [303]
        assert many(other_shop, make_product(other_shop), 1) == [303]

    def test_the_refusal_says_so_and_takes_no_stock_and_no_number(self, shop, mug, settings):
        only(settings)
        settings.MAX_UNPAID = 1
        many(shop, mug, 1)
        answer = order(Shopper(shop), mug)
        assert (answer.status_code, answer["Retry-After"]) == (429, "3600")
        assert "You have several orders that are not paid yet." in answer.content.decode()
        mug.refresh_from_db()
        assert mug.stock_qty == 999
        cancel_order(shop=shop, order=Order.objects.get(), now=NOW)
        many(shop, mug, 1)
        first, second = Order.objects.order_by("number").values_list("number", flat=True)
        assert second == first + 1

    @pytest.mark.parametrize("end", [mark_paid, cancel_order])
    def test_paid_and_cancelled_orders_do_not_count(self, shop, mug, settings, end):
        only(settings)
        settings.MAX_UNPAID = settings.MAX_UNPAID_PER_EMAIL = 1
        assert many(shop, mug, 2) == [303, 429]
        assert Payment.objects.get().place
        end(shop=shop, order=Order.objects.get(), now=NOW)
        assert Payment.objects.get().place == ""
        assert many(shop, mug, 1) == [303]

    def test_card_and_free_orders_do_not_count(self, shop, mug, settings):
        only(settings)
        settings.MAX_UNPAID = settings.MAX_UNPAID_PER_EMAIL = 1
        assert many(shop, mug, 3, method="demo") == [303] * 3
        free = make_product(shop, price="0.00")
        assert many(shop, free, 3) == [303] * 3
        assert set(Payment.objects.values_list("place", flat=True)) == {""}

    def test_a_customer_is_counted_by_the_account(self, shop, mug, settings):
        make_customer(shop)
        only(settings)
        settings.MAX_UNPAID, settings.MAX_UNPAID_PER_EMAIL = 2, 1
        ada = Shopper(shop)
        ada.sign_in()
        assert many(shop, mug, 1) == [303]
        assert [order(ada, mug, place=f"192.0.2.{number}").status_code for number in range(3)] == [303, 303, 429]
        assert Payment.objects.filter(order__customer__isnull=False, place="").count() == 2

    def test_network_address_is_not_readable_from_the_database(self, shop, mug, settings):
        many(shop, mug, 1)
        (place,) = Payment.objects.values_list("place", flat=True)
        assert re.fullmatch("[0-9a-f]{32}", place)

    @pytest.mark.django_db(transaction=True)
    def test_concurrent_orders_do_not_exceed_the_limit(self, shop, mug, settings):
        only(settings)
        settings.MAX_UNPAID = 3
        shoppers = [Shopper(shop) for _ in range(8)]
        forms = []
        for number, shopper in enumerate(shoppers):
            shopper.post("/basket/add", {"product": mug.pk, "qty": "1"})
            shopper.fill_details(email=f"{number}@example.com")
            forms.append(shopper.payment_fields())
        answers = run_concurrently(
            *(
                lambda shopper=shopper, form=form: shopper.post("/checkout/payment", form)
                for shopper, form in zip(shoppers, forms, strict=True)
            )
        )
        assert sorted(answer.status_code for answer in answers) == [303] * 3 + [429] * 5
        mug.refresh_from_db()
        assert mug.stock_qty == 997


class TestPayments:
    def test_limits_card_payments_of_one_checkout(self, shop, mug, clock, settings):
        shopper = Shopper(shop)
        answers = [order(shopper, mug, method="demo", number=DECLINED, place=f"192.0.2.{n}") for n in range(12)]
        assert [answer.status_code for answer in answers] == [422] * 10 + [429] * 2
        assert "Please try again in 60 minutes." in answers[-1].content.decode()
        # Now every card is refused, even a valid one; other payment methods still work.
        assert order(shopper, mug, method="demo").status_code == 429
        assert not Order.objects.exists()
        assert order(shopper, mug, method="manual").status_code == 303

    def test_limits_card_payments_from_one_network_address(self, shop, mug, settings):
        only(settings, payments="3/hour")
        shoppers = [Shopper(shop) for _ in range(4)]
        assert [order(each, mug, method="demo", number=DECLINED).status_code for each in shoppers] == [422] * 3 + [429]

    def test_invalid_form_does_not_count(self, shop, mug, settings):
        only(settings, payments_each="1/hour")
        shopper = Shopper(shop)
        for _ in range(3):
            assert order(shopper, mug, method="demo", number="12").status_code == 422
        assert order(shopper, mug, method="demo").status_code == 303


class TestMails:
    @pytest.mark.django_db(transaction=True)
    def test_a_mailbox_is_one_mailbox_whichever_shop_fills_it(self, shop, other_shop, mug, settings):
        only(settings, mails_each="3/hour")
        assert many(shop, mug, 2) == [303, 303]
        stranger = Shopper(other_shop)
        assert stranger.post("/account/register", {"email": "Ada@example.com"}).status_code == 303
        answer = stranger.post("/account/register", {"email": "ada@example.com"})
        assert answer.status_code == 429
        assert "Please try again in" in answer.content.decode()
        # A link for a new password is never behind others, but nobody without an account gets a mail instead of it.
        run_due_tasks()
        mail.outbox.clear()
        assert stranger.post("/account/forgot", {"email": "ada@example.com"}).status_code == 303
        run_due_tasks()
        assert mail.outbox == []
        assert many(shop, mug, 1) == [429]
        assert many(shop, mug, 1, email="eve@example.com") == [303]

    def test_a_customer_may_fill_their_own(self, shop, mug, settings):
        make_customer(shop)
        only(settings, mails_each="1/hour")
        ada = Shopper(shop)
        ada.sign_in()
        assert [order(ada, mug).status_code for _ in range(3)] == [303] * 3
        assert [order(ada, mug, email="eve@example.com").status_code for _ in range(2)] == [303, 429]


def test_programs_with_a_token_are_not_counted(shop, api, mug, settings):
    only(settings, **dict.fromkeys(settings.LIMITS, "1/day"))
    token = None
    for _ in range(5):
        token = api.post("/cart", {"product_id": mug.pk, "qty": 1}, cart=None).json()["cart_token"]
        assert api.post("/cart/checkout", cart=token).status_code == 200
        assert api.post("/customers", {"email": f"{token[-6:].lower()}@example.com"}).status_code == 201


@pytest.mark.django_db(transaction=True)
def test_redis_counts_for_all_processes(shop, mug, settings, redis_url):
    settings.REDIS_URL = redis_url
    only(settings, orders_each="2/hour", payments_each="1/hour")
    assert many(shop, mug, 2, place="192.0.2.{}") == [303, 303]
    ratelimit.process_windows.cache_clear()
    assert many(shop, mug, 1) == [429]


def test_unreachable_redis_does_not_lift_the_limits(shop, mug, settings):
    settings.REDIS_URL = "redis://127.0.0.1:9/0"
    only(settings, orders_each="1/hour")
    assert many(shop, mug, 2) == [303, 429]
