"""Gift cards whose purchase a bank takes back: not valid while it is disputed, and again once the shop has won, or once
a refund of everything has failed."""

from decimal import Decimal

import pytest

from storefront.gift_cards.issuing import disable_card, enable_card
from storefront.gift_cards.models import GiftCard, GiftCardEntry
from storefront.kit import clock
from storefront.orders.models import Order
from storefront.payments.jobs import pay_back_refunds
from storefront.payments.line_refunds import Pieces
from storefront.payments.models import Payment, Refund
from storefront.payments.providers.base import RefundReport, RefundStanding, Report, Standing
from storefront.payments.refunds import request_refund
from storefront.payments.settling import settle
from storefront.shops.audit_models import AuditEntry
from tests.catalogue.factories import make_product
from tests.gift_cards.factories import balance, make_card, send_due
from tests.gift_cards.test_selling import buy, code_in, mails
from tests.gift_cards.test_selling import pays_by_card as pays_by_card
from tests.gift_cards.test_spending import enter, fill
from tests.races import run_concurrently
from tests.staff import admin_url

TOTAL = Decimal("50.00")


@pytest.fixture
def order(shop, shopper, card_product) -> Order:
    """Two cards over 25.00, paid and sent."""
    order = buy(shopper, card_product, qty="2")
    send_due()
    return order


def hear(shop, order, **said) -> None:
    payment = Payment.objects.get(order=order)
    settle(
        shop=shop,
        payment=payment,
        report=Report(Standing.PAID, captured=TOTAL, **said),
        source="news",
        now=clock.now(),
    )


def states(order) -> list[bool]:
    """Which of the order's cards are valid."""
    return [card.disabled_at is None for card in GiftCard.objects.filter(order_id=order.pk).order_by("pk")]


def logs(order) -> list[str]:
    entries = GiftCardEntry.objects.filter(card__order_id=order.pk, kind__in=["disabled", "enabled"]).order_by("pk")
    return [f"{entry.kind}: {entry.detail}" for entry in entries]


def test_a_disputed_payment_disables_the_cards_until_it_is_won(shop, other_shop, order, desk):
    mine, _ = make_card(shop)
    theirs, _ = make_card(other_shop)
    hear(shop, order, disputed=TOTAL, dispute="Needs response (fraudulent)")
    assert states(order) == [False, False]
    why = f"disabled: A bank disputes the payment of order {order.number}."
    assert logs(order) == [why] * 2
    card = GiftCard.objects.filter(order_id=order.pk).first()
    assert "A bank disputes the payment" in desk.get(admin_url(card, "change")).content.decode()
    assert AuditEntry.objects.filter(action="gift_card.disabled", shop=shop).count() == 2
    # News that says nothing new changes nothing.
    hear(shop, order, disputed=TOTAL, dispute="Under review (fraudulent)")
    assert len(logs(order)) == 2
    hear(shop, order, dispute="Won (fraudulent)")
    assert states(order) == [True, True]
    assert logs(order)[2:] == [f"enabled: Order {order.number} stands again."] * 2
    for each in (mine, theirs):
        each.refresh_from_db()
        assert each.disabled_at is None


@pytest.mark.slow
def test_what_is_spent_stays_spent_and_what_staff_decided_stays(shop, order, shopper):
    empty, other = GiftCard.objects.filter(order_id=order.pk).order_by("pk")
    fill(shopper, make_product(shop, "Pot", price="25.00"))
    enter(shopper, code_in(mails()[0]))
    shopper.post("/checkout/payment", shopper.payment_fields(""))
    disable_card(shop=shop, card=other, now=clock.now())
    hear(shop, order, disputed=TOTAL)
    assert (balance(empty), states(order)) == (0, [True, False])
    hear(shop, order)
    assert states(order) == [True, False]
    enable_card(shop=shop, card=other, now=clock.now())
    assert states(order) == [True, True]


def test_a_won_dispute_gives_nothing_back_that_was_refunded(shop, order):
    request_refund(shop=shop, order=order, now=clock.now())
    pay_back_refunds(now=clock.now(), limit=9)
    assert states(order) == [False, False]
    hear(shop, order, disputed=TOTAL)
    hear(shop, order)
    assert states(order) == [False, False]


def test_a_refund_of_everything_that_fails_gives_the_cards_back(shop, order):
    request_refund(shop=shop, order=order, now=clock.now())
    pay_back_refunds(now=clock.now(), limit=9)
    assert states(order) == [False, False]
    refund = Refund.objects.get()
    hear(shop, order, refunds=(RefundReport(TOTAL, "re_1", refund.key, RefundStanding.FAILED, "account closed"),))
    order.refresh_from_db()
    assert (order.payment_status, states(order)) == ("paid", [True, True])
    assert logs(order)[2:] == [f"enabled: Order {order.number} stands again."] * 2


def test_a_won_dispute_leaves_the_cards_of_a_cancelled_order_disabled(shop, order, api):
    api.post(f"/orders/{order.pk}/cancellation", {})
    hear(shop, order, disputed=TOTAL)
    hear(shop, order)
    assert states(order) == [False, False]


@pytest.mark.django_db(transaction=True)
def test_a_dispute_and_a_purchase_with_the_card_at_once(shop, order, shopper):
    """Either the card pays first, or it is not valid any more; never both, never neither."""
    fill(shopper, make_product(shop, "Mug", price="20.00"))
    enter(shopper, code_in(mails()[0]))
    press = shopper.payment_fields("")
    run_concurrently(
        lambda: hear(shop, order, disputed=TOTAL),
        lambda: shopper.post("/checkout/payment", press),
    )
    card = GiftCard.objects.filter(order_id=order.pk).order_by("pk").first()
    assert card.balance == (5 if Order.objects.count() == 2 else 25)
    assert states(order) == [False, False]


def test_a_card_refunded_during_a_dispute_is_not_given_back_when_it_is_won(shop, order):
    hear(shop, order, disputed=Decimal("25.00"), dispute="Needs response")
    assert states(order) == [False, False]
    request_refund(shop=shop, order=order, lines=[Pieces(order.lines.get().pk, 1)], now=clock.now())
    hear(shop, order)
    assert sorted(states(order)) == [False, True]
