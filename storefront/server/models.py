from django.db import models
from django_tasks_db.models import DBTaskResult


class TaskLease(models.Model):
    """A worker's lease of the task that it runs, renewed while it runs. A killed worker's lease ends, and the task is
    queued again."""

    task = models.OneToOneField(DBTaskResult, on_delete=models.CASCADE, primary_key=True)
    worker = models.CharField(max_length=64)
    ends_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.task} by {self.worker}"
