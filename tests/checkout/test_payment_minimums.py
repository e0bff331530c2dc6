"""A rest too small for a payment method: gift cards leave its minimum, or the page says why it cannot be used."""

from decimal import Decimal

import pytest
from django.test import Client

from storefront.orders.models import Order
from storefront.payments.methods import payment_methods
from storefront.payments.models import Payment
from storefront.payments.providers.demo import Demo
from storefront.payments.providers.registry import PROVIDERS
from storefront.payments.providers.stripe_amounts import MINIMUMS, minimum_of
from storefront.pricing.rules import Totals
from tests.addresses import ADDRESS
from tests.catalogue.factories import make_product
from tests.gift_cards.factories import balance, make_card

pytestmark = pytest.mark.django_db


@pytest.fixture
def choosy(monkeypatch, shop):
    """A provider that takes no payment below 0.75."""
    provider = Demo()
    provider.minimum = lambda currency: Decimal("0.75")
    monkeypatch.setitem(PROVIDERS, "demo", provider)
    shop.payment_methods = ["demo"]
    shop.save()
    return provider


def fill(shopper, product, *codes) -> str:
    """The payment page of a checkout with this product and these gift cards."""
    shopper.post("/basket/add", {"product": product.pk, "qty": "1"})
    shopper.fill_details(**{f"billing-{name}": value for name, value in ADDRESS.items()})
    for code in codes:
        assert shopper.post("/checkout/gift-cards", {"gift_card": code}).status_code == 303
    return shopper.read("/checkout/payment")


def paid(order: Order) -> dict[str, Decimal]:
    return {payment.gateway: payment.captured for payment in order.payments.all()}


def test_cards_leave_the_minimum_of_the_only_method(shop, shopper, choosy):
    """The last card first, and another one if that is not enough."""
    first, code = make_card(shop, "19.50")
    second, second_code = make_card(shop, "0.25")
    page = fill(shopper, make_product(shop, "Mug", price="20.00"), code, second_code)
    assert "Place order and pay €0.75" in page
    assert "Pays €19.25. €0.25 more stay on it" in page
    assert "Pays €0.00. €0.25 more stay on it" in page
    assert shopper.post("/checkout/payment", shopper.payment_fields("demo")).status_code == 303
    order = Order.objects.get()
    assert paid(order) == {"gift_card": Decimal("19.25"), "demo": Decimal("0.75")}
    assert (balance(first), balance(second), order.total) == (Decimal("0.25"), Decimal("0.25"), 20)


@pytest.mark.parametrize(("method", "by_card"), [("manual", "19.75"), ("demo", "19.25")])
def test_the_chosen_method_decides_where_another_one_takes_the_rest(shop, shopper, choosy, method, by_card):
    shop.payment_methods = ["demo", "manual"]
    shop.save()
    card, code = make_card(shop, "19.75")
    page = fill(shopper, make_product(shop, "Mug", price="20.00"), code)
    assert "You pay €0.75 with it" in page
    assert "Place order and pay</button>" in page
    shopper.post("/checkout/payment", shopper.payment_fields(method))
    payments = {payment.gateway: payment.amount for payment in Order.objects.get().payments.all()}
    assert payments == {"gift_card": Decimal(by_card), method: 20 - Decimal(by_card)}
    assert balance(card) == Decimal("19.75") - Decimal(by_card)


def test_a_card_that_pays_for_all_leaves_nothing(shop, shopper, choosy):
    card, code = make_card(shop, "20.00")
    assert "Place order</button>" in fill(shopper, make_product(shop, "Mug", price="20.00"), code)
    shopper.post("/checkout/payment", shopper.payment_fields(""))
    assert paid(Order.objects.get()) == {"gift_card": 20}
    assert balance(card) == 0


@pytest.mark.slow
def test_methods_as_json_for_the_own_basket_only(shop, shopper, choosy):
    """A second visitor has another basket."""
    address = "/checkout/payment-methods"
    assert shopper.get(address).status_code == 204
    fill(shopper, make_product(shop, "Pin", price="0.30"))
    shop.payment_methods = ["demo", "manual"]
    shop.save()
    answer = shopper.get(address)
    assert answer.headers["Cache-Control"] == "no-store"
    usable = {"usable": True, "reason": None, "message": None, "minimum": "0.00"}
    manual = {"name": "manual", **usable, "amount_due": "0.30"}
    demo = {
        "name": "demo",
        "usable": False,
        "reason": "below_minimum",
        "message": "Only for payments of €0.75 or more.",
        "minimum": "0.75",
        "amount_due": "0.30",
    }
    read = answer.json()
    assert (read["currency"], read["amount_due"]) == ("EUR", "0.30")
    assert [demo, manual] == [
        {name: value for name, value in each.items() if name != "label"} for each in read["payment_methods"]
    ]
    assert [each["label"] for each in read["payment_methods"]] == [PROVIDERS[name].label for name in ("demo", "manual")]
    assert Client(headers={"host": shop.domain}).get(address).status_code == 204
    assert shopper.post(address, {}).status_code == 405


def test_an_order_below_the_minimum_says_why_it_cannot_be_paid(shop, shopper, choosy):
    """Alone, and beside a method that takes it."""
    page = fill(shopper, make_product(shop, "Pin", price="0.30"))
    assert "This order cannot be paid for with any payment method of this shop." in page
    assert "Only for payments of €0.75 or more." in page
    shop.payment_methods = ["demo", "manual"]
    shop.save()
    page = shopper.read("/checkout/payment")
    assert "Only for payments of €0.75 or more." in page
    assert "Place order and pay €0.30" in page
    assert shopper.post("/checkout/payment", shopper.payment_fields("demo")).status_code == 422
    assert not Payment.objects.exists()
    assert shopper.post("/checkout/payment", shopper.payment_fields("manual")).status_code == 303


def test_each_method_says_what_it_takes_and_why_not(shop):
    shop.payment_methods = ["stripe", "manual", "nobody"]
    totals = Totals(*map(Decimal, ("20", "0", "0", "0", "20")), item_count=1, line_count=1)
    told = [(each.provider.name, each.usable, each.reason, each.minimum) for each in payment_methods(shop, totals)]
    assert told == [("stripe", False, "not_set_up", Decimal("0.50")), ("manual", True, "", 0)]
    shop.currency = "UGX"
    assert minimum_of("UGX") is None


@pytest.mark.parametrize(("currency", "minimum"), [("EUR", "0.50"), ("GBP", "0.30"), ("JPY", "50.00"), ("ISK", "0")])
def test_stripe_has_a_minimum_for_each_currency_that_it_names(currency, minimum):
    assert PROVIDERS["stripe"].minimum(currency) == Decimal(minimum)
    assert len(MINIMUMS) == 24
