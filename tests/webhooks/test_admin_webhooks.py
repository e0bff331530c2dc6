"""Events, webhooks and deliveries in the admin are shown, resumed and resent."""

import pytest
from django.urls import reverse

from storefront.kit import clock
from storefront.shops.models import AuditEntry
from storefront.webhooks.dispatch import dispatch
from storefront.webhooks.models import Attempt, Delivery, Event, Registration
from tests.factories.apps import install
from tests.staff import Desk, admin_url
from tests.webhooks.factories import emit, listener, register

HOOK = "https://app.example.com/hook"


@pytest.fixture
def registration(shop) -> Registration:
    app = listener(shop)
    return register(app, HOOK)


@pytest.fixture
def dead(shop, registration) -> Delivery:
    emit(shop)
    dispatch(clock.now())
    Delivery.objects.update(status="dead", tries=1, ended_at=clock.now())
    row = Delivery.objects.get()
    Attempt.objects.create(
        shop=shop, delivery=row, number=1, started_at=row.due_at, duration_ms=812, status=500, answer="out of cheese"
    )
    return row


def act(desk: Desk, row, name: str):
    url = reverse(f"admin:webhooks_{row._meta.model_name}_{name}", args=[row.pk])
    return desk.post(url, {"_form_submitted": "on"}, follow=True)


def pause(registration: Registration) -> None:
    Registration.objects.filter(pk=registration.pk).update(
        is_active=False, paused_at=clock.now(), pause_reason="failing", holds=True
    )


def test_a_paused_webhook_is_shown_on_the_dashboard_and_resumed(desk, registration):
    pause(registration)
    assert "Paused" in desk.get(admin_url(Registration, "changelist")).content.decode()
    assert "all deliveries failed for three days" in desk.page(registration).content.decode()
    home = desk.get(reverse("admin:index")).content.decode()
    assert "App-1’s webhook for order.placed is paused: all deliveries failed for three days." in home
    act(desk, registration, "resume")
    registration.refresh_from_db()
    assert (registration.is_active, registration.paused_at, registration.holds) == (True, None, True)
    assert "is paused" not in desk.get(reverse("admin:index")).content.decode()


def test_resumes_selected_webhooks(desk, shop, registration):
    other = register(install(shop), HOOK)
    for row in (registration, other):
        pause(row)
    desk.choose(Registration, "resume_chosen", registration, other)
    assert not Registration.objects.filter(is_active=False).exists()


def test_an_active_webhook_has_no_resume_button(desk, registration):
    url = reverse("admin:webhooks_registration_resume", args=[registration.pk])
    assert url not in desk.page(registration).content.decode()


def test_a_delivery_is_shown_with_its_attempts(desk, dead):
    assert HOOK in desk.get(admin_url(Delivery, "changelist")).content.decode()
    page = desk.page(dead).content.decode()
    for text in ("order.placed", "Dead", "812 ms", "500", "out of cheese", str(dead.message_id)):
        assert text in page


def test_resends_a_delivery(desk, dead):
    act(desk, dead, "replay")
    dead.refresh_from_db()
    assert (dead.status, dead.earlier_tries) == ("pending", 1)
    assert AuditEntry.objects.filter(action="webhook.replayed", actor_kind="staff").count() == 1


def test_resends_selected_deliveries_and_names_those_refused(desk, shop, dead):
    emit(shop)
    dispatch(clock.now())
    Delivery.objects.update(status="delivered", ended_at=clock.now())
    notice = install(shop).installation.deliveries.get()
    answer = desk.choose(Delivery, "replay_chosen", *Delivery.objects.all())
    assert Delivery.objects.filter(kind="event", status="pending").count() == 2
    assert "Only deliveries of events can be replayed." in answer.content.decode()
    notice.refresh_from_db()
    assert notice.earlier_tries == 0


def test_resending_to_a_deleted_webhook_shows_the_reason(desk, dead):
    Registration.objects.all().delete()
    assert "The app no longer has a webhook for this topic." in act(desk, dead, "replay").content.decode()


def test_an_install_notification_shows_no_secret_and_cannot_be_resent(desk, shop):
    app = install(shop)
    notice = app.installation.deliveries.get()
    page = desk.page(notice).content.decode()
    assert app.token not in page
    assert app.secret not in page
    assert reverse("admin:webhooks_delivery_replay", args=[notice.pk]) not in page


@pytest.mark.parametrize("model", [Event, Delivery])
def test_finds_a_webhook_id(desk, shop, dead, model):
    emit(shop)
    url = admin_url(model, "changelist")
    found = desk.get(url, {"q": str(dead.message_id)}).context_data["cl"].queryset
    assert [row.pk for row in found] == [dead.pk if model is Delivery else dead.event_id]
    assert list(desk.get(url, {"q": "order"}).context_data["cl"].queryset) == []
