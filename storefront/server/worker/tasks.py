"""Runs queued tasks, and requeues those whose worker was stopped or killed."""

import socket
import time
from collections.abc import Iterator, Sequence
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

from storefront import audit
from storefront.kit import clock, metrics, tracing
from storefront.server.models import TaskLease

log = structlog.get_logger(__name__)

# A task that started longer ago than this, and whose lease has ended, has lost its worker.
LEASE = timedelta(seconds=60)
# Seconds between renewals of a lease.
HEARTBEAT_SECONDS = 10.0
# A task that was started this often is not started again: it is likely what ends its workers.
MAX_STARTS = 2
KILLED = "Each worker that ran this was killed while it did."


class Interrupted(BaseException):
    """Raised inside the running task when the time that it has to end is over."""


class Tasks(TaskRunner):
    """django-tasks-db's runner, which also leases the task that it runs, and requeues one that was interrupted."""

    def __init__(self, queues: Sequence[str] = ("*",), excluded: Sequence[str] = ()) -> None:
        # The task that runs now.
        self.running_row: DBTaskResult | None = None
        super().__init__(
            queue_names=list(queues),
            interval=0,
            batch=True,
            backend_name=DEFAULT_TASK_BACKEND_ALIAS,
            startup_delay=False,
            max_tasks=None,
            worker_id=get_random_string(32),
            excluded_queue_names=list(excluded),
        )

    def run_task(self, db_task_result: DBTaskResult) -> None:
        log.info("task_started", task=db_task_result.task_path)
        started = time.monotonic()
        worker = audit.acting(audit.Actor(audit.Kind.WORKER), place=socket.gethostname())
        self.running_row = db_task_result
        try:
            name = db_task_result.task_path.rpartition(".")[2]
            span = tracing.span(
                f"task {name}", "consumer", storefront__task=name, storefront__task_id=str(db_task_result.pk)
            )
            with lease_task(db_task_result.pk, self.worker_id), worker, span:
                super().run_task(db_task_result)
                if db_task_result.status == TaskResultStatus.FAILED:
                    tracing.annotate(error__type=db_task_result.exception_class_path or "failed")
        finally:
            self.running_row = None
        outcome = db_task_result.status.lower()
        if db_task_result.exception_class_path == f"{__name__}.{Interrupted.__qualname__}":
            requeue(db_task_result)
            outcome = "given back"
        metrics.TASKS_ENDED.labels(db_task_result.task_path.rpartition(".")[2], outcome).inc()
        log.log(
            40 if outcome == "failed" else 20,
            "task_ended",
            task=db_task_result.task_path,
            outcome=outcome,
            seconds=round(time.monotonic() - started, 3),
            **({"traceback": db_task_result.traceback} if outcome == "failed" else {}),
        )


def requeue(task: DBTaskResult) -> None:
    """Let the next worker run the task from its beginning, unless another worker has it already."""
    same = DBTaskResult.objects.filter(pk=task.pk, worker_ids=task.worker_ids).exclude(
        status=TaskResultStatus.SUCCESSFUL
    )
    same.update(status=TaskResultStatus.READY, started_at=None, finished_at=None, exception_class_path="", traceback="")


def requeue_lost_tasks(*, now: datetime, limit: int) -> int:
    """Requeue the tasks of workers that were killed, or fail them after MAX_STARTS. Returns how many there were."""
    running = DBTaskResult.objects.running().filter(started_at__lt=now - LEASE)
    lost = list(running.exclude(tasklease__ends_at__gt=now).order_by("started_at")[:limit])
    for task in lost:
        if len(task.worker_ids) < MAX_STARTS:
            log.warning("task_lost", task=task.task_path, task_id=str(task.pk))
            requeue(task)
        else:
            log.error("task_given_up", task=task.task_path, task_id=str(task.pk), reason=KILLED)
            same = DBTaskResult.objects.filter(pk=task.pk, worker_ids=task.worker_ids)
            same.update(status=TaskResultStatus.FAILED, finished_at=now, traceback=KILLED)
    return len(lost)


@contextmanager
def lease_task(task_id: UUID, worker: str) -> Iterator[None]:
    """Hold the worker's lease of the task during the block: a thread renews it every HEARTBEAT_SECONDS. A task that
    ends before the first renewal writes nothing."""
    done = Event()
    thread = Thread(target=_renew_until, args=(done, task_id, worker), name="task lease", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def _renew_until(done: Event, task_id: UUID, worker: str) -> None:
    is_stored = False
    try:
        while not done.wait(HEARTBEAT_SECONDS):
            is_stored = _renew_lease(task_id, worker) or is_stored
        if is_stored:
            TaskLease.objects.filter(pk=task_id, worker=worker).delete()
    except (DatabaseError, InterfaceError) as error:
        # The lease expires by itself.
        log.warning("task_lease_stays", reason=str(error).strip())
    finally:
        connection.close()


def _renew_lease(task_id: UUID, worker: str) -> bool:
    """Whether the lease could be written."""
    try:
        given = {"worker": worker, "ends_at": clock.now() + LEASE}
        TaskLease.objects.update_or_create(pk=task_id, defaults=given)
    except (DatabaseError, InterfaceError) as error:
        log.warning("task_lease_unsaid", reason=str(error).strip())
        connection.close()
        return False
    return True
