"""Runs queued tasks, and gives back those whose worker was told to stop or was killed."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from threading import Event, Thread
from uuid import UUID

import structlog
from django.db import DatabaseError, InterfaceError, connection
from django.utils.crypto import get_random_string
from django_tasks import DEFAULT_TASK_BACKEND_ALIAS, TaskResultStatus
from django_tasks_db.management.commands.db_worker import Worker as TaskRunner
from django_tasks_db.models import DBTaskResult

from storefront.kit import clock
from storefront.server.models import TaskLease

log = structlog.get_logger(__name__)

# A task that has run for so long, and for so long was not said to be in hand, has lost its worker.
LEASE = timedelta(seconds=60)
# Seconds between two times that a worker says so.
HEARTBEAT = 10.0
# A task that so many workers did not outlive is what ends them.
MOST_STARTS = 5
KILLED = "Each worker that ran this was killed while it did."


class Interrupted(BaseException):
    """Raised inside the task in flight when its time to end is over."""


class Tasks(TaskRunner):
    """django-tasks-db's runner, which says what it has in hand and gives back a task that it had to interrupt."""

    def __init__(self) -> None:
        super().__init__(
            queue_names=["*"],
            interval=0,
            batch=True,
            backend_name=DEFAULT_TASK_BACKEND_ALIAS,
            startup_delay=False,
            max_tasks=None,
            worker_id=get_random_string(32),
            excluded_queue_names=[],
        )

    def run_task(self, db_task_result: DBTaskResult) -> None:
        log.info("task_started", task=db_task_result.task_path)
        began = time.monotonic()
        with in_hand(db_task_result.pk, self.worker_id):
            super().run_task(db_task_result)
        outcome = db_task_result.status.lower()
        if db_task_result.exception_class_path == f"{__name__}.{Interrupted.__qualname__}":
            give_back(db_task_result)
            outcome = "given back"
        log.log(
            40 if outcome == "failed" else 20,
            "task_ended",
            task=db_task_result.task_path,
            outcome=outcome,
            seconds=round(time.monotonic() - began, 3),
            **({"traceback": db_task_result.traceback} if outcome == "failed" else {}),
        )


def give_back(task: DBTaskResult) -> None:
    """Let the next worker run the task from its beginning, unless that has happened already."""
    same = DBTaskResult.objects.filter(pk=task.pk, worker_ids=task.worker_ids)
    same.update(status=TaskResultStatus.READY, started_at=None, finished_at=None, exception_class_path="", traceback="")


def give_back_lost_tasks(*, now: datetime, limit: int) -> int:
    """Let others run the tasks of workers that were killed: how many there were."""
    running = DBTaskResult.objects.running().filter(started_at__lt=now - LEASE)
    lost = list(running.exclude(tasklease__ends_at__gt=now).order_by("started_at")[:limit])
    for task in lost:
        if len(task.worker_ids) < MOST_STARTS:
            log.warning("task_lost", task=task.task_path, task_id=str(task.pk))
            give_back(task)
        else:
            log.error("task_given_up", task=task.task_path, task_id=str(task.pk), reason=KILLED)
            same = DBTaskResult.objects.filter(pk=task.pk, worker_ids=task.worker_ids)
            same.update(status=TaskResultStatus.FAILED, finished_at=now, traceback=KILLED)
    return len(lost)


@contextmanager
def in_hand(task_id: UUID, worker: str) -> Iterator[None]:
    """While the block lasts, say every few seconds that the worker has the task in hand. One that is done by the first
    time is never written about."""
    over = Event()
    thread = Thread(target=_say, args=(task_id, worker, over), name="task lease", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _say(task_id: UUID, worker: str, over: Event) -> None:
    said = False
    try:
        while not over.wait(HEARTBEAT):
            said = _renew(task_id, worker) or said
        if said:
            TaskLease.objects.filter(pk=task_id, worker=worker).delete()
    except (DatabaseError, InterfaceError) as error:
        # It ends by itself.
        log.warning("task_lease_stays", reason=str(error).strip())
    finally:
        connection.close()


def _renew(task_id: UUID, worker: str) -> bool:
    try:
        given = {"worker": worker, "ends_at": clock.now() + LEASE}
        TaskLease.objects.update_or_create(pk=task_id, defaults=given)
    except (DatabaseError, InterfaceError) as error:
        log.warning("task_lease_unsaid", reason=str(error).strip())
        connection.close()
        return False
    return True
