"""Cards that shoppers keep for the next time."""

from dataclasses import replace

import pytest

from storefront.payments.providers.base import ClientStep, Done, Standing

pytestmark = pytest.mark.any_database


def saved(fake, number: str) -> dict[str, str]:
    method = fake("method", number=number)
    return {"customer_reference": method["customer"], "method_reference": method["id"]}


def test_keeps_the_card_that_a_payment_was_made_with(fake, provider, paid):
    told = paid(saves_method=True, email="ada@example.com")

    kept = provider.save_method(told)

    assert kept.customer_reference == fake.objects("customer")[0]["id"]
    assert (kept.label, kept.expires) == ("Visa •••• 4242", "12/34")
    assert fake.objects("customer")[0]["email"] == "ada@example.com"


def test_starting_again_makes_no_second_customer(fake, provider, charge):
    told = charge(saves_method=True)

    assert provider.start(told).report == provider.start(told).report
    assert len(fake.objects("customer")) == 1


def test_keeps_nothing_that_was_forgotten_meanwhile(provider, paid):
    told = paid(saves_method=True)
    provider.forget_method(replace(told, method_reference=provider.save_method(told).method_reference))

    assert provider.save_method(told) is None


def test_keeps_nothing_unasked(fake, provider, paid):
    assert provider.save_method(paid()) is None
    assert fake.objects("customer") == []


def test_charges_a_saved_card_without_the_shopper(fake, provider, charge):
    told = charge(**saved(fake, "4242424242424242"))

    step = provider.charge_saved(told)

    assert isinstance(step, Done)
    assert step.report.standing == Standing.PAID
    assert provider.charge_saved(told).report.reference == step.report.reference
    assert len(fake.objects("charge")) == 1


def test_the_bank_may_ask_for_the_shopper(fake, provider, charge):
    told = charge(**saved(fake, "4000002760003184"))

    step = provider.charge_saved(told)

    assert isinstance(step, ClientStep)
    assert step.data["saved_method"] == told.method_reference
    assert step.data["failure"].startswith("Your bank asks you to confirm this payment.")


def test_a_declined_saved_card_leaves_the_choice_to_the_shopper(fake, provider, charge):
    step = provider.charge_saved(charge(**saved(fake, "4000000000009995")))

    assert isinstance(step, ClientStep)
    assert step.data["saved_method"] == ""
    assert "insufficient funds" in step.data["failure"]


def test_looking_for_a_lost_charge_takes_no_money(fake, provider, charge):
    report = provider.look(charge(**saved(fake, "4242424242424242")))

    assert report.standing == Standing.OPEN
    assert fake.objects("charge") == []


def test_forgets_a_card_once(fake, provider, charge):
    told = charge(**saved(fake, "4242424242424242"))

    provider.forget_method(told)
    provider.forget_method(told)

    assert fake.objects("payment_method")[0]["customer"] is None


@pytest.mark.parametrize("lost", ["payment_intents$", "confirm"])
def test_a_lost_answer_charges_once(fake, provider, charge, lost):
    told = charge(**saved(fake, "4242424242424242"))
    fake.fail(lost, "lost")
    with pytest.raises(Exception, match="APIConnectionError"):
        provider.charge_saved(told)

    assert provider.charge_saved(replace(told)).report.standing == Standing.PAID
    assert len(fake.objects("charge")) == 1
