"""The shop's account: what is wrong with it, in words."""

import pytest

from storefront.payments.providers.base import ProviderUnavailable
from storefront.payments.providers.stripe_settings import EVENTS, StripeSettings, policy
from tests.stripe.client import KEYS
from tests.stripe.fake import OTHER_PUBLISHABLE_KEY

GIVEN = KEYS | {"capture": "at_once"}


@pytest.fixture
def subscribed(fake) -> None:
    fake("subscribe", url="https://shop.example/payments/stripe/news", events=list(EVENTS))


@pytest.mark.usefixtures("subscribed")
def test_finds_nothing_wrong_with_an_account_that_works(provider, paid):
    assert provider.check(GIVEN) == []
    paid()
    assert provider.check(GIVEN) == []


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"secret_key": "sk_test_51Wrong"}, "Stripe does not know the secret key."),
        ({"publishable_key": "pk_test_51Wrong"}, "Stripe does not know the publishable key."),
        ({"publishable_key": OTHER_PUBLISHABLE_KEY}, "belongs to another Stripe account"),
        ({"publishable_key": "pk_live_51Fake"}, "must be of the same mode"),
        ({"webhook_secret": ""}, "Webhook signing secret is missing."),
    ],
)
def test_says_what_is_wrong_without_the_key(provider, paid, wrong, words):
    paid()

    (problem,) = provider.check(GIVEN | wrong)

    assert words in problem
    assert "51" not in problem


def test_says_that_the_account_cannot_take_payments(fake, provider):
    fake("configure", is_ready=False)

    assert "cannot take payments yet" in provider.check(GIVEN)[0]


def test_says_which_events_are_missing(fake, provider):
    assert "sends no events to this shop" in provider.check(GIVEN)[0]

    events = [each for each in EVENTS if each != "payment_intent.succeeded"]
    fake("subscribe", url="https://shop.example/payments/stripe/news", events=events)
    assert provider.check(GIVEN) == ["The webhook endpoint in Stripe lacks these events: payment_intent.succeeded."]

    fake("subscribe", url="https://shop.example/payments/stripe/news", events=["*"])
    assert provider.check(GIVEN) == []


@pytest.mark.slow
def test_a_provider_that_does_not_answer_is_no_problem_of_the_keys(fake, provider, settings):
    settings.STRIPE_SECONDS = 0.5
    fake.fail("account", "silent_before")

    with pytest.raises(ProviderUnavailable):
        provider.check(GIVEN)


def test_keys_of_the_wrong_kind_are_refused_at_their_field():
    form = StripeSettings(GIVEN | {"publishable_key": "sk_live_1", "secret_key": "pk_live_1", "webhook_secret": "x"})

    assert set(form.errors) == {"publishable_key", "secret_key", "webhook_secret"}


def test_lets_in_what_stripe_documents_and_nothing_else():
    assert policy("https://js.stripe.com/endive/stripe.js", "https://api.stripe.com") == {
        "script-src": ("https://js.stripe.com", "https://*.js.stripe.com"),
        "frame-src": ("https://js.stripe.com", "https://*.js.stripe.com", "https://hooks.stripe.com"),
        "connect-src": ("https://api.stripe.com",),
    }
