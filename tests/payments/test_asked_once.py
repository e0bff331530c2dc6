"""The page that a shopper comes back to asks the provider once in some seconds, however often it is loaded."""

from datetime import timedelta

import pytest
import time_machine
from django.utils import timezone

from storefront.payments.asking import ASKED_EVERY, claim_question
from storefront.payments.models import Payment
from tests.payments.conftest import account_of, press, return_path
from tests.payments.test_redirect import later
from tests.races import run_concurrently


def test_a_reload_at_once_asks_nobody(bank, shopper, mug):
    press(shopper, mug)
    assert "Your payment is not finished" in shopper.read(return_path())
    for _ in range(5):
        assert "Your payment is being checked" in shopper.read(return_path())
    assert bank.calls == ["start", "look"]
    with time_machine.travel(timezone.now() + ASKED_EVERY):
        assert "Your payment is not finished" in shopper.read(return_path())
    assert bank.calls == ["start", "look", "look"]


def test_what_is_known_is_shown_at_once(bank, shopper, mug):
    press(shopper, mug)
    shopper.read(return_path())
    bank.pay(account_of(bank))
    later(minutes=2)
    assert shopper.get(return_path())["Location"].startswith("/orders/")


def test_another_payment_has_its_own_turn(bank, shop, other_shop, shopper, mug):
    press(shopper, mug)
    payment, now = Payment.objects.get(), timezone.now()
    assert not claim_question(shop=other_shop, payment=payment, now=now)
    assert claim_question(shop=shop, payment=payment, now=now)
    assert not claim_question(shop=shop, payment=payment, now=now + ASKED_EVERY - timedelta(seconds=1))
    assert claim_question(shop=shop, payment=payment, now=now + ASKED_EVERY)


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_eight_windows_at_once_ask_once(bank, shopper, mug):
    press(shopper, mug)
    path = return_path()
    run_concurrently(*[lambda: shopper.get(path).status_code] * 8)
    assert bank.calls.count("look") == 1
