import uuid

from django.db import models
from django.db.models import Q

from storefront.kit.storage import private_files
from storefront.shops.models import Shop


class Export(models.Model):
    """A file with the records of a list, made by the worker. Deleted with its file a day after it has ended."""

    class Kind(models.TextChoices):
        PRODUCTS = "products"
        INVENTORY = "inventory"
        ORDERS = "orders"
        CUSTOMERS = "customers"

    class State(models.TextChoices):
        WAITING = "waiting"
        RUNNING = "running"
        DONE = "done"
        FAILED = "failed"

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, db_index=False)
    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False, help_text="In the file's URL.")
    kind = models.CharField(max_length=10, choices=Kind)
    members = models.JSONField(null=True, help_text="Names of the members of each record; null: those of the list.")
    since = models.DateTimeField(null=True, help_text="Only records that were changed since then.")
    state = models.CharField(max_length=10, choices=State, default=State.WAITING)
    file = models.FileField(upload_to="exports/", storage=private_files, max_length=500, blank=True)
    rows = models.PositiveIntegerField(default=0, help_text="Lines written so far.")
    size = models.BigIntegerField(default=0, help_text="The size of the file, in bytes.")
    next = models.CharField(max_length=400, blank=True, help_text="Cursor that goes on where the file ends.")
    reason = models.CharField(max_length=255, blank=True, help_text="Why it failed.")
    created_at = models.DateTimeField()
    heartbeat_at = models.DateTimeField(null=True, help_text="Last sign of life of the worker.")
    finished_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(fields=["shop", "state"], name="export_of_shop"),
            models.Index(fields=["finished_at"], condition=Q(finished_at__isnull=False), name="export_ended"),
            models.Index(fields=["heartbeat_at"], condition=Q(state="running"), name="export_running"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.pk}"
