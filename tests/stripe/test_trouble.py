"""Answers that do not come, or say nothing, and refusals."""

import logging
import time
from decimal import Decimal
from uuid import uuid4

import pytest

from storefront.payments.providers.base import ProviderRefused, ProviderUnavailable, Standing
from tests.stripe.client import KEYS

pytestmark = pytest.mark.any_database


@pytest.mark.slow
@pytest.mark.parametrize("how", ["silent_before", "silent_after", "slow", "broken"])
def test_no_answer_in_time_is_an_unknown_outcome(fake, provider, charge, settings, how):
    fake.fail("POST /v1/payment_intents", how)
    told = charge()
    patient, settings.STRIPE_SECONDS = settings.STRIPE_SECONDS, 0.5
    began = time.monotonic()

    with pytest.raises(ProviderUnavailable):
        provider.start(told)

    assert time.monotonic() - began < 2
    settings.STRIPE_SECONDS = patient
    # Asked again, with the same key, there is one payment.
    assert provider.look(told).standing == Standing.OPEN
    assert len(fake.objects("payment_intent")) == 1


def test_a_provider_that_is_away_is_unavailable(provider, charge, settings):
    settings.STRIPE_API = "http://127.0.0.1:9"

    with pytest.raises(ProviderUnavailable):
        provider.start(charge())


def test_a_lost_answer_to_a_refund_refunds_once(fake, provider, paid):
    told, key = paid(), uuid4()
    fake.fail("POST /v1/refunds", "lost")
    with pytest.raises(ProviderUnavailable):
        provider.refund(told, key=key, amount=Decimal("5.00"))

    refund = provider.refund(told, key=key, amount=Decimal("5.00"))

    assert [each["id"] for each in fake.objects("refund")] == [refund.reference]


def test_a_lost_answer_to_a_capture_is_told_by_the_next(fake, provider, paid):
    told = paid(is_held=True)
    fake.fail("capture", "lost")
    with pytest.raises(ProviderUnavailable):
        provider.capture(told)

    assert provider.capture(told).captured == Decimal("12.50")


def test_wrong_keys_are_refused_in_words_without_the_key(fake, provider, charge):
    with pytest.raises(ProviderRefused) as refusal:
        provider.start(charge(settings=KEYS | {"secret_key": "sk_test_Wrong123"}))

    assert "secret key" in str(refusal.value)
    assert "Wrong" not in str(refusal.value)


def test_the_same_key_for_another_payment_is_never_made(fake, provider, charge):
    told = charge()
    provider.start(told)

    with pytest.raises(ProviderRefused, match="other contents"):
        provider.start(charge(key=told.key, amount=Decimal("99.00")))

    assert [each["amount"] for each in fake.objects("payment_intent")] == [1250]


def test_too_small_an_amount_is_refused_with_stripes_reason(fake, provider, charge):
    with pytest.raises(ProviderRefused, match="at least €0"):
        provider.start(charge(amount=Decimal("0.10")))


def test_logs_no_secrets_even_at_the_lowest_level(fake, provider, paid, caplog):
    with caplog.at_level(logging.DEBUG):
        told = paid()
        provider.look(told)
        with pytest.raises(ProviderRefused):
            provider.start(paid(settings=KEYS | {"secret_key": "sk_test_Wrong123"}))

    assert fake.intent()["client_secret"] not in caplog.text
    assert "sk_test" not in caplog.text
    assert repr(told).count("sk_test") == 0
