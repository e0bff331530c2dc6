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


class WorkerHeartbeat(models.Model):
    """A running worker, which writes this row every few seconds. A killed worker's row stays and grows old."""

    id = models.CharField(max_length=32, primary_key=True)
    host = models.CharField(max_length=255)
    pid = models.PositiveIntegerField()
    started_at = models.DateTimeField()
    beat_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"worker {self.pid} on {self.host}"
