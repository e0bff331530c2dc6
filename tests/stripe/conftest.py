from collections.abc import Callable, Iterator
from dataclasses import replace
from decimal import Decimal
from typing import Any
from uuid import uuid4

import pytest

from storefront.payments.providers.base import Charge
from storefront.payments.providers.stripe import Stripe
from tests.stripe.client import KEYS, FakeStripe, running_fake


@pytest.fixture(scope="session")
def stripe_process() -> Iterator[FakeStripe]:
    with running_fake() as fake:
        yield fake


@pytest.fixture
def fake(stripe_process: FakeStripe, settings) -> Iterator[FakeStripe]:
    """The fake, empty. Calls and answers that Stripe's description does not allow fail the test."""
    stripe_process("reset")
    settings.STRIPE_API, settings.STRIPE_SCRIPT = stripe_process.url, stripe_process.script
    settings.STRIPE_SECONDS = 2
    yield stripe_process
    assert stripe_process("seen")["violations"] == []


@pytest.fixture
def provider() -> Stripe:
    return Stripe()


@pytest.fixture
def charge() -> Callable[..., Charge]:
    """A charge of 12.50 EUR, unless told otherwise."""

    def made(**other: Any) -> Charge:
        own = {"shop_id": 1, "key": uuid4(), "amount": Decimal("12.50"), "currency": "EUR", "settings": KEYS}
        own |= {"description": "Corner shop", "return_url": "https://shop.example/checkout/payment/1/return"}
        return Charge(**(own | other))

    return made


@pytest.fixture
def started(fake, provider, charge) -> Callable[..., Charge]:
    """A charge that was started, with its reference."""

    def made(**other: Any) -> Charge:
        told = charge(**other)
        return replace(told, reference=provider.start(told).report.reference)

    return made


@pytest.fixture
def paid(fake, started) -> Callable[..., Charge]:
    """A charge that the shopper confirmed by card."""

    def made(number: str = "4242424242424242", **other: Any) -> Charge:
        told = started(**other)
        fake("confirm", intent=told.reference, number=number)
        return told

    return made
