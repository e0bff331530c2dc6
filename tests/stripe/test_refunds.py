"""Money that goes back: refunds and disputes."""

from dataclasses import replace
from decimal import Decimal
from uuid import uuid4

import pytest

from storefront.payments.providers.base import ProviderUnavailable, RefundDeclined, RefundStanding, Standing
from tests.stripe.client import KEYS

pytestmark = pytest.mark.any_database


def given_back(report) -> Decimal:
    return sum(each.amount for each in report.refunds if each.standing == RefundStanding.DONE)


def test_refunds_parts_and_says_what_went_back(fake, provider, paid):
    told = paid()

    first = provider.refund(told, key=uuid4(), amount=Decimal("5.00"))
    provider.refund(told, key=uuid4(), amount=Decimal("2.50"))

    assert fake.objects("refund")[1]["id"] == first.reference
    assert given_back(provider.look(told)) == Decimal("7.50")
    assert provider.look(told).captured == Decimal("12.50")


def test_a_repeated_refund_moves_no_money_even_after_a_day(fake, provider, paid):
    told, key = paid(), uuid4()
    first = provider.refund(told, key=key, amount=Decimal("5.00"))
    # Two at once: the key.
    assert fake.calls()[-1]["key"] == str(key)
    fake("age", seconds=90_000)

    assert provider.refund(told, key=key, amount=Decimal("5.00")) == first
    assert given_back(provider.look(told)) == Decimal("5.00")


def test_never_refunds_more_than_was_paid(provider, paid):
    told = paid()
    provider.refund(told, key=uuid4(), amount=Decimal("10.00"))

    with pytest.raises(RefundDeclined, match="greater than unrefunded amount"):
        provider.refund(told, key=uuid4(), amount=Decimal("10.00"))

    assert given_back(provider.look(told)) == Decimal("10.00")


def test_wrong_keys_do_not_decline_a_refund_for_good(provider, paid):
    rolled = replace(paid(), settings=KEYS | {"secret_key": "sk_test_Old"})

    with pytest.raises(ProviderUnavailable):
        provider.refund(rolled, key=uuid4(), amount=Decimal("5.00"))


def test_a_dispute_takes_the_money_back_until_it_is_won(fake, provider, paid):
    told = paid("4000000000000259")

    report = provider.look(told)
    assert report.standing == Standing.PAID
    assert (report.disputed, report.dispute) == (Decimal("12.50"), "Needs response (fraudulent)")

    fake("close_dispute", status="won")
    assert (provider.look(told).disputed, provider.look(told).dispute) == (0, "Won (fraudulent)")


def test_a_lost_dispute_stays(fake, provider, paid):
    told = paid("4000000000000259")
    fake("close_dispute", status="lost")

    assert provider.look(told).disputed == Decimal("12.50")
