"""A payment from its start to the money, against the fake over HTTP."""

from decimal import Decimal
from uuid import UUID

import pytest

from storefront.payments.providers.base import ClientStep, Done, ProviderRefused, Standing
from tests.stripe.fake import PUBLISHABLE_KEY

pytestmark = pytest.mark.any_database

SEPA = {"type": "sepa_debit", "sepa_debit": {"iban": "DE89370400440532013000"}}
IDEAL = {"type": "ideal", "ideal": {}}


@pytest.mark.slow
def test_starts_unconfirmed_with_what_the_page_needs(fake, provider, charge):
    told = charge()

    step = provider.start(told)

    intent = fake.intent()
    assert isinstance(step, ClientStep)
    assert step.report.standing == Standing.OPEN
    assert step.report.reference == intent["id"]
    assert intent["status"] == "requires_payment_method"
    assert (intent["amount"], intent["currency"]) == (1250, "eur")
    assert intent["metadata"] == {"payment": str(told.key)}
    assert step.data["client_secret"] == intent["client_secret"]
    assert step.data["publishable_key"] == PUBLISHABLE_KEY
    assert step.data["is_test"] is True
    assert "sk_test" not in str(step)


def test_pins_the_version_in_every_call(fake, provider, paid):
    provider.look(paid())

    assert {call["version"] for call in fake.calls()} == {"2026-10-28.endive"}


def test_starting_again_makes_no_second_payment(fake, provider, charge):
    told = charge()

    first, second = provider.start(told), provider.start(told)

    assert first.report.reference == second.report.reference
    assert len(fake.objects("payment_intent")) == 1


def test_the_money_of_a_card_is_taken(provider, paid):
    report = provider.look(paid())

    assert report.standing == Standing.PAID
    assert report.captured == Decimal("12.50")
    assert report.method == "Visa •••• 4242"
    assert report.failure == ""


@pytest.mark.parametrize(
    ("number", "words"),
    [
        ("4000000000000002", "The payment was declined."),
        ("4000000000009995", "Your card has insufficient funds."),
        ("4000000000000069", "Your card has expired."),
        # Not that the card was reported as lost: the shopper may have found it.
        ("4000000000009987", "The payment was declined."),
    ],
)
def test_a_declined_card_is_told_and_another_one_pays(fake, provider, paid, number, words):
    told = paid(number)

    declined = provider.look(told)
    assert declined.standing == Standing.OPEN
    assert declined.failure == f"{words} Nothing was charged. Please try another card or payment method."
    assert provider.step(told).data["failure"] == declined.failure

    fake("confirm", intent=told.reference, number="4242424242424242")
    assert provider.look(told).standing == Standing.PAID
    assert provider.look(told).failure == ""


def test_three_d_secure_waits_for_the_shopper(fake, provider, paid):
    told = paid("4000002500003155")
    assert provider.look(told).standing == Standing.OPEN

    fake("act", verb="fail", intent=told.reference)
    assert "could not confirm that it is you" in provider.look(told).failure

    fake("confirm", intent=told.reference, number="4000002500003155")
    fake("act", verb="authorise", intent=told.reference)
    assert provider.look(told).standing == Standing.PAID


def test_a_debit_is_processed_for_days(fake, provider, started):
    told = started()
    fake("confirm", intent=told.reference, method=SEPA)

    assert provider.look(told).standing == Standing.PROCESSING
    assert isinstance(provider.step(told), Done)

    fake("act", verb="finish", intent=told.reference)
    report = provider.look(told)
    assert (report.standing, report.method) == (Standing.PAID, "SEPA Direct Debit •••• 3000")


def test_a_debit_that_fails_is_open_again(fake, provider, started):
    told = started()
    fake("confirm", intent=told.reference, method=SEPA)
    fake("act", verb="fail", intent=told.reference)

    assert provider.look(told).standing == Standing.OPEN
    assert provider.look(told).captured == 0


def test_holds_a_card_until_capture(provider, paid):
    told = paid(is_held=True)

    held = provider.look(told)
    assert (held.standing, held.captured) == (Standing.AUTHORISED, 0)

    assert provider.capture(told).captured == Decimal("12.50")
    assert provider.capture(told).captured == Decimal("12.50")
    assert provider.look(told).standing == Standing.PAID


def test_takes_at_once_what_cannot_be_held(fake, provider, started):
    told = started(is_held=True)
    fake("confirm", intent=told.reference, method=IDEAL)
    fake("act", verb="authorise", intent=told.reference)

    assert provider.look(told).standing == Standing.PAID


def test_cancelling_releases_what_is_held(fake, provider, paid):
    told = paid(is_held=True)

    assert provider.cancel(told).standing == Standing.CANCELLED
    assert provider.cancel(told).standing == Standing.CANCELLED
    assert provider.capture(told).standing == Standing.CANCELLED
    assert fake.intent()["amount_received"] == 0


def test_cancelling_too_late_says_what_was_taken(fake, provider, paid, started):
    assert provider.cancel(paid()).standing == Standing.PAID

    told = started()
    fake("confirm", intent=told.reference, method=SEPA)
    assert provider.cancel(told).standing == Standing.PROCESSING


@pytest.mark.parametrize(
    ("amount", "currency", "units"),
    [("1250.00", "JPY", 1250), ("12.50", "KWD", 12500), ("1250.00", "ISK", 125000), ("1250.00", "CLP", 1250)],
)
def test_counts_as_the_currency_does(fake, provider, paid, amount, currency, units):
    told = paid(amount=Decimal(amount), currency=currency)

    assert fake.intent()["amount"] == units
    assert provider.look(told).captured == Decimal(amount)


@pytest.mark.parametrize(("amount", "currency"), [("12.50", "JPY"), ("12.50", "ISK"), ("12.00", "UGX")])
def test_refuses_amounts_that_stripe_cannot_charge(fake, provider, charge, amount, currency):
    with pytest.raises(ProviderRefused, match=currency):
        provider.start(charge(amount=Decimal(amount), currency=currency))

    assert fake.calls() == []


def test_finds_a_payment_whose_reference_was_lost(fake, provider, charge):
    told = charge(key=UUID(int=7))
    reference = provider.start(told).report.reference
    fake("confirm", intent=reference, number="4242424242424242")

    report = provider.look(told)

    assert (report.reference, report.standing) == (reference, Standing.PAID)


def test_finds_it_by_search_once_stripe_has_forgotten_the_key(fake, provider, charge):
    told = charge()
    reference = provider.start(told).report.reference
    fake("age", seconds=90_000)

    assert provider.look(told).reference == reference
    assert len(fake.objects("payment_intent")) == 1
