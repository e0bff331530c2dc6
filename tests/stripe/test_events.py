"""What Stripe sends: whose it is, and which payment it is about."""

import json
from collections.abc import Iterator

import pytest
from django.test import RequestFactory

from storefront.payments.providers.base import ProviderRefused
from tests.receiver import Receiver, receiving
from tests.stripe.client import KEYS

pytestmark = pytest.mark.any_database


@pytest.fixture
def receiver(fake) -> Iterator[Receiver]:
    with receiving() as receiver:
        fake("configure", endpoint={"url": receiver.url, "secret": KEYS["webhook_secret"]}, news="held")
        yield receiver


def parse(provider, received, *, body: bytes | None = None, signature: str | None = None, secret: str = ""):
    headers = {"Stripe-Signature": received.headers["Stripe-Signature"] if signature is None else signature}
    request = RequestFactory().post("/news", body or received.body, "application/json", headers=headers)
    return provider.parse_event(request, KEYS | ({"webhook_secret": secret} if secret else {}))


@pytest.mark.parametrize("kind", ["payment_intent.succeeded", "charge.succeeded", "charge.dispute.created"])
def test_names_the_payment(fake, provider, paid, receiver, kind):
    told = paid("4000000000000259")
    fake("deliver", type=f"^{kind}$")

    news = parse(provider, received := receiver.next())

    assert (news.reference, news.kind) == (told.reference, kind)
    assert news.event_id == json.loads(received.body)["id"]
    assert news.key == (None if "dispute" in kind else told.key)


@pytest.mark.parametrize("wrong", [{"signature": ""}, {"signature": "t=1,v1=00"}, {"secret": "whsec_other"}])
def test_refuses_what_stripe_did_not_sign_for_this_shop(fake, provider, paid, receiver, wrong):
    paid()
    fake("deliver", type="^payment_intent.succeeded$")

    with pytest.raises(ProviderRefused):
        parse(provider, receiver.next(), **wrong)


def test_refuses_another_body_under_the_signature(fake, provider, paid, receiver):
    told = paid()
    fake("deliver", type="^payment_intent.succeeded$")
    received = receiver.next()

    with pytest.raises(ProviderRefused):
        parse(provider, received, body=received.body.replace(told.reference.encode(), b"pi_another"))


def test_refuses_an_old_event_sent_again(fake, provider, paid, receiver):
    paid()
    fake("deliver", type="^payment_intent.succeeded$", age=301)

    with pytest.raises(ProviderRefused):
        parse(provider, receiver.next())


@pytest.mark.parametrize("body", [b"", b"[]", b"{}", b'{"data": 1}', b"\xff"])
def test_refuses_signed_nonsense(provider, body):
    import stripe

    try:
        signature = stripe.WebhookSignature.generate_signature_header(body.decode(), KEYS["webhook_secret"])
    except UnicodeDecodeError:
        signature = "t=1,v1=00"
    request = RequestFactory().post("/news", body, "application/json", headers={"Stripe-Signature": signature})

    with pytest.raises(ProviderRefused):
        provider.parse_event(request, KEYS)


def test_refuses_all_news_without_a_secret(provider):
    request = RequestFactory().post("/news", b"{}", "application/json", headers={"Stripe-Signature": "t=1,v1=00"})

    with pytest.raises(ProviderRefused):
        provider.parse_event(request, {})
