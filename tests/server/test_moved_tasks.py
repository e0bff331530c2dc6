"""Tasks that were queued before an upgrade are run after it, although their modules have moved."""

import pytest
from django.utils.module_loading import import_string
from django_tasks import TaskResultStatus
from django_tasks_db.models import DBTaskResult

from storefront.server.worker.tasks import MOVED
from storefront.staff.jobs import send_password_reset
from tests.worker import run_due_tasks


@pytest.mark.django_db(transaction=True)
def test_a_task_of_the_release_before_is_run():
    send_password_reset.enqueue("nobody@example.com")
    DBTaskResult.objects.update(task_path="storefront.shops.jobs.send_password_reset")
    run_due_tasks()
    assert DBTaskResult.objects.get().status == TaskResultStatus.SUCCESSFUL


@pytest.mark.parametrize("module", MOVED.values())
def test_the_modules_exist(module):
    assert import_string(f"{module}.task")
