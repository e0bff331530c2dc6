"""The outcome of an attempt changes its delivery and its webhook (R-HOOK-10 to R-HOOK-13)."""

from datetime import timedelta

import pytest
from django.core import mail

from storefront.kit import clock
from storefront.webhooks.claiming import claim
from storefront.webhooks.dispatch import dispatch
from storefront.webhooks.models import Attempt, Delivery, Registration
from storefront.webhooks.recording import Outcome, record_outcomes
from tests.factories.apps import install
from tests.webhooks.factories import emit, listener, register
from tests.worker import run_due_tasks

HOOK = "https://app.example.com/hook"


@pytest.fixture
def app(shop):
    """Has a webhook for order.placed."""
    found = listener(shop)
    register(found, HOOK)
    return found


class TrackedDelivery:
    """One delivery, and the time of its latest attempt."""

    def __init__(self, shop, delivery: Delivery | None = None) -> None:
        """Without a delivery, that of a new event."""
        self.now = clock.now()
        if delivery is None:
            emit(shop)
            self.now = clock.now()
            dispatch(self.now)
        self.pk = (delivery or Delivery.objects.latest("id")).pk

    @property
    def row(self) -> Delivery:
        return Delivery.objects.get(pk=self.pk)

    def claim(self):
        self.now = max(self.now, self.row.due_at)
        (message,) = claim({self.row.receiver: 1}, lease="one", now=self.now)
        return message

    def attempt(self, status: int | None = None, **how) -> Delivery:
        record_outcomes([self.outcome(status, **how)], lease="one", now=self.now)
        return self.row

    def outcome(self, status: int | None = None, **how) -> Outcome:
        return Outcome(self.claim(), started_at=self.now, seconds=0.25, status=status, **how)


def test_retries_by_the_schedule_until_the_delivery_is_dead(shop, app):
    tracked, waits = TrackedDelivery(shop), []
    for number in range(1, 10):
        row = tracked.attempt(500)
        assert (row.status, row.tries, row.lease) == ("pending", number, None)
        waits.append(row.due_at - tracked.now)
    assert [round(wait / timedelta(hours=1)) for wait in waits[3:]] == pytest.approx([2, 5, 10, 14, 20, 24], abs=3)
    row = tracked.attempt(500)
    assert (row.status, row.tries, row.ended_at) == ("dead", 10, tracked.now)
    assert Attempt.objects.filter(delivery=row).count() == 10


@pytest.mark.rule("R-HOOK-28")
@pytest.mark.parametrize("status", [200, 500])
def test_a_test_has_one_attempt(shop, status):
    tester = install(shop, "write_webhooks")
    Delivery.objects.all().delete()
    register(tester, HOOK)
    tester.api.post("/webhooks/order.placed/test")
    tracked = TrackedDelivery(shop, Delivery.objects.get(kind="test"))
    row = tracked.attempt(status)
    assert (row.status, row.tries, row.ended_at) == ("delivered" if status == 200 else "dead", 1, tracked.now)


def test_records_each_attempt_with_the_first_kib_of_its_answer(shop, app):
    tracked = TrackedDelivery(shop)
    tracked.attempt(500, answer=b"no\0 " + b"x" * 5000)
    tracked.attempt(error="No whole answer within 10 s.")
    tracked.attempt(204)
    first, second, third = Attempt.objects.order_by("number")
    assert (first.number, first.status, first.duration_ms, len(first.answer)) == (1, 500, 250, 1024)
    assert first.answer.startswith("no\ufffd ")
    assert (second.status, second.error, second.answer) == (None, "No whole answer within 10 s.", "")
    assert (third.number, third.status, third.shop_id) == (3, 204, shop.pk)


@pytest.mark.rule("R-HOOK-11")
@pytest.mark.parametrize("status", [200, 201, 202, 204, 299])
def test_any_2xx_is_a_success(shop, app, status):
    assert TrackedDelivery(shop).attempt(status).status == "delivered"


@pytest.mark.rule("R-HOOK-11")
@pytest.mark.parametrize("status", [199, 301, 302, 304, 307, 400, 404, 429, 500, 503])
def test_any_other_status_is_a_failure(shop, app, status):
    assert TrackedDelivery(shop).attempt(status).status == "pending"


@pytest.mark.rule("R-HOOK-10")
def test_retry_after_is_honoured(shop, app):
    tracked = TrackedDelivery(shop)
    row = tracked.attempt(429, retry_after=timedelta(hours=3))
    assert row.due_at - tracked.now == timedelta(hours=3)


