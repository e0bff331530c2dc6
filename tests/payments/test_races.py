"""Many at once: the last pieces, two presses, press and expiry, two refunds."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.utils import timezone

from storefront.kit.refusals import Refusal
from storefront.orders.models import Order
from storefront.payments.jobs import ask_providers, end_expired_drafts, pay_back_refunds
from storefront.payments.models import OrderDraft, Payment
from storefront.payments.refunds import request_refund
from tests.answers import words_of
from tests.catalogue.factories import make_product
from tests.checkout.shopper import Shopper
from tests.orders.factories import Promise, add_payment, capture, make_order, sale_line
from tests.payments.conftest import account_of, press, return_path, stock
from tests.races import run_concurrently

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]


def pay_through(shop, bank, product, number: int) -> str:
    """One shopper, from the basket to the order; what became of it."""
    shopper = Shopper(shop)
    shopper.browser.defaults["REMOTE_ADDR"] = f"192.0.2.{number}"
    shopper.post("/basket/add", {"product": product.pk, "qty": "1"})
    shopper.fill_details(email=f"shopper{number}@example.com")
    if "Mug" not in words_of(shopper.read("/basket")):
        # Adding it was refused already.
        return "told"
    page = shopper.get("/checkout/payment")
    if page.status_code == 303:
        # Sold out meanwhile: the basket says so.
        return "told"
    answer = shopper.post("/checkout/payment", shopper.payment_fields("bank", page))
    if not answer.get("Location", "").startswith(bank.url):
        assert answer.get("Location") == "/basket" or "sold out" in answer.content.decode()
        return "told"
    account = bank.accounts[answer["Location"].rpartition("/")[2]]
    bank.pay(account)
    shopper.get(account.return_url.removeprefix("https://shop.example.com"))
    return "paid"


def test_fifty_shoppers_pay_for_ten_pieces(bank, shop, mug):
    calls = [lambda number=number: pay_through(shop, bank, mug, number) for number in range(50)]
    became = run_concurrently(*calls)
    assert sorted(became) == ["paid"] * 10 + ["told"] * 40
    assert len(bank.accounts) == 10, "nobody else was asked for money"
    assert Order.objects.filter(payment_status="paid").count() == Order.objects.count() == 10
    assert (stock(mug), bank.held) == (0, sum(order.total for order in Order.objects.all()))


def test_two_presses_at_once_are_one_payment(bank, shop, shopper, mug):
    shopper.post("/basket/add", {"product": mug.pk, "qty": "1"})
    shopper.fill_details()
    form = shopper.payment_fields("bank")
    led_to = run_concurrently(*[lambda: shopper.post("/checkout/payment", form)["Location"]] * 5)
    assert set(led_to) == {f"{bank.url}/pay/{account_of(bank).id}"}
    assert (Payment.objects.count(), stock(mug)) == (1, 9)


def test_paying_while_the_time_ends_is_an_order_or_not_taken(bank, shop, mug):
    for _ in range(5):
        shopper = Shopper(shop)
        press(shopper, mug)
        payment = Payment.objects.last()
        account, after = bank.accounts[payment.reference], timezone.now() + timedelta(minutes=31)
        path = return_path(payment)

        def end(after=after):
            ask_providers(now=after, limit=10)
            return end_expired_drafts(now=after, limit=10)

        run_concurrently(
            lambda account=account: bank.pay(account), lambda path=path, it=shopper: it.get(path), end, end
        )
        ask_providers(now=after + timedelta(hours=2), limit=10)
        payment.refresh_from_db()
        if account.captured:
            assert (payment.state, payment.order.payment_status) == ("paid", "paid")
        else:
            assert (payment.state, payment.order) == ("cancelled", None)
    assert stock(mug) == 10 - Order.objects.count()
    assert not OrderDraft.objects.filter(state="open").exists()


def test_two_refunds_at_once_never_give_back_more_than_was_paid(shop):
    product = make_product(shop, price=Decimal("20.00"))
    order = make_order(shop, sale_line(product), promise=Promise("demo", Decimal("12.00"), "demo_1", is_held=True))
    capture(order.payments.get())
    capture(add_payment(order, Promise("demo", Decimal("8.00"), "demo_2", is_held=True)))

    def ask(amount: str):
        return request_refund(shop=shop, order=order, amount=Decimal(amount), now=timezone.now())

    answers = run_concurrently(*[lambda: ask("9.00")] * 4, refusal=Refusal)
    assert sum(not isinstance(answer, Refusal) for answer in answers) == 2
    while pay_back_refunds(now=timezone.now(), limit=10):
        pass
    order.refresh_from_db()
    assert (order.refunded, order.payment_status) == (Decimal("18.00"), "partially_refunded")
    assert [payment.returned <= payment.captured for payment in order.payments.all()] == [True, True]


def test_a_refund_is_split_where_no_payment_has_enough(shop):
    product = make_product(shop, price=Decimal("20.00"))
    order = make_order(shop, sale_line(product), promise=Promise("demo", Decimal("12.00"), "demo_1", is_held=True))
    first = capture(order.payments.get())
    second = capture(add_payment(order, Promise("demo", Decimal("8.00"), "demo_2", is_held=True)))
    order.refresh_from_db()
    assert order.payment_status == "paid"
    request_refund(shop=shop, order=order, amount=Decimal("15.00"), now=timezone.now())
    assert pay_back_refunds(now=timezone.now(), limit=10) == 2
    shares = {payment.pk: payment.returned for payment in order.payments.all()}
    assert shares == {first.pk: Decimal("7.00"), second.pk: Decimal("8.00")}
