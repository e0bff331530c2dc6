"""The background worker: what waits gets done, what has expired goes, and being stopped loses nothing."""

import math
import os
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from threading import Event, Thread

import pytest
from django.contrib.sessions.models import Session
from django.db import OperationalError, connections
from django_tasks import TaskResultStatus, task
from django_tasks_db.models import DBTaskResult

from storefront.carts.models import Cart
from storefront.kit import clock
from storefront.server.models import TaskLease
from storefront.server.worker.lanes import Lane, SweepLane, TaskLane
from storefront.server.worker.sweeps import SWEEPS, Sweep
from storefront.server.worker.tasks import lease_task, requeue_lost_tasks
from storefront.server.worker.worker import Worker
from tests.server.programs import running, wait_until
from tests.worker import run_due_tasks

pytestmark = pytest.mark.slow

done: list[str] = []
stopped = Event()


@task()
def note(text: str) -> None:
    done.append(text)


@task()
def break_down() -> None:
    raise ValueError("no shelf")


@task()
def run_until_interrupted() -> None:
    done.append("started")
    try:
        while True:
            time.sleep(0.01)
    finally:
        done.append("cleaned up")


@task()
def wait_in_silence() -> None:
    done.append("started")
    silent, other = socket.socketpair()
    with silent, other:
        silent.settimeout(1)
        silent.recv(1)


@task()
def end_in_time() -> None:
    done.append("started")
    if stopped.wait(20):
        done.append("ended")


@pytest.fixture(autouse=True)
def nothing_done_yet():
    done.clear()
    stopped.clear()


@contextmanager
def working(*lanes: Lane) -> Iterator[Worker]:
    """A worker with these lanes alone."""
    worker = Worker()
    worker.threads = list(lanes)
    main = Thread(target=worker.run)
    main.start()
    try:
        yield worker
    finally:
        worker.stop()
        stopped.set()
        main.join()


def status_of(result) -> str:
    return DBTaskResult.objects.get(pk=result.id).status


@pytest.mark.django_db(transaction=True)
def test_queued_tasks_run_in_order():
    results = [note.enqueue(text) for text in ("one", "two")]
    run_due_tasks()
    assert done == ["one", "two"]
    assert {status_of(result) for result in results} == {TaskResultStatus.SUCCESSFUL}


@pytest.mark.django_db(transaction=True)
def test_a_delayed_task_waits_for_its_time():
    note.using(run_after=clock.now() + timedelta(hours=1)).enqueue("later")
    run_due_tasks()
    assert done == []


@pytest.mark.django_db(transaction=True)
def test_a_task_that_fails_is_kept_as_failed_and_the_next_one_runs():
    failed, _ = break_down.enqueue(), note.enqueue("next")
    run_due_tasks()
    assert (status_of(failed), done) == (TaskResultStatus.FAILED, ["next"])


@pytest.mark.django_db(transaction=True)
def test_two_workers_run_each_task_once():
    for number in range(20):
        note.enqueue(str(number))

    def work() -> None:
        try:
            run_due_tasks()
        finally:
            connections.close_all()

    threads = [Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(done, key=int) == [str(number) for number in range(20)]


@pytest.mark.django_db(transaction=True)
def test_a_task_in_flight_ends_before_the_worker_stops():
    result, next_one = end_in_time.enqueue(), note.enqueue("next")
    with working(TaskLane("tasks")):
        wait_until(lambda: done, what="the task")
    assert (status_of(result), done) == (TaskResultStatus.SUCCESSFUL, ["started", "ended"])
    assert status_of(next_one) == TaskResultStatus.READY


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("task", "did"), [(run_until_interrupted, ["started", "cleaned up"]), (wait_in_silence, ["started"])]
)
def test_a_task_that_takes_too_long_to_end_is_requeued(monkeypatch, task, did):
    monkeypatch.setattr("storefront.server.worker.worker.STOP_GRACE_SECONDS", 0.1)
    monkeypatch.setattr("storefront.server.worker.lanes.INTERRUPT_SECONDS", 0.3)
    result, lane = task.enqueue(), TaskLane("tasks")
    with working(lane):
        wait_until(lambda: done, what="the task")
    row = DBTaskResult.objects.get(pk=result.id)
    assert (row.status, row.started_at, row.finished_at, done) == (TaskResultStatus.READY, None, None, did)
    assert (row.exception_class_path, row.traceback) == ("", "")
    lane.join()


def lost(task, *, starts: int = 1, minutes: float = 2) -> DBTaskResult:
    """A running task, started this many minutes ago by the last of this many workers."""
    row = DBTaskResult.objects.get(pk=task.id)
    row.status, row.started_at = TaskResultStatus.RUNNING, clock.now() - timedelta(minutes=minutes)
    row.worker_ids = [f"worker-{number}" for number in range(starts)]
    row.save()
    return row


@pytest.mark.django_db(transaction=True)
def test_a_task_whose_worker_was_killed_is_run_by_another():
    lost(note.enqueue("again"))
    assert requeue_lost_tasks(now=clock.now(), limit=10) == 1
    run_due_tasks()
    assert done == ["again"]


@pytest.mark.django_db(transaction=True)
def test_a_leased_task_is_not_requeued():
    row = lost(note.enqueue("long"))
    TaskLease.objects.create(task=row, worker="worker-0", ends_at=clock.now() + timedelta(seconds=30))
    assert requeue_lost_tasks(now=clock.now(), limit=10) == 0
    assert requeue_lost_tasks(now=clock.now() + timedelta(seconds=31), limit=10) == 1


