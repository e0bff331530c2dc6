"""What follows from how a try went: for the delivery, and for its webhook (decisions: Delivery)."""

from datetime import timedelta

import pytest
from django.core import mail

from storefront.kit import clock
from storefront.webhooks.claiming import claim
from storefront.webhooks.dispatch import dispatch
from storefront.webhooks.marking import Outcome, mark
from storefront.webhooks.models import Attempt, Delivery, Registration
from tests.factories.apps import install
from tests.webhooks.factories import happen, register
from tests.worker import run_due_tasks

HOOK = "https://app.example.com/hook"


@pytest.fixture
def app(shop):
    """Has a webhook for order.placed."""
    found = install(shop)
    Delivery.objects.all().delete()
    register(found, HOOK)
    return found


class Trial:
    """One delivery, tried whenever it is due."""

    def __init__(self, shop) -> None:
        happen(shop)
        self.now = clock.now()
        dispatch(self.now)
        self.pk = Delivery.objects.latest("id").pk

    @property
    def row(self) -> Delivery:
        return Delivery.objects.get(pk=self.pk)

    def claim(self):
        self.now = max(self.now, self.row.due_at)
        (message,) = claim({self.row.receiver: 1}, lease="one", now=self.now)
        return message

    def goes(self, status: int | None = None, **how) -> Delivery:
        mark([self.outcome(status, **how)], lease="one", now=self.now)
        return self.row

    def outcome(self, status: int | None = None, **how) -> Outcome:
        return Outcome(self.claim(), started_at=self.now, seconds=0.25, status=status, **how)


def test_a_failed_try_is_made_again_by_the_schedule_until_it_is_given_up(shop, app):
    trial, waits = Trial(shop), []
    for number in range(1, 10):
        row = trial.goes(500)
        assert (row.status, row.tries, row.lease) == ("pending", number, None)
        waits.append(row.due_at - trial.now)
    assert [round(wait / timedelta(hours=1)) for wait in waits[3:]] == pytest.approx([2, 5, 10, 14, 20, 24], abs=3)
    row = trial.goes(500)
    assert (row.status, row.tries, row.ended_at) == ("dead", 10, trial.now)
    assert Attempt.objects.filter(delivery=row).count() == 10


def test_each_try_is_a_row_with_the_first_kib_of_its_answer(shop, app):
    trial = Trial(shop)
    trial.goes(500, answer=b"no\0 " + b"x" * 5000)
    trial.goes(error="No whole answer within 10 s.")
    trial.goes(204)
    first, second, third = Attempt.objects.order_by("number")
    assert (first.number, first.status, first.duration_ms, len(first.answer)) == (1, 500, 250, 1024)
    assert first.answer.startswith("no\ufffd ")
    assert (second.status, second.error, second.answer) == (None, "No whole answer within 10 s.", "")
    assert (third.number, third.status, third.shop_id) == (3, 204, shop.pk)


@pytest.mark.parametrize("status", [200, 201, 202, 204, 299])
def test_any_2xx_is_a_success(shop, app, status):
    assert Trial(shop).goes(status).status == "delivered"


@pytest.mark.parametrize("status", [199, 301, 302, 304, 307, 400, 404, 429, 500, 503])
def test_any_other_answer_is_a_failure(shop, app, status):
    assert Trial(shop).goes(status).status == "pending"


def test_retry_after_is_honoured(shop, app):
    trial = Trial(shop)
    row = trial.goes(429, retry_after=timedelta(hours=3))
    assert row.due_at - trial.now == timedelta(hours=3)


def test_410_switches_the_webhook_off_and_keeps_what_was_to_be_sent(shop, app):
    trial = Trial(shop)
    trial.goes(410)
    registration = Registration.objects.get()
    assert (registration.is_active, registration.pause_reason) == (False, "gone")
    assert claim({trial.row.receiver: 1}, lease="one", now=trial.row.due_at) == []
    assert trial.row.status == "held"


def test_a_410_from_an_address_that_was_replaced_meanwhile_switches_nothing_off(shop, app):
    trial = Trial(shop)
    gone = trial.outcome(410)
    register(app, HOOK + "/new")
    mark([gone], lease="one", now=trial.now)
    assert Registration.objects.get().is_active


def failing_for(trial: Trial, length: timedelta) -> None:
    Registration.objects.update(failing_since=trial.now - length)
    trial.goes(500)


@pytest.mark.django_db(transaction=True)
def test_a_webhook_that_only_failed_for_three_days_is_paused_and_the_merchant_told(shop, app):
    shop.email = "merchant@example.com"
    shop.save()
    trial = Trial(shop)
    failing_for(trial, timedelta(days=3, seconds=-1))
    assert Registration.objects.get().is_active
    failing_for(trial, timedelta(days=3))
    registration = Registration.objects.get()
    assert (registration.is_active, registration.pause_reason) == (False, "failing")
    assert registration.paused_at == trial.now
    run_due_tasks()
    (sent,) = mail.outbox
    assert sent.to == ["merchant@example.com"]
    assert "order.placed" in sent.subject
    assert HOOK in sent.body
    assert f"/admin/webhooks/registration/{registration.pk}/change/" in sent.body


def test_one_success_begins_the_three_days_anew(shop, app):
    trial, other = Trial(shop), Trial(shop)
    failing_for(trial, timedelta(days=2))
    other.now = trial.now
    other.goes(200)
    assert Registration.objects.get().failing_since is None
    trial.goes(500)
    registration = Registration.objects.get()
    assert (registration.failing_since, registration.is_active) == (trial.now, True)


def test_registering_again_resumes_a_paused_webhook(shop, app):
    trial = Trial(shop)
    failing_for(trial, timedelta(days=3))
    register(app, HOOK)
    registration = Registration.objects.get()
    assert (registration.is_active, registration.failing_since, registration.paused_at) == (True, None, None)
    assert registration.pause_reason == ""


def test_a_lease_that_was_lost_marks_nothing_but_the_try(shop, app):
    trial = Trial(shop)
    outcome = trial.outcome(500)
    Delivery.objects.update(lease="two")
    mark([outcome], lease="one", now=trial.now)
    assert (trial.row.status, trial.row.lease, trial.row.tries) == ("pending", "two", 0)
    assert Attempt.objects.count() == 1


def test_a_delivery_that_was_cancelled_in_flight_stays_cancelled(shop, app):
    trial = Trial(shop)
    outcome = trial.outcome(200)
    Delivery.objects.update(status="cancelled", lease=None)
    mark([outcome], lease="one", now=trial.now)
    assert trial.row.status == "cancelled"


def test_marking_twice_changes_nothing(shop, app):
    trial = Trial(shop)
    outcome = trial.outcome(500)
    for _ in range(2):
        mark([outcome], lease="one", now=trial.now)
    assert (trial.row.tries, Attempt.objects.count()) == (1, 1)
