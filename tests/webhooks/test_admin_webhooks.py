"""Events, webhooks and deliveries in the admin: looked at, resumed, sent again."""

import pytest
from django.contrib.admin.models import LogEntry
from django.urls import reverse

from storefront.kit import clock
from storefront.webhooks.dispatch import dispatch
from storefront.webhooks.models import Attempt, Delivery, Event, Registration
from tests.factories.apps import install
from tests.staff import Desk, admin_url, make_staff, open_desk
from tests.webhooks.factories import happen, register

HOOK = "https://app.example.com/hook"


@pytest.fixture
def desk(shop) -> Desk:
    return open_desk(make_staff(shop))


@pytest.fixture
def registration(shop) -> Registration:
    app = install(shop)
    Delivery.objects.all().delete()
    return register(app, HOOK)


@pytest.fixture
def dead(shop, registration) -> Delivery:
    happen(shop)
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


def test_a_paused_webhook_is_marked_told_of_at_home_and_resumed(desk, registration):
    pause(registration)
    assert "Paused" in desk.get(admin_url(Registration, "changelist")).content.decode()
    assert "nothing got through for three days" in desk.page(registration).content.decode()
    home = desk.get(reverse("admin:index")).content.decode()
    assert "App-1’s webhook for order.placed is paused: nothing got through for three days." in home
    act(desk, registration, "resume")
    registration.refresh_from_db()
    assert (registration.is_active, registration.paused_at, registration.holds) == (True, None, True)
    assert "is paused" not in desk.get(reverse("admin:index")).content.decode()


def test_many_are_resumed_at_once(desk, shop, registration):
    other = register(install(shop), HOOK)
    for row in (registration, other):
        pause(row)
    desk.choose(Registration, "resume_chosen", registration, other)
    assert not Registration.objects.filter(is_active=False).exists()


def test_an_active_webhook_offers_no_resuming(desk, registration):
    url = reverse("admin:webhooks_registration_resume", args=[registration.pk])
    assert url not in desk.page(registration).content.decode()


def test_a_delivery_is_shown_with_its_tries(desk, dead):
    assert HOOK in desk.get(admin_url(Delivery, "changelist")).content.decode()
    page = desk.page(dead).content.decode()
    for text in ("order.placed", "Dead", "812 ms", "500", "out of cheese", str(dead.message_id)):
        assert text in page


def test_a_delivery_is_sent_again(desk, dead):
    act(desk, dead, "replay")
    dead.refresh_from_db()
    assert (dead.status, dead.earlier_tries) == ("pending", 1)
    assert LogEntry.objects.get().get_change_message() == "Sent again."


def test_many_are_sent_again_and_those_that_cannot_be_are_named(desk, shop, dead):
    happen(shop)
    dispatch(clock.now())
    Delivery.objects.update(status="delivered", ended_at=clock.now())
    notice = install(shop).installation.deliveries.get()
    answer = desk.choose(Delivery, "replay_chosen", *Delivery.objects.all())
    assert Delivery.objects.filter(kind="event", status="pending").count() == 2
    assert "Only deliveries of events can be replayed." in answer.content.decode()
    notice.refresh_from_db()
    assert notice.earlier_tries == 0


def test_a_webhook_that_is_gone_is_said_so(desk, dead):
    Registration.objects.all().delete()
    assert "has no webhook for this topic any more" in act(desk, dead, "replay").content.decode()


def test_an_install_notice_shows_no_secret_and_offers_no_replay(desk, shop):
    app = install(shop)
    notice = app.installation.deliveries.get()
    page = desk.page(notice).content.decode()
    assert app.token not in page
    assert app.secret not in page
    assert reverse("admin:webhooks_delivery_replay", args=[notice.pk]) not in page


@pytest.mark.parametrize("model", [Event, Delivery])
def test_a_webhook_id_is_found(desk, shop, dead, model):
    happen(shop)
    url = admin_url(model, "changelist")
    found = desk.get(url, {"q": str(dead.message_id)}).context_data["cl"].queryset
    assert [row.pk for row in found] == [dead.pk if model is Delivery else dead.event_id]
    assert list(desk.get(url, {"q": "order"}).context_data["cl"].queryset) == []


def test_only_owners_look_at_webhooks_and_deliveries(shop, dead):
    clerk = open_desk(make_staff(shop, "clerk", "staff"))
    for model in (Registration, Delivery):
        assert clerk.get(admin_url(model, "changelist")).status_code == 403
