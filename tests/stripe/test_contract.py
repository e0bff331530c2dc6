"""That the check of the fake's calls and answers sees what is wrong."""

import pytest

from storefront.payments.providers.stripe_calls import API_VERSION
from tests.stripe.contract import DOCUMENT, problems_of_call, problems_of_object

pytestmark = pytest.mark.any_database

CREATE = "post /v1/payment_intents"


def test_the_library_is_of_the_pinned_version():
    import stripe

    assert stripe.api_version == API_VERSION


def test_sees_wrong_parameters():
    good = {"amount": "1250", "currency": "eur", "automatic_payment_methods": {"enabled": "true"}}
    assert problems_of_call(CREATE, good) == []

    for wrong in ({"amount": "x"}, {"colour": "red"}, {"capture_method": "later"}, {"automatic_payment_methods": {}}):
        assert problems_of_call(CREATE, good | wrong), wrong
    assert problems_of_call(CREATE, {"amount": "1250"})


def test_sees_wrong_objects():
    good = {"id": "re_1", "object": "refund", "amount": 5, "created": 1, "currency": "eur", "status": "succeeded"}
    assert problems_of_object(good) == []

    for wrong in ({"amount": "5"}, {"colour": "red"}, {"reason": "no reason"}):
        assert problems_of_object(good | wrong), wrong


def test_the_document_is_stripes():
    assert DOCUMENT["version"] == "2023-08-16"
    assert "github.com/stripe/openapi" in DOCUMENT["source"]
