"""The state machine of a payment as a table: what reports make of a state, and what is asked of the provider next."""

from datetime import timedelta
from decimal import Decimal
from uuid import uuid4

import pytest

from storefront.payments.providers.base import RefundReport, Report, Standing
from storefront.payments.rules import (
    LOOKS_AT_PAID,
    SECURED,
    UNDECIDED,
    Call,
    State,
    clean,
    contradiction,
    next_call,
    next_look_at_paid,
    next_state,
    wait_before_look,
)
from tests.shops.factories import NOW

ENDS = {State.PAID, State.CANCELLED}


@pytest.mark.parametrize("current", State)
@pytest.mark.parametrize("told", Standing)
def test_the_state_after_a_report(current, told):
    fresh, late = (next_state(current, Report(told), is_fresh=is_fresh) for is_fresh in (True, False))
    if State.PAID in (current, told):
        assert (fresh, late) == (State.PAID, State.PAID)
    elif current in SECURED and told in UNDECIDED:
        # Held or promised money ends only as taken or cancelled.
        assert (fresh, late) == (current, current)
    else:
        assert (fresh, late) == (State(told), current)


@pytest.mark.parametrize("current", State)
@pytest.mark.parametrize("told", Standing)
def test_money_that_was_taken_counts_whatever_else_is_told(current, told):
    report = Report(told, captured=Decimal("0.01"))
    assert {next_state(current, report, is_fresh=is_fresh) for is_fresh in (True, False)} == {State.PAID}


@pytest.mark.parametrize(
    ("told", "believed"), [("3.00", True), ("2.99", False), ("3.01", False)], ids=["as asked", "less", "more"]
)
def test_a_refund_has_the_amount_that_was_asked_for(told, believed):
    ours, foreign = (
        RefundReport(Decimal(amount), name, uuid4()) for amount, name in ((told, "re_1"), ("0.50", "re_2"))
    )
    report = Report(Standing.PAID, captured=Decimal("9.00"), refunds=(foreign, ours))
    given = {"amount": Decimal("9.00"), "currency": "EUR", "reference": ""}
    problem = contradiction(report, **given, asked={ours.key: Decimal("3.00"), uuid4(): Decimal("1.00")})
    assert problem == ("" if believed else "The provider refunded a different amount from the one requested.")


@pytest.mark.parametrize("state", State)
def test_what_is_asked_of_the_provider(state):
    asked = [next_call(state, is_wanted=is_wanted, is_capturable=True) for is_wanted in (True, False)]
    assert asked[0] == (Call.CAPTURE if state == State.AUTHORISED else Call.LOOK)
    # Held money for which there is no order is released.
    assert asked[1] == (Call.LOOK if state in ENDS else Call.CANCEL)
    assert next_call(state, is_wanted=True, is_capturable=False) == Call.LOOK


def test_waits_double_from_two_minutes_to_an_hour():
    minutes = [wait_before_look(looks) / timedelta(minutes=1) for looks in range(8)]
    assert minutes == [1, 2, 4, 8, 16, 32, 60, 60]
    assert wait_before_look(10**9, longest=timedelta(days=1)) == timedelta(days=1)
    assert wait_before_look(21, longest=timedelta(days=9999)) == timedelta(minutes=2**20)


def test_a_paid_payment_is_looked_at_less_and_less_and_then_no_more():
    moments = [NOW + after for after in LOOKS_AT_PAID]
    assert [next_look_at_paid(NOW, moment) for moment in (NOW, *moments)] == [*moments, None]


def test_texts_are_cut_and_stored_without_nul():
    report = clean(RefundReport(Decimal("1.00"), reference="a\0bc"), reference=2)
    assert report.reference == "ab"