@pytest.mark.django_db(transaction=True)
def test_a_recently_started_task_is_not_requeued():
    lost(note.enqueue("young"), minutes=0.5)
    assert requeue_lost_tasks(now=clock.now(), limit=10) == 0


@pytest.mark.django_db(transaction=True)
def test_a_task_that_kills_every_worker_fails():
    row = lost(note.enqueue("deadly"), starts=2)
    requeue_lost_tasks(now=clock.now(), limit=10)
    row.refresh_from_db()
    assert (row.status, row.traceback) == (
        TaskResultStatus.FAILED,
        "Each worker that ran this was killed while it did.",
    )


@pytest.mark.django_db(transaction=True)
def test_a_worker_renews_its_lease_until_the_task_ends(monkeypatch):
    monkeypatch.setattr("storefront.server.worker.tasks.HEARTBEAT_SECONDS", 0.01)
    row = DBTaskResult.objects.get(pk=note.enqueue("long").id)
    with lease_task(row.pk, "worker-1"):
        lease = wait_until(TaskLease.objects.first, what="the lease")
        assert (lease.task_id, lease.worker, lease.ends_at > clock.now()) == (row.pk, "worker-1", True)
    assert not TaskLease.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_a_short_task_writes_no_lease():
    row = DBTaskResult.objects.get(pk=note.enqueue("short").id)
    with lease_task(row.pk, "worker-1"):
        pass
    assert not TaskLease.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_an_idle_check_reads_and_never_writes(django_assert_num_queries):
    for lane in (TaskLane("mails", queue="mails"), TaskLane("tasks", excluded=["mails"])):
        with django_assert_num_queries(1) as asked:
            lane.run_once()
        assert asked.captured_queries[0]["sql"].startswith("SELECT")


@pytest.mark.django_db(transaction=True)
def test_a_lane_waits_for_an_unreachable_database(monkeypatch):
    lane, tries = TaskLane("tasks"), []

    def away_at_first() -> None:
        tries.append(1)
        if len(tries) == 1:
            raise OperationalError("away")
        lane.stop()

    monkeypatch.setattr(lane, "run_once", away_at_first)
    monkeypatch.setattr("storefront.server.worker.lanes.RETRY_SECONDS", 0.01)
    lane.start()
    lane.join(10)
    assert len(tries) == 2


@pytest.mark.django_db
def test_a_failed_sweep_is_retried_and_stops_no_other():
    calls = []

    def fail(*, now, limit):
        calls.append("failing")
        raise ValueError("no broom")

    def clear(*, now, limit):
        calls.append("clearing")
        return 0

    lane = SweepLane("sweeps", [Sweep("a", timedelta(0), fail), Sweep("b", timedelta(hours=1), clear)])
    lane.run_once()
    lane.run_once()
    assert calls == ["failing", "clearing", "failing"]


def test_a_sweep_runs_batches_until_nothing_is_due():
    left = [2, 2, 1]
    sweep = Sweep("a", timedelta(hours=1), lambda *, now, limit: left.pop(0) if left else 0, limit=2)
    assert sweep.run(now=clock.now(), until=time.monotonic() + 10, stopping=Event()) == 5


def test_a_sweep_stops_between_batches():
    stopping = Event()

    def batch(*, now, limit):
        stopping.set()
        return 1

    assert Sweep("a", timedelta(hours=1), batch).run(now=clock.now(), until=math.inf, stopping=stopping) == 1


def test_a_long_sweep_takes_turns_with_the_others(monkeypatch):
    monkeypatch.setattr("storefront.server.worker.lanes.TURN_SECONDS", 0.05)
    calls = []

    def endless(*, now, limit):
        calls.append("endless")
        return limit

    def short(*, now, limit):
        calls.append("short")
        return 0

    lane = SweepLane("sweeps", [Sweep("a", timedelta(hours=1), endless), Sweep("b", timedelta(0), short)])
    for turn in range(1, 4):
        lane.run_once()
        assert (calls[-1], calls.count("short")) == ("short", turn)
    assert calls.count("endless") >= 3


@pytest.mark.django_db(transaction=True)
def test_every_sweep_runs_on_an_empty_database_and_removes_what_has_expired(shop):
    now = clock.now()
    carts = [
        Cart.objects.create(shop=shop, created_at=now, updated_at=now, expires_at=now + timedelta(days=days))
        for days in (-1, 1)
    ]
    sessions = [
        Session.objects.create(session_key=str(days), session_data="", expire_date=now + timedelta(days=days))
        for days in (-1, 1)
    ]
    old, young = note.enqueue("old"), note.enqueue("young")
    run_due_tasks()
    DBTaskResult.objects.filter(pk=old.id).update(finished_at=now - timedelta(days=15))
    SweepLane("sweeps", SWEEPS).run_once()
    assert list(Cart.objects.all()) == carts[1:]
    assert list(Session.objects.all()) == sessions[1:]
    assert [str(row.pk) for row in DBTaskResult.objects.all()] == [str(young.id)]


def test_the_command_stops_at_once_when_idle_and_uses_next_to_no_time(deployment, tmp_path):
    log = tmp_path / "worker.log"
    with running("worker", log=log, **deployment) as process:
        wait_until(lambda: "worker_started" in log.read_text(), process=process, what="the worker")
        before = cpu_seconds(process.pid)
        time.sleep(3)
        assert cpu_seconds(process.pid) - before < 0.3
        process.send_signal(signal.SIGTERM)
        # The supervisor kills it after ten seconds.
        assert process.wait(timeout=9) == 0
        assert "worker_stopped" in log.read_text()


def cpu_seconds(pid: int) -> float:
    """User and system time of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
