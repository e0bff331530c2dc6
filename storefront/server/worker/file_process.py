"""The process of one import or export: its bound on memory, and the end with its worker.

Loaded once by the process from which all of them are forked (`file_lane.py`), with everything that a task needs.
"""

import os
import resource
import signal
from multiprocessing import parent_process
from multiprocessing.connection import wait
from threading import Thread
from typing import Any, NoReturn

import django
from django.apps import apps
from setproctitle import setproctitle

if not apps.ready:
    django.setup()

from django.conf import settings
from django_tasks_db.models import DBTaskResult

from storefront.exports import jobs as exports
from storefront.kit.queues import FILES
from storefront.privacy import jobs as privacy
from storefront.product_files import jobs as product_files
from storefront.server import tracing
from storefront.server.worker.tasks import Interrupted, Tasks

# The modules of the tasks that run here.
TASKS = (exports, privacy, product_files)


def run(task_id: str, worker_id: str) -> None:
    """Run the claimed task. A worker that stops sends SIGTERM: the task is given back, from its beginning."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _interrupt)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])
    setproctitle("storefront file")
    Thread(target=_end_with_parent, name="parent", daemon=True).start()
    bound_memory()
    tasks = Tasks([FILES])
    tasks.worker_id = worker_id
    tracing.start()
    tasks.run_task(DBTaskResult.objects.get(pk=task_id))
    tracing.stop()


def bound_memory() -> None:
    """From here on, more than FILE_BYTES raise MemoryError: what this process allocates, not what it maps of files."""
    resource.setrlimit(resource.RLIMIT_DATA, (settings.FILE_BYTES, settings.FILE_BYTES))


def _interrupt(*_: Any) -> NoReturn:
    raise Interrupted


def _end_with_parent() -> None:
    parent: Any = parent_process()
    wait([parent.sentinel])
    os._exit(1)
