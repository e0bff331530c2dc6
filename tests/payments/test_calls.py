"""How providers are called: never inside a transaction, always with the payment's one key, and with nothing secret left
behind."""

import logging

import pytest
from django.db import connection

from storefront.payments.models import Payment
from storefront.payments.providers.base import Provider
from storefront.payments.providers.registry import PROVIDERS
from tests.payments.bank import SECRET
from tests.payments.conftest import account_of, press, return_path
from tests.payments.test_redirect import later


def test_what_a_provider_can_do_is_found_in_its_methods():
    assert {name for name, each in PROVIDERS.items() if each.can_save} == {"stripe"}
    assert {name for name, each in PROVIDERS.items() if each.sends_news} == {"stripe"}


@pytest.mark.parametrize(
    ("has", "lacks"), [({"save_method": 1, "account": 1}, "charge_saved, forget"), ({"settings_form": 1}, "check")]
)
def test_a_provider_that_lacks_a_part_is_refused_at_start(has, lacks):
    with pytest.raises(TypeError, match=f"lacks {lacks}"):
        type("Half", (Provider,), has)


@pytest.fixture
def sent(bank, monkeypatch):
    """What is sent to the bank: whether in a transaction, the call, its body."""
    sent, send = [], PROVIDERS["bank"].send

    def watch(settings, call, body):
        sent.append((connection.in_atomic_block, call, body))
        return send(settings, call, body)

    monkeypatch.setattr(PROVIDERS["bank"], "send", watch)
    return sent


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_no_provider_is_called_inside_a_transaction(bank, sent, shopper, mug):
    press(shopper, mug)
    account_of(bank).is_held = True
    bank.pay(account_of(bank))
    shopper.get(return_path())
    later(minutes=2)
    assert [call for _, call, _ in sent] == ["start", "look", "capture"]
    press(shopper, mug)
    later(hours=1)
    # The second is ended, and the first looked at again.
    assert [call for _, call, _ in sent[3:]] == ["start", "cancel", "look"]
    assert not any(is_in_transaction for is_in_transaction, _, _ in sent)


def test_every_call_of_a_payment_has_its_key(bank, sent, shopper, mug):
    bank.deaf = {"start"}
    press(shopper, mug)
    shopper.post("/checkout/payment", shopper.payment_fields("bank"))
    later(minutes=2)
    assert len(sent) >= 3
    assert {body["key"] for _, _, body in sent} == {str(Payment.objects.get().key)}


def test_the_secret_is_in_no_log_and_in_no_error_page(bank, shopper, mug, caplog):
    shopper.browser.raise_request_exception = False
    with caplog.at_level(logging.DEBUG):
        bank.silent = {"start"}
        pages = [press(shopper, mug).content.decode(), shopper.get(return_path()).content.decode()]
        PROVIDERS["bank"].look = None
        pages.append(shopper.get(return_path()).content.decode())
    assert SECRET not in caplog.text
    assert not any(SECRET in page or "Traceback" in page for page in pages)
