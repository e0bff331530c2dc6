"""Nothing that makes one of the worker's lanes wait holds up the others."""

import socket
import time
from contextlib import ExitStack
from datetime import timedelta

import pytest
from django.conf import settings
from django.db import connection
from django_tasks import task
from django_tasks_db.models import DBTaskResult

from storefront.kit import clock
from storefront.orders.jobs import send_order_confirmation
from storefront.server.worker.lanes import SweepLane
from storefront.server.worker.sweeps import DATABASE_SWEEPS, Sweep
from storefront.server.worker.worker import Worker
from storefront.webhooks.models import Event
from tests.mailbox import open_mailbox
from tests.orders.factories import make_order
from tests.server.programs import wait_until
from tests.server.test_worker import working

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]
EVENTS = 100_000
COUNTED = f"SELECT 1 AS number UNION ALL SELECT number + 1 FROM counted WHERE number < {EVENTS}"
# A new public id, and the numbers of the events.
SQL = {
    "postgresql": ("gen_random_uuid()", f"SELECT generate_series(1, {EVENTS}) AS number"),
    "sqlite": ("lower(hex(randomblob(16)))", f"WITH RECURSIVE counted AS ({COUNTED}) SELECT number FROM counted"),
}
done: list[str] = []


@task()
def note(text: str) -> None:
    done.append(text)


@pytest.fixture(autouse=True)
def smtp(settings):
    done.clear()
    settings.EMAIL_BACKEND, settings.EMAIL_HOST = "django.core.mail.backends.smtp.EmailBackend", "127.0.0.1"
    settings.EMAIL_TIMEOUT = 20


def lanes(*names: str) -> list:
    return [thread for thread in Worker().threads if thread.name in names]


def test_every_kind_of_work_has_its_own_thread():
    assert {thread.name for thread in Worker().threads} == {
        "deliveries", "pictures", "mails", "files", "tasks", "payments", "sweeps"
    }  # fmt: skip


def test_a_silent_mail_server_stops_only_mails(shop, settings):
    order = make_order(shop)
    swept = []
    sweeps = SweepLane("sweeps", [Sweep("a", timedelta(0), lambda *, now, limit: swept.append(now) or 0)])
    with socket.create_server(("127.0.0.1", 0)) as silent, ExitStack() as stack:
        settings.EMAIL_PORT = silent.getsockname()[1]
        DBTaskResult.objects.all().delete()
        send_order_confirmation.enqueue(shop.pk, order.pk)
        stack.enter_context(working(*lanes("mails", "tasks"), sweeps))
        connected, _ = silent.accept()
        with connected:
            began = time.monotonic()
            note.enqueue("another task")
            before = len(swept)
            wait_until(lambda: done and len(swept) > before, what="the others", seconds=15)
            mails = DBTaskResult.objects.filter(queue_name="mails")
            assert [row.status for row in mails] == ["RUNNING"]
            assert time.monotonic() - began < settings.EMAIL_TIMEOUT


def test_100_000_expired_events_do_not_delay_a_mail(shop, settings):
    order = make_order(shop)
    Event.objects.all().delete()
    make_expired_events(shop)
    with open_mailbox() as mailbox, working(*lanes("mails"), SweepLane("sweeps", DATABASE_SWEEPS)):
        settings.EMAIL_PORT = mailbox.port
        wait_until(lambda: Event.objects.count() < EVENTS, what="the retention")
        send_order_confirmation.enqueue(shop.pk, order.pk)
        wait_until(lambda: mailbox.messages, what="the mail")
        left = Event.objects.count()
    assert left > 0


def make_expired_events(shop) -> None:
    public_id, numbers = SQL[connection.vendor]
    created_at = connection.ops.adapt_datetimefield_value(clock.now() - timedelta(days=settings.EVENT_DAYS + 1))
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO webhooks_event (public_id, shop_id, topic, data, created_at, sequence) "
            f"SELECT {public_id}, %s, 'order.placed', '{{}}', %s, number FROM ({numbers}) AS numbers",
            [shop.pk, created_at],
        )
