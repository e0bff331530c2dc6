"""The state machine of a payment: what a provider's report makes of its state, and what is asked of the provider next.
No database access. docs/payments.md has it as a table."""

from collections.abc import Iterable
from datetime import timedelta
from enum import StrEnum

from django.db.models import TextChoices

from storefront.payments.providers.base import Report, Standing


class State(TextChoices):
    """As `Standing`, and before the provider has said anything: started."""

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
LONGEST_WAIT = timedelta(hours=1)
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
    told = State(report.standing)
    if not is_fresh or (current in SECURED and told in UNDECIDED):
        return current
    return told


def next_call(state: State, *, is_wanted: bool, is_capturable: bool) -> Call:
    """What to ask of the provider. `is_wanted`: the payment has an order that stands, or can still have one.
    `is_capturable`: its order stands, and does not wait for a fulfilment."""
    if state not in (State.PAID, State.CANCELLED) and not is_wanted:
        return Call.CANCEL
    return Call.CAPTURE if state == State.AUTHORISED and is_capturable else Call.LOOK


def wait_before_look(looks: int) -> timedelta:
    """How long to wait before the provider is asked again: one minute, doubled each time, at most an hour."""
    return min(timedelta(minutes=2 ** min(looks, 6)), LONGEST_WAIT)


def any_undecided(states: Iterable[State]) -> bool:
    return any(state in UNDECIDED for state in states)
