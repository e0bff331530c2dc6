"""The background worker: what waits gets done, what has expired goes, and being stopped loses nothing."""

import os
import signal
import time
from datetime import timedelta
from pathlib import Path
from threading import Thread

import pytest
from django.contrib.sessions.models import Session
from django.db import OperationalError, connections
from django_tasks import TaskResultStatus, task
from django_tasks_db.models import DBTaskResult

from storefront.carts.models import Cart
from storefront.kit import clock
from storefront.server.models import TaskLease
from storefront.server.worker import sweeps
from storefront.server.worker.sweeps import Sweep
from storefront.server.worker.tasks import lease_task, requeue_lost_tasks
from storefront.server.worker.worker import Worker
from tests.server.programs import running, wait_until

pytestmark = pytest.mark.slow

done: list[str] = []


@task()
def note(text: str) -> None:
    done.append(text)


@task()
def break_down() -> None:
    raise ValueError("no shelf")


@task()
def stop_the_worker() -> None:
    """A task that is running when the worker gets a stop signal, and does not end in time."""
    signal.raise_signal(signal.SIGTERM)
    signal.raise_signal(signal.SIGALRM)


@task()
def end_in_time() -> None:
    signal.raise_signal(signal.SIGTERM)
    done.append("ended")


@pytest.fixture(autouse=True)
def nothing_done_yet():
    done.clear()


@pytest.fixture
def signals():
    """Restores this process's signal handlers after the test."""
    kept = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT, signal.SIGALRM)}
    yield
    signal.alarm(0)
    for number, handler in kept.items():
        signal.signal(number, handler)


def status_of(result) -> str:
    return DBTaskResult.objects.get(pk=result.id).status


@pytest.mark.django_db(transaction=True)
def test_queued_tasks_run_in_order():
    results = [note.enqueue(text) for text in ("one", "two")]
    Worker(sweeps=[]).run_once()
    assert done == ["one", "two"]
    assert {status_of(result) for result in results} == {TaskResultStatus.SUCCESSFUL}


@pytest.mark.django_db(transaction=True)
def test_a_delayed_task_waits_for_its_time():
    note.using(run_after=clock.now() + timedelta(hours=1)).enqueue("later")
    Worker(sweeps=[]).run_once()
    assert done == []


@pytest.mark.django_db(transaction=True)
def test_a_task_that_fails_is_kept_as_failed_and_the_next_one_runs():
    failed, _ = break_down.enqueue(), note.enqueue("next")
    Worker(sweeps=[]).run_once()
    assert (status_of(failed), done) == (TaskResultStatus.FAILED, ["next"])


@pytest.mark.django_db(transaction=True)
def test_two_workers_run_each_task_once():
    for number in range(20):
        note.enqueue(str(number))

    def work() -> None:
        try:
            Worker(sweeps=[]).run_once()
        finally:
            connections.close_all()

    threads = [Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(done, key=int) == [str(number) for number in range(20)]


@pytest.mark.django_db(transaction=True)
def test_a_task_in_flight_ends_before_the_worker_stops(signals):
    result, next_one = end_in_time.enqueue(), note.enqueue("next")
    worker = Worker(sweeps=[])
    worker.stop_on_signals()
    worker.run()
    assert (status_of(result), done) == (TaskResultStatus.SUCCESSFUL, ["ended"])
    assert status_of(next_one) == TaskResultStatus.READY


@pytest.mark.django_db(transaction=True)
def test_a_task_that_takes_too_long_to_end_is_requeued(signals):
    result = stop_the_worker.enqueue()
    worker = Worker(sweeps=[])
    worker.stop_on_signals()
    worker.run()
    row = DBTaskResult.objects.get(pk=result.id)
    assert (row.status, row.started_at, row.finished_at) == (TaskResultStatus.READY, None, None)
    assert (row.exception_class_path, row.traceback) == ("", "")


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
    Worker(sweeps=[]).run_once()
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
    row = lost(note.enqueue("deadly"), starts=5)
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
    worker = Worker(sweeps=[])
    with django_assert_num_queries(1) as asked:
        worker.run_once()
    assert asked.captured_queries[0]["sql"].startswith("SELECT")


@pytest.mark.django_db(transaction=True)
def test_the_worker_waits_for_an_unreachable_database(monkeypatch):
    worker, tries = Worker(sweeps=[]), []

    def away_at_first() -> None:
        tries.append(1)
        if len(tries) == 1:
            raise OperationalError("away")
        worker.stop()

    monkeypatch.setattr(worker, "run_once", away_at_first)
    monkeypatch.setattr("storefront.server.worker.worker.RETRY_SECONDS", 0.01)
    worker.run()
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

    worker = Worker(sweeps=[Sweep("a", timedelta(0), fail), Sweep("b", timedelta(hours=1), clear)])
    worker.run_once()
    worker.run_once()
    assert calls == ["failing", "clearing", "failing"]


def test_a_sweep_runs_batches_until_nothing_is_due():
    left = [2, 2, 1]
    sweep = Sweep("a", timedelta(hours=1), lambda *, now, limit: left.pop(0) if left else 0, limit=2)
    assert sweep.run(now=clock.now()) == 5


def test_a_sweep_stops_between_batches():
    sweep = Sweep("a", timedelta(hours=1), lambda *, now, limit: 1)
    answers = iter([False, False, True])
    assert sweep.run(now=clock.now(), should_stop=lambda: next(answers)) == 2


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
    Worker(sweeps=[]).run_once()
    DBTaskResult.objects.filter(pk=old.id).update(finished_at=now - timedelta(days=15))
    Worker(sweeps=sweeps.SWEEPS).run_once()
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
        assert process.wait(timeout=3) == 0
        assert "worker_stopped" in log.read_text()


def cpu_seconds(pid: int) -> float:
    """User and system time of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
