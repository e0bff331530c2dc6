"""The state machine of a payment: what a provider's report makes of its state, and what is asked of the provider next.
No database access. docs/payments.md has it as a table."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from typing import TypeVar
from uuid import UUID

from django.db.models import TextChoices

from storefront.kit.money import CENT, MAX_AMOUNT, ZERO
from storefront.payments import alerts
from storefront.payments.providers.base import News, RefundReport, RefundStanding, Report, SavedMethodReport, Standing

Reported = TypeVar("Reported", Report, RefundReport, SavedMethodReport, News)


class State(TextChoices):
    """The states of `Standing`, and `started` before the provider's first answer."""

    STARTED = "started"
    OPEN = "open", "Waits for the shopper"
    PROCESSING = "processing"
    PROMISED = "promised"
    AUTHORISED = "authorised"
    PAID = "paid"
    CANCELLED = "cancelled"


# What the provider or the shopper is still at.
UNDECIDED = frozenset({State.STARTED, State.OPEN, State.PROCESSING})
# With these an order is placed.
SECURED = frozenset({State.PROMISED, State.AUTHORISED, State.PAID})
# How each state is called in the API's `status`.
STATUSES = {
    State.STARTED: "pending",
    State.OPEN: "pending",
    State.PROCESSING: "pending",
    State.PROMISED: "pending",
    State.AUTHORISED: "authorised",
    State.PAID: "paid",
    State.CANCELLED: "voided",
}

# How long a call of a request may still be on its way. Before that, the worker does not ask.
YOUNG = timedelta(minutes=1)
MAX_WAIT = timedelta(hours=1)
# Characters of a provider's id of a payment that are stored.
MAX_REFERENCE_LENGTH = 255
# After which time since the last change a paid payment is looked at, for a dispute or a refund of which no news came.
LOOKS_AT_PAID = tuple(timedelta(hours=1) * hours for hours in (1, *(24 * days for days in (1, 7, 30, 60, 120))))
# A payment that the provider does not know may still reach it, if the call to start it had no answer.
MAY_STILL_ARRIVE = timedelta(minutes=15)


class Call(StrEnum):
    LOOK = "look"
    CAPTURE = "capture"
    CANCEL = "cancel"


def next_state(current: State, report: Report, *, is_fresh: bool) -> State:
    """The state after this report.

    Money taken always counts, and is never taken back by a report: a paid payment stays paid. Otherwise an answer
    counts only if it is fresh, so that answers that overtake each other change nothing. Held or promised money ends
    only as taken or cancelled.
    """
    if current == State.PAID or report.captured or (report.standing == Standing.PAID):
        return State.PAID
    reported = State(report.standing)
    if not is_fresh or (current in SECURED and reported in UNDECIDED):
        return current
    return reported


def contradiction(
    report: Report, *, amount: Decimal, currency: str, reference: str, asked: Mapping[UUID | None, Decimal]
) -> str:
    """What in the report cannot be true of a payment of this amount and with this reference, of which these refunds
    were asked for by key; in words for the merchant, empty if nothing. Such a report is not believed."""
    refunds = report.refunds or ()
    sums = [report.captured, report.disputed, report.amount or ZERO, *(each.amount for each in refunds)]
    ids = [report.reference, *(each.reference for each in refunds)]
    if not all(map(_is_sum, sums)) or any(len(each) > MAX_REFERENCE_LENGTH or "\0" in each for each in ids):
        return alerts.NO_SENSE
    names = [each.reference or each.key for each in refunds]
    if not all(names) or len(set(names)) < len(names) or not all(each.amount for each in refunds):
        return alerts.NO_SENSE
    if reference and report.reference not in ("", reference):
        return alerts.ANOTHER_PAYMENT % {"reference": report.reference[:100]}
    if report.captured > amount:
        return alerts.TOOK_MORE % {"captured": f"{report.captured:.2f}", "amount": f"{amount:.2f}"}
    given_back = sum((each.amount for each in refunds if each.standing == RefundStanding.DONE), ZERO)
    if given_back > report.captured:
        return alerts.GAVE_MORE
    if report.standing != Standing.CANCELLED or report.captured:
        if report.currency not in ("", currency):
            return alerts.OTHER_CURRENCY % {"found": report.currency[:10], "currency": currency}
        if report.amount not in (None, amount):
            return alerts.OTHER_AMOUNT % {"amount": f"{amount:.2f}"}
        if report.standing == Standing.PAID and not report.captured and amount:
            return alerts.TOOK_NOTHING
    if any(each.key in asked and asked[each.key] != each.amount for each in refunds):
        return alerts.GAVE_OTHER
    return ""


def clean(reported: Reported, **longest: int) -> Reported:
    """Cut these texts of a report to their lengths, and remove NUL, which PostgreSQL cannot store."""
    texts = {name: getattr(reported, name).replace("\0", "")[:most] for name, most in longest.items()}
    return replace(reported, **texts)


def _is_sum(value: Decimal) -> bool:
    return value.is_finite() and ZERO <= value <= MAX_AMOUNT and value == value.quantize(CENT)


def next_call(state: State, *, is_wanted: bool, is_capturable: bool) -> Call:
    """What to ask of the provider. `is_wanted`: the payment has an order that stands, or can still have one.
    `is_capturable`: its order stands, and does not wait for a fulfilment."""
    if state not in (State.PAID, State.CANCELLED) and not is_wanted:
        return Call.CANCEL
    return Call.CAPTURE if state == State.AUTHORISED and is_capturable else Call.LOOK


def wait_before_look(looks: int, longest: timedelta = MAX_WAIT) -> timedelta:
    """How long to wait before the provider is asked again: one minute, doubled each time, at most an hour."""
    return min(timedelta(minutes=2 ** min(looks, 20)), longest)


def next_look_at_paid(changed_at: datetime, now: datetime) -> datetime | None:
    """When a payment that is paid is looked at next; None if that is over."""
    return next((changed_at + after for after in LOOKS_AT_PAID if changed_at + after > now), None)
