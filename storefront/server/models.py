from django.db import models
from django_tasks_db.models import DBTaskResult


class TaskLease(models.Model):
    """That a worker has a task in hand, which it says again and again while it runs. One that was killed stops saying
    so, and then the task is another's."""

    task = models.OneToOneField(DBTaskResult, on_delete=models.CASCADE, primary_key=True)
    worker = models.CharField(max_length=64)
    ends_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.task} by {self.worker}"
