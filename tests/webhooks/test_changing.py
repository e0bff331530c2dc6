"""An app reads one of its webhooks, changes its address, and resumes it (R-HOOK-27)."""

import pytest

from storefront.apps.actions import uninstall_app
from storefront.kit import clock
from storefront.shops.models import AuditEntry
from storefront.webhooks.models import Delivery, Registration
from storefront.webhooks.rules import receiver_of
from tests.answers import without_id
from tests.factories.apps import Installed, install
from tests.races import run_concurrently
from tests.receiver import receiving
from tests.shops.factories import NOW
from tests.webhooks.factories import delivering, emit, listener, register, wait_until

HOOK = "https://app.example.com/hook"


@pytest.fixture
def app(shop) -> Installed:
    return listener(shop, "write_webhooks")


@pytest.fixture
def webhook(app) -> Registration:
    return register(app, HOOK)


def pause(row: Registration, reason: str = "gone") -> None:
    Registration.objects.filter(pk=row.pk).update(
        is_active=False, paused_at=NOW, pause_reason=reason, failing_since=NOW, holds=True
    )


@pytest.mark.rule("R-HOOK-27")
def test_a_webhook_is_read_by_its_topic_and_its_id(app, webhook):
    (listed,) = app.api.get("/webhooks").json()["webhooks"]
    assert (listed["id"], listed["state"], listed["paused_reason"]) == (webhook.pk, "active", None)
    for key in ("order.placed", webhook.pk):
        assert app.api.get(f"/webhooks/{key}").json() == {"webhook": listed}
    assert app.api.delete(f"/webhooks/{webhook.pk}").status_code == 200


@pytest.mark.rule("R-HOOK-4", "R-HOOK-27")
@pytest.mark.parametrize("reason", ["failing", "gone"])
def test_a_paused_webhook_says_why_and_is_resumed(app, webhook, reason):
    pause(webhook, reason)
    found = app.api.get("/webhooks/order.placed").json()["webhook"]
    assert (found["state"], found["paused_reason"]) == ("paused", reason)
    answer = app.api.patch("/webhooks/order.placed", {"state": "active"})
    assert (answer.status_code, answer.json()["webhook"]) == (200, found | {"state": "active", "paused_reason": None})
    webhook.refresh_from_db()
    assert (webhook.paused_at, webhook.failing_since, webhook.holds) == (None, None, True)


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_deliveries_held_for_a_paused_webhook_go_to_its_new_address_once_it_is_resumed(shop, app, webhook):
    pause(webhook)
    emit(shop)
    with delivering(), receiving() as receiver:
        wait_until(lambda: Delivery.objects.filter(status="held").exists())
        assert app.api.patch("/webhooks/order.placed", {"address": receiver.url}).json()["webhook"]["state"] == "paused"
        assert Delivery.objects.get().status == "held"
        app.api.patch("/webhooks/order.placed", {"state": "active"})
        receiver.next()
        wait_until(lambda: Delivery.objects.get().status == "delivered")


@pytest.mark.rule("R-HOOK-27")
def test_the_address_is_changed_without_the_failures_of_the_old_one(app, webhook, django_assert_max_num_queries):
    Registration.objects.update(failing_since=NOW)
    with django_assert_max_num_queries(14):
        answer = app.api.patch("/webhooks/order.placed", {"address": HOOK + "/2"})
    assert (answer.status_code, answer.json()["webhook"]["address"]) == (200, HOOK + "/2")
    row = Registration.objects.get()
    assert (row.failing_since, row.receiver) == (None, receiver_of(app.installation.pk, HOOK + "/2"))


@pytest.mark.rule("R-HOOK-3")
def test_what_changes_nothing_is_not_recorded(app, webhook):
    Registration.objects.update(failing_since=NOW)
    before = Registration.objects.values().get()
    for body in ({}, {"address": HOOK}, {"state": "active"}):
        assert app.api.patch("/webhooks/order.placed", body).status_code == 200
    answer = app.api.post("/webhooks", {"topic": "order.placed", "address": HOOK})
    assert (answer.status_code, answer.json()["webhook"]["id"]) == (200, webhook.pk)
    assert Registration.objects.values().get() == before
    assert AuditEntry.objects.filter(object_type="webhook").count() == 1


@pytest.mark.parametrize(
    ("field", "value"),
    [("address", ""), ("address", None), ("address", "ftp://app.example.com"), ("state", "paused"), ("state", None)],
)
def test_refuses_invalid_fields(app, webhook, field, value):
    answer = app.api.patch("/webhooks/order.placed", {"address": HOOK + "/2", field: value})
    assert (answer.status_code, list(answer.json()["errors"])) == (422, [field])
    assert Registration.objects.get().address == HOOK


@pytest.mark.rule("R-APP-11")
def test_a_webhook_of_another_app_or_shop_is_not_found(app, webhook, shop, other_shop):
    for other in (install(shop, "write_webhooks"), install(other_shop, "write_webhooks")):
        assert other.api.get("/webhooks").json() == {"webhooks": []}
        for method, end, body in (
            ("get", "", None),
            ("patch", "", {"address": HOOK + "/2"}),
            ("delete", "", None),
            ("post", "/test", None),
        ):
            unknown = other.api.call(method, f"/webhooks/never.was{end}", body)
            for key in ("order.placed", webhook.pk):
                answer = other.api.call(method, f"/webhooks/{key}{end}", body)
                assert answer.status_code == 404
                assert without_id(answer) == without_id(unknown)
    assert Registration.objects.get().address == HOOK


@pytest.mark.rule("R-HOOK-3")
@pytest.mark.django_db(transaction=True)
def test_of_concurrent_registrations_of_the_same_one_is_new(app):
    body = {"topic": "order.placed", "address": HOOK}
    statuses = run_concurrently(*[lambda: app.api.post("/webhooks", body).status_code] * 6)
    assert sorted(statuses) == [200] * 5 + [201]
    assert Registration.objects.count() == 1


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("condition", [{}, {"If_Match": "*"}])
def test_a_change_during_the_uninstall_leaves_nothing(shop, condition):
    for _ in range(6):
        app = install(shop, "write_webhooks")
        register(app, HOOK)
        changed, tested, gone = run_concurrently(
            lambda app=app: app.api.patch("/webhooks/order.placed", {"address": HOOK + "/2"}, **condition).status_code,
            lambda app=app: app.api.post("/webhooks/order.placed/test").status_code,
            lambda app=app: uninstall_app(shop=shop, installation=app.installation, now=clock.now()),
        )
        assert (changed in (200, 401), tested in (201, 401), gone) == (True, True, None)
        assert not Registration.objects.exists()
        assert not Delivery.objects.filter(kind="test", status="pending").exists()
