import uuid

from django.db import models

from storefront.shops.models import Shop


class Event(models.Model):
    """Something that happened, told once (decisions: Events and webhooks)."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    shop = models.ForeignKey(Shop, on_delete=models.CASCADE)
    topic = models.CharField(max_length=40)
    data = models.JSONField()
    created_at = models.DateTimeField()
    sequence = models.BigIntegerField(
        null=True, help_text="Place in the shop's feed, without gaps; given by the dispatch step after the commit."
    )

    class Meta:
        constraints = [models.UniqueConstraint(fields=["shop", "sequence"], name="event_sequence_once")]
        indexes = [
            models.Index(
                fields=["shop", "created_at"], condition=models.Q(sequence__isnull=True), name="event_undispatched"
            )
        ]

    def __str__(self) -> str:
        return f"{self.topic} {self.id}"
