"""One shop's many tasks do not hold up another's: in each lane, shops take turns."""

from collections.abc import Iterator
from importlib import import_module
from inspect import signature
from pkgutil import walk_packages

import pytest
from django.apps import apps
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django_tasks import task
from django_tasks.base import Task
from django_tasks_db.models import DBTaskResult

import storefront
from storefront.exports.jobs import run_export
from storefront.kit.queues import MAILS
from storefront.orders.jobs import send_order_confirmation
from storefront.server.worker.file_lane import FileLane
from storefront.server.worker.lanes import TaskLane
from storefront.staff.jobs import send_password_reset
from tests.orders.factories import make_order
from tests.races import run_concurrently

done: list[tuple] = []


@task()
def note(shop_id: int | None, text: str) -> None:
    done.append((shop_id, text))


@task(queue_name=MAILS)
def note_mail(shop_id: int | None, text: str) -> None:
    done.append((shop_id, text))


@pytest.fixture(autouse=True)
def nothing_done_yet() -> None:
    done.clear()


LANES = {"mails": (note_mail, {"queue": MAILS}), "tasks": (note, {"excluded": [MAILS]})}


@pytest.mark.parametrize("name", LANES)
@pytest.mark.django_db(transaction=True)
def test_a_shop_with_many_tasks_has_one_before_every_other_has_had_its_turn(name):
    queued, given = LANES[name]
    for number in range(4):
        queued.enqueue(1, f"{number}")
    for shop in (2, None, 3):
        queued.enqueue(shop, "a")
        queued.enqueue(shop, "b")
    lane = TaskLane(name, **given)
    while lane.run_once():
        if len(done) == 5:
            queued.enqueue(4, "came later")
    assert done == [
        *((1, "0"), (2, "a"), (None, "a"), (3, "a")),
        *((1, "1"), (2, "b"), (None, "b"), (3, "b"), (4, "came later")),
        *((1, "2"), (1, "3")),
    ]


@pytest.mark.django_db(transaction=True)
def test_two_workers_run_each_task_once():
    tasks = 20
    for number in range(tasks):
        note.enqueue(number % 2, f"{number}")

    def work() -> None:
        lane = TaskLane("tasks", excluded=[MAILS])
        while lane.run_once():
            pass

    run_concurrently(work, work)
    assert sorted(int(text) for _, text in done) == list(range(tasks))
    assert {len(row.worker_ids) for row in DBTaskResult.objects.all()} == {1}


@pytest.mark.django_db(transaction=True)
def test_a_lane_without_work_reads_once_and_writes_nothing():
    lane = TaskLane("mails", queue=MAILS)
    note_mail.enqueue(1, "a")
    while lane.run_once():
        pass
    with CaptureQueriesContext(connection) as asked:
        assert not lane.run_once()
    assert len(asked) == 1
    assert asked[0]["sql"].startswith("SELECT")


@pytest.mark.django_db(transaction=True)
def test_one_shops_long_queue_is_read_once_a_second(monkeypatch):
    """Looking for other shops reads all that waits: done before each task, a queue would take quadratic time."""
    monkeypatch.setattr("storefront.server.worker.lanes.POLL_SECONDS", 3600)
    for number in range(6):
        note_mail.enqueue(1, f"{number}")
    lane = TaskLane("mails", queue=MAILS)
    with CaptureQueriesContext(connection) as asked:
        while lane.run_once():
            pass
    assert len(done) == 6
    assert len([each for each in asked if "NOT (" in each["sql"] and "args_kwargs" in each["sql"]]) == 1


@pytest.mark.django_db(transaction=True)
def test_a_file_whose_process_cannot_start_waits_for_the_next_try(monkeypatch):
    run_export.enqueue(1, 1)
    lane = FileLane("files")

    def out_of_processes(_task: DBTaskResult) -> None:
        raise BlockingIOError("Resource temporarily unavailable")

    monkeypatch.setattr(lane, "_start", out_of_processes)
    with pytest.raises(BlockingIOError):
        lane.run_once()
    assert DBTaskResult.objects.ready().count() == 1
    assert not lane.running


def tasks() -> Iterator[Task]:
    for module in walk_packages(storefront.__path__, "storefront."):
        if module.name.endswith(("jobs", "mails", "thumbnails", "mail_samples")):
            yield from (each for each in vars(import_module(module.name)).values() if isinstance(each, Task))


def test_the_first_argument_of_every_task_is_its_shop():
    found = {each.module_path: next(iter(signature(each.func).parameters)) for each in tasks()}
    assert len(found) > 20
    assert set(found.values()) == {"shop_id"}


@pytest.mark.django_db
def test_a_mail_that_waited_for_the_update_is_sent(shop, other_shop, mailoutbox):
    order = make_order(other_shop)
    DBTaskResult.objects.all().delete()
    send_order_confirmation.enqueue(order.pk, 2)
    send_password_reset.enqueue("ada@example.com", 1)
    import_module("storefront.server.migrations.0002_shops_of_tasks").add_shops(apps, None)
    given = [row.args_kwargs["args"] for row in DBTaskResult.objects.order_by("enqueued_at")]
    assert given == [[other_shop.pk, order.pk, 2], [None, "ada@example.com", 1]]
    send_order_confirmation.call(*given[0])
    assert [each.to for each in mailoutbox] == [[order.email]]
