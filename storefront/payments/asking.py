"""Calls to providers: outside any transaction, each with the payment's key, and what they answer goes to `settle`.

A call without an answer leaves the payment as it is: it may have been carried out. The worker asks again (`jobs.py`).
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import structlog
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _
from django.views.decorators.debug import sensitive_variables

from storefront.kit.refusals import Refusal
from storefront.orders.models import Order
from storefront.payments import alerts
from storefront.payments.accounts import charge_of
from storefront.payments.models import OrderDraft, Payment
from storefront.payments.providers.base import (
    Charge,
    PaymentDeclined,
    Provider,
    ProviderRefused,
    ProviderUnavailable,
    Report,
    Standing,
    Step,
    failure_words,
)
from storefront.payments.providers.registry import PROVIDERS
from storefront.payments.rules import UNDECIDED, Call, State, next_call
from storefront.payments.saved_methods import keep_method
from storefront.payments.settling import next_look, settle
from storefront.shops.models import Shop

log = structlog.get_logger(__name__)

# How long the page that a shopper comes back to does not ask again.
ASKED_EVERY = timedelta(seconds=3)


class MethodUnavailable(Refusal):
    """The provider will not take a payment of this shop: its settings are wrong. Nothing was charged."""

    code = "payment_method_unavailable"
    message = _("This payment method is not available at the moment. Nothing was charged. Please choose another one.")


@sensitive_variables("given")
def begin(*, shop: Shop, payment: Payment, given: Mapping[str, Any], now: datetime) -> tuple[Payment, Step | None]:
    """Start the payment with its provider. Repeated, it is the same payment, by its key.

    Returns the payment as it is then, and what the shopper has to do next: None if the provider did not answer. Raises
    PaymentDeclined or MethodUnavailable; then the payment has ended, and the stock is back.
    """
    provider = PROVIDERS[payment.gateway]
    try:
        if provider.is_for_demos and not shop.is_demo:
            raise ProviderRefused(alerts.ONLY_IN_DEMOS)
        charge = charge_of(shop, payment, given=given)
        step = provider.charge_saved(charge) if charge.method_reference else provider.start(charge)
    except (PaymentDeclined, ProviderRefused) as refused:
        text = refused.text if isinstance(refused, PaymentDeclined) else str(refused)
        if isinstance(refused, ProviderRefused):
            log.warning("payment_refused", payment=payment.pk, provider=provider.name, reason=text)
        report, seen = Report(Standing.CANCELLED, failure=text), payment.version
        payment = settle(shop=shop, payment=payment, report=report, source="call", seen=seen, now=now)
        if payment.state != State.CANCELLED:
            # Another press of the same was accepted meanwhile.
            return payment, None
        if isinstance(refused, PaymentDeclined):
            raise PaymentDeclined(failure_words(text)) from None
        raise MethodUnavailable from None
    except Exception as error:
        _no_answer("start", payment, error)
        return payment, None
    payment = _settle(shop, payment, step.report, "call", now)
    if payment.alert and payment.state in UNDECIDED:
        # Another amount than was asked for, as it seems: nobody is led on to pay that.
        payment = end_payment(shop=shop, payment=payment, now=now) or payment
        if payment.state == State.CANCELLED:
            raise MethodUnavailable
        return payment, None
    return payment, step


def continue_payment(*, shop: Shop, payment: Payment, now: datetime) -> tuple[Payment, Step | None]:
    """The shopper's next step for a payment that was started; None if the provider did not answer."""
    try:
        step = PROVIDERS[payment.gateway].step(charge_of(shop, payment))
    except Exception as error:
        _no_answer("step", payment, error)
        return payment, None
    payment = _settle(shop, payment, step.report, "look", now)
    return payment, None if payment.alert else step


def ask(
    *, shop: Shop, payment: Payment, call: Call | None = None, source: str = "look", now: datetime
) -> Payment | None:
    """Make the call that is due for this payment, and settle what it answers. None if there was no answer."""
    provider = PROVIDERS.get(payment.gateway)
    if provider is None:
        return None
    call = call or due_call(payment, now)
    try:
        report = _call(provider, call, charge_of(shop, payment))
    except Exception as error:
        # Not raised: whatever happens at the provider, the payment is asked about again.
        _no_answer(call, payment, error)
        return None
    return _settle(shop, payment, report, source, now)


def end_payment(*, shop: Shop, payment: Payment, now: datetime) -> Payment | None:
    """Have the provider end a payment that the shopper replaces. None if it did not answer: it may still be paid."""
    return ask(shop=shop, payment=payment, call=Call.CANCEL, source="call", now=now)


def claim(*, shop: Shop, payment: Payment, now: datetime) -> bool:
    """Whether the caller has claimed a due payment and must ask about it now. Without a result, it is due again after a
    growing wait."""
    due = Payment.objects.filter(shop=shop, pk=payment.pk, due_at=payment.due_at, due_at__lte=now)
    return due.update(due_at=next_look(payment, now), looks=F("looks") + 1) == 1


def claim_question(*, shop: Shop, payment: Payment, now: datetime) -> bool:
    """Whether a page of the shopper may ask about the payment now: once in `ASKED_EVERY`, however often and in however
    many windows it is loaded."""
    was_asked = Q(asked_at__gt=now - ASKED_EVERY)
    return Payment.objects.filter(shop=shop, pk=payment.pk).exclude(was_asked).update(asked_at=now) == 1


def due_call(payment: Payment, now: datetime) -> Call:
    """What to ask about the payment, by its order or its draft."""
    order, draft = payment.order, payment.draft
    if order is not None:
        is_open = order.status != Order.Status.CANCELLED
        is_begun = order.status == Order.Status.FULFILLED or order.fulfilments.filter(cancelled_at=None).exists()
        waits = payment.is_held and not is_begun and any(line.needs_sending for line in order.lines.all())
        return next_call(State(payment.state), is_wanted=is_open, is_capturable=is_open and not waits)
    is_wanted = draft is not None and draft.state == OrderDraft.State.OPEN and now < draft.expires_at
    return next_call(State(payment.state), is_wanted=is_wanted, is_capturable=False)


def _settle(shop: Shop, payment: Payment, report: Report, source: str, now: datetime) -> Payment:
    """Settle an answer and then, outside of that transaction, save the method if the shopper asked for it."""
    seen = payment.version
    payment = settle(shop=shop, payment=payment, report=report, source=source, seen=seen, now=now)
    if payment.saves_method:
        keep_method(shop=shop, payment=payment, now=now)
    return payment


def _call(provider: Provider, call: Call, charge: Charge) -> Report:
    if call == Call.LOOK:
        return provider.look(charge)
    if call == Call.CAPTURE:
        return provider.capture(charge)
    if not charge.reference:
        # The start had no answer. What is not there need not be cancelled.
        found = provider.look(charge)
        if not found.reference or State(found.standing) not in {*UNDECIDED, State.AUTHORISED}:
            return found
        charge = replace(charge, reference=found.reference)
    return provider.cancel(charge)


def _no_answer(call: str, payment: Payment, error: Exception) -> None:
    # The message of a refusal is written for the merchant, without secrets. Others may quote what was sent.
    reason = str(error) if isinstance(error, ProviderRefused | ProviderUnavailable) else type(error).__name__
    log.warning("provider_not_asked", call=call, payment=payment.pk, provider=payment.gateway, reason=reason)
