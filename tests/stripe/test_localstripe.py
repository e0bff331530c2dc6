"""A second opinion: localstripe, somebody else's stand-in for Stripe. It knows plain cards, refunds and saved methods.

It lacks some of what we send and expect, which a relay between us takes out and adds.
"""

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from uuid import uuid4

import pytest
import requests
from aiohttp import ClientSession, web

from storefront.payments.providers.base import RefundDeclined, Standing
from tests.receiver import receiving
from tests.server.programs import free_port, is_listening, wait_until
from tests.stripe.client import KEYS

pytestmark = [pytest.mark.any_database, pytest.mark.slow]

# What localstripe does not know in the calls that we make.
UNKNOWN = ("automatic_payment_methods", "description", "off_session", "payment_method_options", "setup_future_usage")
CARD = {"number": "4242424242424242", "exp_month": "12", "exp_year": "2034", "cvc": "123"}


@pytest.fixture
def localstripe(settings, tmp_path) -> Iterator[str]:
    """Its address. Our calls go to a relay before it."""
    port = free_port()
    address = f"http://127.0.0.1:{port}"

    async def relay(request: web.Request) -> web.Response:
        form = {name: str(value) for name, value in (await request.post()).items()}
        if form.pop("payment_method_options[card][capture_method]", ""):
            form["capture_method"] = "manual"
        form = {name: value for name, value in form.items() if name.partition("[")[0] not in UNKNOWN}
        headers = {"Authorization": request.headers["Authorization"]}
        url = f"{address}{request.path_qs}"
        async with (
            ClientSession(headers=headers) as session,
            session.request(request.method, url, data=form or None) as answer,
        ):
            body = await answer.json()
        charge = body.get("latest_charge")
        if body.get("object") == "payment_intent":
            body["amount_received"] = charge["amount"] if charge and charge["captured"] else 0
        return web.json_response(body, status=answer.status)

    command = [sys.executable, "-m", "localstripe", "--port", str(port), "--from-scratch"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": tmp_path}
    with subprocess.Popen(command, **quiet) as process, receiving(relay) as receiver:
        wait_until(lambda: is_listening(port), process=process, what="localstripe")
        settings.STRIPE_API = receiver.url.rstrip("/")
        yield address
        process.kill()


def shopper(address: str, path: str, **form: str) -> dict:
    """What Stripe.js would do for the shopper."""
    answer = requests.post(f"{address}/v1/{path}", form, auth=(KEYS["secret_key"], ""), timeout=60)
    assert answer.ok, answer.text
    return answer.json()


@pytest.fixture
def paid(localstripe, provider, charge):
    def made(**other):
        told = charge(**other)
        told = replace(told, reference=provider.start(told).report.reference)
        card = {f"card[{name}]": value for name, value in CARD.items()}
        method = shopper(localstripe, "payment_methods", type="card", **card)
        if other.get("saves_method"):
            intent = provider._find(told)
            shopper(localstripe, f"payment_methods/{method['id']}/attach", customer=intent["customer"])
        shopper(localstripe, f"payment_intents/{told.reference}", payment_method=method["id"])
        shopper(localstripe, f"payment_intents/{told.reference}/confirm")
        return told

    return made


def test_a_card_pays(provider, paid):
    report = provider.look(paid())

    assert (report.standing, report.captured) == (Standing.PAID, Decimal("12.50"))


def test_a_card_is_held_and_taken(provider, paid):
    told = paid(is_held=True)

    assert provider.look(told).standing == Standing.AUTHORISED
    assert provider.capture(told).captured == Decimal("12.50")


def test_a_held_card_is_released(provider, paid):
    assert provider.cancel(paid(is_held=True)).standing == Standing.CANCELLED


def test_refunds_a_part_once(provider, paid):
    told, key = paid(), uuid4()

    first = provider.refund(told, key=key, amount=Decimal("5.00"))
    assert provider.refund(told, key=key, amount=Decimal("5.00")) == first
    with pytest.raises(RefundDeclined):
        provider.refund(replace(told, reference="pi_unknown"), key=uuid4(), amount=Decimal("1.00"))

    assert provider.look(told).refunds == (first,)
    assert (first.key, first.amount, first.standing) == (key, Decimal("5.00"), "done")


def test_saves_and_forgets_a_card(provider, paid):
    told = paid(saves_method=True)

    kept = provider.save_method(told)

    assert (kept.label, kept.expires) == ("Visa •••• 4242", "12/34")
    provider.forget_method(replace(told, method_reference=kept.method_reference))
    assert provider.save_method(told) is None
