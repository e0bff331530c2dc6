"""`storefront verify` names gift cards whose balance, log and payments contradict each other."""

from decimal import Decimal

import pytest

from storefront.gift_cards.models import GiftCard, GiftCardEntry
from storefront.payments.models import Payment
from storefront.server.verifying import deviations
from tests.gift_cards.factories import make_card
from tests.gift_cards.test_spending import enter, fill

pytestmark = [pytest.mark.django_db, pytest.mark.disagrees]


@pytest.fixture
def spent(shop, shopper, mug) -> GiftCardEntry:
    _, code = make_card(shop)
    fill(shopper, mug)
    enter(shopper, code)
    shopper.post("/checkout/payment", shopper.payment_fields(""))
    return GiftCardEntry.objects.get(kind="spent")


def found(shop) -> list[tuple]:
    return [tuple(each) for each in deviations(shop)]


def test_a_balance_that_the_log_does_not_add_up_to(shop, other_shop, spent):
    assert found(shop) == []
    GiftCard.objects.update(balance=Decimal("35.00"))
    assert found(shop) == [("gift card log", f"gift card {spent.card_id}", "35.00", "30.00")]
    assert found(other_shop) == []


def test_a_payment_that_was_not_taken_off_the_card(shop, other_shop, spent):
    GiftCardEntry.objects.filter(pk=spent.pk).update(amount=Decimal("-19.00"))
    name = f"payment {Payment.objects.get().public_id}"
    assert ("gift card payment", name, "19.00", "20.00") in found(shop)
    assert found(other_shop) == []


def test_what_was_taken_off_a_card_for_no_payment(shop, other_shop, spent):
    Payment.objects.update(key="5a5a5a5a-0000-4000-8000-000000000000")
    assert ("gift card payment", f"payment with the key {spent.payment}", "20.00", "0.00") in found(shop)
    assert found(other_shop) == []
