"""Gift cards and refunds come out to the last hundredth, whatever parts they are spent and paid back in."""

from decimal import Decimal
from uuid import uuid4

import pytest
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from storefront.gift_cards import ledger
from storefront.gift_cards.models import GiftCardEntry
from storefront.gift_cards.verifying import deviations as card_deviations
from storefront.kit import clock
from storefront.kit.money import ZERO
from storefront.orders.models import Order
from storefront.payments.actions import mark_paid
from storefront.payments.jobs import pay_back_refunds
from storefront.payments.models import Payment
from storefront.payments.refunds import RefundTooLarge, request_refund
from storefront.server.verifying import deviations
from storefront.shops.models import Shop
from tests.catalogue.factories import make_product
from tests.gift_cards.factories import balance, make_card
from tests.gift_cards.test_spending import enter, fill
from tests.orders.factories import make_order, sale_line
from tests.payments.refunding import record_refund_failed, record_refunded
from tests.shops.factories import NOW, make_shop

# The smallest amount of each currency that is tried.
MIN_AMOUNTS = {"EUR": Decimal("0.01"), "JPY": Decimal("1.00"), "RSD": Decimal("0.01")}
bounded = settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(params=MIN_AMOUNTS)
def foreign(request, db) -> Shop:
    """A shop in each currency. `everything_agrees` looks at it, too, since it looks at all shops."""
    return make_shop("foreign.example.com", currency=request.param)


def pay_with(shopper, product, code: str) -> Order:
    fill(shopper, product)
    enter(shopper, code)
    shopper.post("/checkout/payment", shopper.payment_fields(""))
    return Order.objects.latest("pk")


def test_the_last_hundredths_can_be_spent(shop, shopper):
    """50.00 - 39.95 is 10.049999999999997 in binary fractions."""
    card, code = make_card(shop, "50.00")
    for price in ("39.95", "10.05"):
        order = pay_with(shopper, make_product(shop, f"For {price}", stock_qty=1, price=Decimal(price)), code)
        assert (order.total, order.amount_due, order.payment_status) == (Decimal(price), 0, "paid")
    assert str(balance(card)) == "0.00"


def test_an_order_comes_back_in_three_parts(shop, shopper):
    """4.07 + 4.28 + 4.15 is more than 12.50 in binary fractions, and more than the card's value."""
    card, code = make_card(shop, "12.50")
    order = pay_with(shopper, make_product(shop, "Bowl", stock_qty=1, price=Decimal("12.50")), code)
    for part in ("4.07", "4.28", "4.15"):
        request_refund(shop=shop, order=order, amount=Decimal(part), now=clock.now())
        pay_back_refunds(now=clock.now(), limit=10)
    order.refresh_from_db()
    assert (str(order.refunded), order.payment_status, str(balance(card))) == ("12.50", "refunded", "12.50")


def test_zero_has_no_sign(shop, shopper):
    """`storefront verify` reported "stored 0.00, expected -0.00"; `everything_agrees` looks."""
    order = make_order(shop, sale_line(make_product(shop, stock_qty=1, price=Decimal("0.30"))))
    mark_paid(shop=shop, order=order, now=NOW)
    for _ in range(3):
        record_refunded(
            shop=shop,
            refund=request_refund(shop=shop, order=order, amount=Decimal("0.10"), now=NOW),
            reference="",
            now=NOW,
        )
    assert str(order.payments.get().entries.order_by().values_list("amount", flat=True).last()) == "-0.10"


@pytest.mark.slow
@bounded
@given(
    value=st.integers(1, 9_999),
    moves=st.lists(st.tuples(st.sampled_from(["spend", "release", "refund"]), st.integers(1, 9_999)), max_size=12),
)
def test_a_balance_is_what_the_moves_add_up_to(foreign, value, moves):
    smallest = MIN_AMOUNTS[foreign.currency]
    card, _ = make_card(foreign, str(value * smallest))
    left, held = value, {}
    now = clock.now()
    with transaction.atomic():
        for kind, units in moves:
            if kind == "spend":
                key, units = uuid4(), min(units, left)
                if not units:
                    continue
                ledger.spend(
                    shop=foreign, card_id=card.pk, amount=units * smallest, currency=foreign.currency, key=key,
                    cart_id=None, now=now,
                )  # fmt: skip
                left, held[key] = left - units, units
            elif held:
                key = next(iter(held))
                back = held.pop(key) if kind == "release" else min(units, held[key])
                if kind == "release" and not GiftCardEntry.objects.filter(payment=key, kind="refunded").exists():
                    ledger.release(shop=foreign, payment=key, now=now)
                    left += back
                elif kind == "refund":
                    ledger.refund(shop=foreign, payment=key, key=uuid4(), amount=back * smallest, now=now)
                    left, held[key] = left + back, held[key] - back
                    if not held[key]:
                        del held[key]
            assert balance(card) == left * smallest
        assert list(card_deviations(foreign)) == []
        transaction.set_rollback(True)


@pytest.mark.slow
@bounded
@given(
    prices=st.lists(st.tuples(st.integers(1, 9_999), st.integers(1, 5)), min_size=1, max_size=3),
    parts=st.lists(st.tuples(st.integers(1, 20_000), st.booleans()), max_size=10),
)
def test_refunds_come_to_the_total_and_never_to_more(foreign, prices, parts):
    smallest = MIN_AMOUNTS[foreign.currency]
    with transaction.atomic():
        lines = [sale_line(make_product(foreign, stock_qty=5, price=units * smallest), qty) for units, qty in prices]
        order = make_order(foreign, *lines)
        mark_paid(shop=foreign, order=order, now=NOW)
        left = order.total
        for units, fails in parts:
            if units * smallest > left:
                with pytest.raises(RefundTooLarge), transaction.atomic():
                    request_refund(shop=foreign, order=order, amount=units * smallest, now=NOW)
                continue
            _refund(foreign, order, units * smallest, fails)
            left -= ZERO if fails else units * smallest
        if left:
            _refund(foreign, order, None, fails=False)
        order.refresh_from_db()
        payment = Payment.objects.get(order=order)
        assert order.refunded == payment.refunded == payment.returned == order.total
        assert order.payment_status == "refunded"
        assert list(deviations(foreign)) == []
        transaction.set_rollback(True)


def _refund(shop: Shop, order: Order, amount: Decimal | None, fails: bool) -> None:
    refund = request_refund(shop=shop, order=order, amount=amount, now=NOW)
    if fails:
        record_refund_failed(shop=shop, refund=refund, why="Closed", now=NOW)
    else:
        record_refunded(shop=shop, refund=refund, reference="", now=NOW)
