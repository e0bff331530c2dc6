from django.db import models
from django.utils.translation import gettext_lazy as _lazy


class AuditEntry(models.Model):
    """One action in a shop: who did it, from where, and what changed. Written once (`storefront.audit`); the database
    refuses to change or delete it, except as `audit_triggers` allows."""

    class Kind(models.TextChoices):
        STAFF = "staff", _lazy("Staff")
        TOKEN = "token", _lazy("API token")
        APP = "app", _lazy("App")
        COMMAND = "command", _lazy("Command")
        CUSTOMER = "customer", _lazy("Customer")
        WORKER = "worker", _lazy("Worker")
        SYSTEM = "system", _lazy("System")

    # Without a constraint, since the log outlives a deleted shop: entries are deleted after `keep_until`.
    shop = models.ForeignKey(
        "shops.Shop", on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+"
    )
    at = models.DateTimeField()
    keep_until = models.DateField(help_text="Last day, in UTC, on which the entry cannot be deleted.")
    actor_kind = models.CharField(max_length=10, choices=Kind)
    # Not a foreign key: the actor may be deleted before the entry.
    actor_id = models.BigIntegerField(null=True, help_text="Empty for guests and commands.")
    actor_name = models.CharField(max_length=254, blank=True, help_text="Name at that time.")
    place = models.CharField(
        max_length=255, blank=True, help_text="IP address or network, or the machine that ran a command."
    )
    request_id = models.CharField(max_length=64, blank=True, help_text="The request's ID in the log.")
    action = models.CharField(max_length=60)
    object_type = models.CharField(max_length=40, blank=True)
    object_id = models.BigIntegerField(null=True)
    object_name = models.CharField(max_length=255, blank=True, help_text="Name at that time.")
    before = models.JSONField(null=True, help_text="Only changed values.")
    after = models.JSONField(null=True, help_text="Only changed values.")
    erased_at = models.DateTimeField(null=True, help_text="When a person was erased from the entry.")

    class Meta:
        verbose_name_plural = _lazy("audit entries")
        ordering = ["-at", "-id"]
        indexes = [
            models.Index(fields=["shop", "at", "id"], name="audit_newest"),
            models.Index(fields=["shop", "action", "at", "id"], name="audit_of_action"),
            models.Index(fields=["shop", "object_type", "object_id", "at", "id"], name="audit_of_object"),
            models.Index(fields=["shop", "actor_kind", "actor_id", "at", "id"], name="audit_of_actor"),
            models.Index(fields=["keep_until"], name="audit_keep_until"),
        ]

    def __str__(self) -> str:
        return f"{self.action} {self.object_name}".strip()
