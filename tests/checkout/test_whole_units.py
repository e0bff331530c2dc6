"""Whatever is bought in euros, yen and dinars: each amount is whole units of its currency, what is paid back comes to
what was paid, and the stored values agree."""

from decimal import Decimal
from itertools import count

import pytest
from django.utils.html import escape
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from storefront.gift_cards.models import GiftCard
from storefront.kit import clock
from storefront.kit.format import format_money
from storefront.kit.money import unit
from storefront.orders.models import Order
from storefront.payments import actions as payments
from storefront.payments.jobs import pay_back_refunds
from storefront.payments.line_refunds import Pieces
from storefront.payments.models import Payment, Refund
from storefront.payments.refunds import request_refund
from storefront.pricing.models import TaxRate
from storefront.server.verifying import deviations
from tests.catalogue.factories import make_product
from tests.checkout.shopper import Shopper
from tests.checkout.test_limits import only
from tests.gift_cards.factories import make_card
from tests.pricing.rows import make_discount, make_rate
from tests.shops.factories import make_shop

pytestmark = pytest.mark.django_db

SHOPS = count()
AMOUNTS = st.integers(1, 20_000)
SALES = st.fixed_dictionaries(
    {
        "lines": st.lists(st.tuples(AMOUNTS, st.integers(1, 7)), min_size=1, max_size=3),
        "percent": st.integers(1, 99),
        "off": st.integers(0, 500),
        "delivery": st.integers(0, 2_000),
        "card": st.integers(1, 30_000),
        "tax": st.sampled_from(["0", "5.5", "19", "21.123"]),
        "included": st.booleans(),
        "rounding": st.sampled_from(["order", "line"]),
    }
)


@pytest.fixture(autouse=True)
def no_limits(settings) -> None:
    """One visitor places an order for each example."""
    only(settings)


@pytest.mark.slow
@pytest.mark.parametrize("currency", ["EUR", "JPY", "RSD"])
# Smaller examples would take minutes to find.
@settings(phases=[Phase.generate])
@given(sale=SALES, pieces=st.lists(st.integers(1, 3), max_size=9))
def test_an_order_and_its_refunds_are_whole_units(currency, sale, pieces):
    least = unit(currency)
    shop = open_shop(currency, sale)
    products = [make_product(shop, price=price * least, stock_qty=99) for price, _ in sale["lines"]]
    shopper = Shopper(shop)
    for product, (_, qty) in zip(products, sale["lines"], strict=True):
        shopper.post("/basket/add", {"product": product.pk, "qty": str(qty)})
    _, code = make_card(shop, str(sale["card"] * least))
    shopper.fill_details()
    shopper.post("/checkout/gift-cards", {"gift_card": code})
    page = shopper.read("/checkout/payment")
    shopper.post("/checkout/payment", shopper.payment_fields("manual" if 'name="method"' in page else ""))
    order = Order.objects.get(shop=shop)
    assert escape(format_money(order.total, currency)) in page
    assert order.total == order.subtotal - order.discount + order.shipping + (0 if sale["included"] else order.tax)
    if order.payment_status == "pending":
        payments.mark_paid(shop=shop, order=order, now=clock.now())
    refund_in_pieces(shop, order, pieces)
    order.refresh_from_db()
    paid = Payment.objects.filter(shop=shop, order=order)
    refunds = list(Refund.objects.filter(shop=shop))
    assert sum(refund.amount for refund in refunds) == order.refunded == order.total
    lines = order.lines.all()
    stored = [getattr(order, name) for name in ("subtotal", "discount", "shipping", "tax", "total")]
    stored += [value for line in lines for value in (line.unit_price, line.line_total, line.discount, line.tax)]
    stored += [value for each in refunds for part in each.lines.all() for value in (part.amount, part.tax)]
    stored += [each.amount for each in (*paid, *refunds)]
    stored += GiftCard.objects.filter(shop=shop).values_list("balance", flat=True)
    stored += [Decimal(tax[name]) for tax in order.tax_lines for name in ("base", "amount")]
    assert [value for value in stored if value % least] == []
    assert list(deviations(shop)) == []


def open_shop(currency, sale):
    shop = make_shop(f"units-{next(SHOPS)}.example.com", currency=currency, payment_methods=("manual",))
    shop.country, shop.prices_include_tax, shop.tax_rounding = "DE", sale["included"], sale["rounding"]
    shop.save()
    least = unit(currency)
    make_rate(shop, price=sale["delivery"] * least)
    make_discount(shop, value=sale["percent"])
    make_discount(shop, "Off", str(sale["off"] * least), kind="amount")
    if Decimal(sale["tax"]):
        TaxRate.objects.create(shop=shop, country="DE", name="VAT", percent=Decimal(sale["tax"]))
    return shop


def refund_in_pieces(shop, order, pieces):
    """Refund lines in such parts, as long as they are worth something, and then all that is left."""
    least = unit(order.currency)
    for line, qty in zip(order.lines.all(), pieces, strict=False):
        # What is worth less than a coin could be rounded to nothing, which is refused.
        if qty < line.qty and (line.line_total - line.discount) * qty >= line.qty * least:
            refund(shop, order, lines=[Pieces(line.pk, qty)])
    order.refresh_from_db()
    if order.refunded < order.total:
        refund(shop, order)


def refund(shop, order, **given):
    request_refund(shop=shop, order=order, now=clock.now(), **given)
    pay_back_refunds(now=clock.now(), limit=9)