@pytest.mark.rule("R-HOOK-12")
def test_410_pauses_the_webhook_and_holds_its_deliveries(shop, app):
    tracked = TrackedDelivery(shop)
    tracked.attempt(410)
    registration = Registration.objects.get()
    assert (registration.is_active, registration.pause_reason) == (False, "gone")
    assert claim({tracked.row.receiver: 1}, lease="one", now=tracked.row.due_at) == []
    assert tracked.row.status == "held"


def test_a_410_from_a_replaced_address_pauses_nothing(shop, app):
    tracked = TrackedDelivery(shop)
    gone = tracked.outcome(410)
    register(app, HOOK + "/new")
    record_outcomes([gone], lease="one", now=tracked.now)
    assert Registration.objects.get().is_active


def failing_for(tracked: TrackedDelivery, length: timedelta) -> None:
    Registration.objects.update(failing_since=tracked.now - length)
    tracked.attempt(500)


@pytest.mark.rule("R-HOOK-13")
@pytest.mark.django_db(transaction=True)
def test_pauses_a_webhook_after_three_days_of_failures_and_mails_the_merchant(shop, app):
    shop.email = "merchant@example.com"
    shop.save()
    tracked = TrackedDelivery(shop)
    failing_for(tracked, timedelta(days=3, seconds=-1))
    assert Registration.objects.get().is_active
    failing_for(tracked, timedelta(days=3))
    registration = Registration.objects.get()
    assert (registration.is_active, registration.pause_reason) == (False, "failing")
    assert registration.paused_at == tracked.now
    run_due_tasks()
    (sent,) = mail.outbox
    assert sent.to == ["merchant@example.com"]
    assert "order.placed" in sent.subject
    assert HOOK in sent.body
    assert f"/admin/webhooks/registration/{registration.pk}/change/" in sent.body


@pytest.mark.rule("R-HOOK-13")
def test_a_success_resets_the_three_days(shop, app):
    tracked, other = TrackedDelivery(shop), TrackedDelivery(shop)
    failing_for(tracked, timedelta(days=2))
    other.now = tracked.now
    other.attempt(200)
    assert Registration.objects.get().failing_since is None
    tracked.attempt(500)
    registration = Registration.objects.get()
    assert (registration.failing_since, registration.is_active) == (tracked.now, True)


@pytest.mark.parametrize("statuses", [(200, 500), (500, 200)])
def test_a_success_in_a_batch_with_failures_counts_as_success(shop, other_shop, app, statuses):
    elsewhere = install(other_shop)
    register(elsewhere, HOOK)
    deliveries = [TrackedDelivery(shop), TrackedDelivery(shop)]
    since = deliveries[1].now - timedelta(days=3)
    Registration.objects.update(failing_since=since)
    messages = sorted(
        claim({deliveries[0].row.receiver: 2}, lease="one", now=deliveries[1].now), key=lambda each: each.tries
    )
    given = {"started_at": deliveries[1].now, "seconds": 0.25}
    outcomes = [Outcome(each, status=status, **given) for each, status in zip(messages, statuses, strict=True)]
    record_outcomes(outcomes, lease="one", now=deliveries[1].now)
    registration = Registration.objects.get(shop=shop)
    assert (registration.failing_since, registration.is_active) == (None, True)
    assert Registration.objects.get(shop=other_shop).failing_since == since


@pytest.mark.rule("R-HOOK-3")
def test_registering_again_resumes_a_paused_webhook(shop, app):
    tracked = TrackedDelivery(shop)
    failing_for(tracked, timedelta(days=3))
    register(app, HOOK)
    registration = Registration.objects.get()
    assert (registration.is_active, registration.failing_since, registration.paused_at) == (True, None, None)
    assert registration.pause_reason == ""


@pytest.mark.parametrize("status", [200, 500])
def test_after_a_lost_lease_only_the_attempt_is_recorded(shop, app, status):
    tracked = TrackedDelivery(shop)
    outcome = tracked.outcome(status)
    Delivery.objects.update(lease="two")
    record_outcomes([outcome], lease="one", now=tracked.now)
    assert (tracked.row.status, tracked.row.lease, tracked.row.tries) == ("pending", "two", 0)
    assert Attempt.objects.count() == 1


def test_a_delivery_cancelled_in_flight_stays_cancelled(shop, app):
    tracked = TrackedDelivery(shop)
    outcome = tracked.outcome(200)
    Delivery.objects.update(status="cancelled", lease=None)
    record_outcomes([outcome], lease="one", now=tracked.now)
    assert tracked.row.status == "cancelled"


def test_recording_an_outcome_twice_changes_nothing(shop, app):
    tracked = TrackedDelivery(shop)
    outcome = tracked.outcome(500)
    for _ in range(2):
        record_outcomes([outcome], lease="one", now=tracked.now)
    assert (tracked.row.tries, Attempt.objects.count()) == (1, 1)
