"""Runs the tasks of files, imports and exports, each in a process of its own with bounds on memory and time. So a file
that is made to hurt ends alone, and with a clear end: neither the worker nor another shop's file notices it.

A shop has one such process at a time, of the STOREFRONT_FILE_PROCESSES that a worker has. What another shop queues
starts at once, whatever the first one has uploaded.
"""

import multiprocessing
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing import resource_tracker
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from uuid import UUID

import structlog
from django.conf import settings
from django.db import DatabaseError, InterfaceError, connection, connections, transaction
from django.utils.crypto import get_random_string
from django_tasks import TaskResultStatus
from django_tasks_db.models import DBTaskResult
from django_tasks_db.utils import exclusive_transaction

from storefront.exports.jobs import export_stopped
from storefront.kit import clock
from storefront.kit.queues import FILES
from storefront.privacy.jobs import request_stopped
from storefront.product_files.jobs import import_stopped
from storefront.product_files.undo_jobs import undo_stopped
from storefront.server.worker import file_process
from storefront.server.worker.lanes import INTERRUPT_SECONDS, POLL_SECONDS, Lane
from storefront.server.worker.tasks import requeue

log = structlog.get_logger(__name__)

# Forked from a process without threads or connections, which has loaded all modules: a start takes milliseconds.
PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload([file_process.__name__])
# What tells the shop that a task was stopped, by the task. It gets the task's arguments and the reason.
TELL: dict[str, Callable[..., None]] = {
    "storefront.product_files.jobs.run_product_import": import_stopped,
    "storefront.product_files.undo_jobs.run_undo": undo_stopped,
    "storefront.exports.jobs.run_export": export_stopped,
    "storefront.privacy.jobs.run_export": request_stopped,
    "storefront.privacy.jobs.run_erasure": request_stopped,
}
KILLED = "it was killed, perhaps because the machine ran out of memory"


@dataclass(frozen=True)
class Running:
    """A task, its process, and when the process is killed, on the monotonic clock."""

    task: DBTaskResult
    process: BaseProcess
    deadline: float


class FileLane(Lane):
    """Starts the processes, and reports those that did not end by themselves."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.worker_id = get_random_string(32)
        self.running: dict[UUID, Running] = {}

    def run_once(self) -> bool:
        self._tell_ended()
        if len(self.running) >= settings.FILE_PROCESSES:
            return False
        task = self._claim()
        if task is None:
            return False
        try:
            self._start(task)
        except OSError:
            requeue(task)
            raise
        return True

    def run(self) -> None:
        """Start tasks until stopped, and wait for those that run."""
        # A SIGTERM for the whole group must not end the process from which the others are forked. It inherits this
        # mask, as do they until they have their handler. The tracker first, since its start unblocks the signal.
        resource_tracker.ensure_running()
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
        super().run()
        while self.running:
            wait([each.process.sentinel for each in self.running.values()], timeout=POLL_SECONDS)
            self._tell_ended()
        connections.close_all()

    def interrupt(self) -> None:
        """Let each process give its task back. One that does not notice that in time is killed."""
        for each in [*self.running.values()]:
            each.process.terminate()
        self.join(INTERRUPT_SECONDS)
        for each in [*self.running.values()]:
            each.process.kill()
            try:
                requeue(each.task)
            except (DatabaseError, InterfaceError) as error:
                # The next worker takes it over when its lease ends.
                log.warning("task_lease_stays", reason=str(error).strip())
        self.running.clear()

    def _claim(self) -> DBTaskResult | None:
        """The oldest task that is due, of a shop without a running one."""
        files = DBTaskResult.objects.filter(queue_name=FILES)
        # No write transaction, which would block SQLite's writers, unless there is something to do.
        if not (files & DBTaskResult.objects.ready()).exists():
            return None
        busy = (files & DBTaskResult.objects.running()).values_list("args_kwargs", flat=True)
        shops = {next(iter(given["args"]), None) for given in busy} - {None}
        waiting = (files & DBTaskResult.objects.ready()).exclude(args_kwargs__args__0__in=shops)
        with exclusive_transaction(connection.alias):
            task = waiting.get_locked()
            if task is not None:
                task.claim(self.worker_id)
        return task

    def _start(self, task: DBTaskResult) -> None:
        process = PROCESSES.Process(
            target=file_process.run, args=(str(task.pk), self.worker_id), name="storefront file"
        )
        process.start()
        self.running[task.pk] = Running(task, process, time.monotonic() + settings.FILE_MINUTES * 60)

    def _tell_ended(self) -> None:
        for id, each in [*self.running.items()]:
            if each.process.is_alive() and time.monotonic() < each.deadline:
                continue
            reason = KILLED
            if each.process.is_alive():
                reason = f"it took longer than {settings.FILE_MINUTES:,} minutes"
                each.process.kill()
            each.process.join()
            if each.process.exitcode and self.stopping.is_set():
                requeue(each.task)
            elif each.process.exitcode:
                self._tell(each.task, reason)
            del self.running[id]

    def _tell(self, task: DBTaskResult, reason: str) -> None:
        """Fail the task, which is not tried again: it would be stopped again."""
        log.error("task_stopped", task=task.task_path, task_id=str(task.pk), reason=reason)
        mine = DBTaskResult.objects.filter(pk=task.pk, status=TaskResultStatus.RUNNING, worker_ids=task.worker_ids)
        with transaction.atomic():
            if mine.update(status=TaskResultStatus.FAILED, finished_at=clock.now(), traceback=reason):
                TELL[task.task_path](*task.args_kwargs["args"], reason=reason, **task.args_kwargs["kwargs"])
