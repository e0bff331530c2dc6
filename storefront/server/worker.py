"""The background worker: runs queued tasks one after another, and between them what is due of the sweeps.

Any number of workers may run. A task is claimed by one of them in a transaction of its own; a sweep that two run at
once finds less to do.
"""

import signal
import time
from threading import Event
from types import FrameType

import structlog
from django.core.exceptions import ImproperlyConfigured
from django.db import DatabaseError, InterfaceError, close_old_connections, connections
from django.utils.crypto import get_random_string
from django_tasks import DEFAULT_TASK_BACKEND_ALIAS, TaskResultStatus
from django_tasks_db.management.commands.db_worker import Worker as TaskRunner
from django_tasks_db.models import DBTaskResult

from storefront.kit import clock
from storefront.server.sweeps import SWEEPS, Sweep

log = structlog.get_logger(__name__)

# Seconds between looks at an empty queue. A look is one indexed read and takes no lock.
INTERVAL = 1.0
# Seconds that a task in flight has to end once the worker is told to stop; whoever told it waits ten.
GRACE = 8
# Seconds before trying again a database that cannot be reached.
PATIENCE = 5.0


class Interrupted(BaseException):
    """Raised inside the task in flight when its time to end is over."""


class Tasks(TaskRunner):
    """django-tasks-db's runner, which gives back a task that it had to interrupt."""

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
    """Let the next worker run the task from its beginning."""
    DBTaskResult.objects.filter(pk=task.pk).update(
        status=TaskResultStatus.READY, started_at=None, finished_at=None, exception_class_path="", traceback=""
    )


class Worker:
    """The loop. `stop` may be called from a signal handler."""

    def __init__(self, sweeps: list[Sweep] = SWEEPS) -> None:
        self.tasks = Tasks()
        self.told_to_stop = Event()
        self.sweeps = sweeps
        self.due = dict.fromkeys((sweep.name for sweep in sweeps), 0.0)

    def run(self) -> None:
        """Work until told to stop; a database that is away is waited for."""
        log.info("worker_started")
        while not self.told_to_stop.is_set():
            pause = INTERVAL
            try:
                close_old_connections()
                self.run_once()
            except Interrupted:
                break
            except (DatabaseError, InterfaceError) as error:
                log.warning("database_away", reason=str(error))
                connections.close_all()
                pause = PATIENCE
            self.told_to_stop.wait(pause)
        log.info("worker_stopped")

    def run_once(self) -> None:
        """Every task that waits, then each sweep that is due."""
        # The runner opens a write transaction to look; an idle worker must not stop SQLite's writers each second.
        if DBTaskResult.objects.ready().exists():
            self.tasks.run()
        for sweep in self.sweeps:
            if not self.told_to_stop.is_set() and time.monotonic() >= self.due[sweep.name]:
                self.sweep(sweep)

    def sweep(self, sweep: Sweep) -> None:
        self.due[sweep.name] = time.monotonic() + sweep.every.total_seconds()
        try:
            cleared = sweep.run(now=clock.now(), told_to_stop=self.told_to_stop.is_set)
        except (DatabaseError, InterfaceError, ImproperlyConfigured):
            raise
        except Exception:
            log.exception("sweep_failed", sweep=sweep.name)
        else:
            if cleared:
                log.info("swept", sweep=sweep.name, cleared=cleared)

    def stop(self) -> None:
        """Begin nothing more; what is in flight has GRACE seconds to end."""
        self.told_to_stop.set()
        self.tasks.running = False

    def stop_on_signals(self) -> None:
        def told(_number: int, _frame: FrameType | None) -> None:
            if not self.told_to_stop.is_set():
                self.stop()
                signal.alarm(GRACE)

        def out_of_time(_number: int, _frame: FrameType | None) -> None:
            raise Interrupted

        signal.signal(signal.SIGTERM, told)
        signal.signal(signal.SIGINT, told)
        signal.signal(signal.SIGALRM, out_of_time)


def run() -> None:
    """Be a worker until a signal says stop."""
    worker = Worker()
    worker.stop_on_signals()
    worker.run()
