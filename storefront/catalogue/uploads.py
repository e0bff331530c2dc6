"""The table of uploaded product files, apart from what a shop sells."""

from django.core.files.storage import Storage, storages
from django.db import models
from django.db.models import Q

from storefront.shops.models import Shop, User


def private_files() -> Storage:
    """Where uploads wait that nobody but the shop may read; never served."""
    return storages["private"]


class ProductImport(models.Model):
    """A product file that a merchant uploaded, and what became of it. The file goes when the import ends."""

    class State(models.TextChoices):
        WAITING = "waiting"
        RUNNING = "running"
        DONE = "done"
        FAILED = "failed", "stopped"

    class Format(models.TextChoices):
        AUTO = "auto", "Find out by itself"
        WOOCOMMERCE = "woocommerce", "WooCommerce CSV"
        SHOPIFY = "shopify", "Shopify CSV"
        NATIVE = "native", "Native (JSON Lines)"

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE)
    user = models.ForeignKey(User, null=True, editable=False, on_delete=models.SET_NULL, related_name="+")
    file = models.FileField(upload_to="imports/", storage=private_files, max_length=500, blank=True)
    file_name = models.CharField("file", max_length=255, editable=False)
    format = models.CharField(max_length=15, choices=Format, default=Format.AUTO)
    update = models.BooleanField(
        "change products that are there",
        default=False,
        help_text="Off: products that the shop has already are skipped.",
    )
    dry_run = models.BooleanField("only try", default=False, help_text="On: the report tells what would change.")
    state = models.CharField(max_length=10, choices=State, default=State.WAITING, editable=False)
    percent = models.PositiveSmallIntegerField("how far", default=0, editable=False)
    created = models.PositiveIntegerField(default=0, editable=False)
    updated = models.PositiveIntegerField(default=0, editable=False)
    skipped = models.PositiveIntegerField(default=0, editable=False)
    failed = models.PositiveIntegerField(default=0, editable=False)
    problems = models.JSONField(
        default=list, editable=False, help_text='[{"line": 2, "column": "Price", "reason": "...", "severity": "error"}]'
    )
    changes = models.JSONField(default=list, editable=False, help_text="The first of what was changed, or would be.")
    reason = models.TextField("why it stopped", blank=True, editable=False)
    created_at = models.DateTimeField()
    heartbeat_at = models.DateTimeField(null=True, editable=False, help_text="When the worker last told of itself.")
    finished_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        ordering = ["-created_at", "-id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(state__in=["waiting", "running", "done", "failed"]), name="product_import_state"
            )
        ]
        indexes = [models.Index(fields=["shop", "created_at"]), models.Index(fields=["state", "heartbeat_at"])]

    def __str__(self) -> str:
        return self.file_name

    @property
    def has_ended(self) -> bool:
        return self.state in (self.State.DONE, self.State.FAILED)
