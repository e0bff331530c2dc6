import uuid

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from storefront.installations.models import MAX_URL_LENGTH, Installation
from storefront.shops.models import Shop


class Event(models.Model):
    """Something that happened in a shop (R-HOOK-6).

    Ids grow in the order of recording, so of two events about the same row the later one has the greater id. Receivers
    see the public id.
    """

    public_id = models.UUIDField(unique=True, default=uuid.uuid4, editable=False)
    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, db_index=False)
    topic = models.CharField(max_length=40)
    data = models.JSONField()
    created_at = models.DateTimeField()
    sequence = models.BigIntegerField(
        null=True,
        help_text="Position in the shop's event feed, without gaps. Set by the dispatch step after the commit.",
    )

    class Meta:
        constraints = [models.UniqueConstraint(fields=["shop", "sequence"], name="event_sequence_once")]
        indexes = [
            models.Index(fields=["shop", "id"], condition=Q(sequence=None), name="event_undispatched"),
            models.Index(fields=["shop", "topic", "sequence"], name="event_topic_sequence"),
            models.Index(fields=["shop", "-id"], name="event_newest"),
        ]

    def __str__(self) -> str:
        return f"{self.topic} {self.public_id}"


class Feed(models.Model):
    """The last sequence number of a shop's events. Only dispatch locks it, so that orders never wait for it. Stored,
    since old events are deleted and their numbers are never used again."""

    shop = models.OneToOneField(Shop, on_delete=models.CASCADE, primary_key=True)
    last_sequence = models.BigIntegerField(default=0)

    def __str__(self) -> str:
        return f"{self.shop}: {self.last_sequence}"


class Registration(models.Model):
    """An app's webhook: a topic and the address that receives its events. Failures for days or a 410 pause it; only the
    app or its uninstall deletes it."""

    class PauseReason(models.TextChoices):
        FAILING = "failing", _lazy("all deliveries failed for three days")
        GONE = "gone", _lazy("the receiver answered 410 Gone")

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, db_index=False, db_constraint=False)
    installation = models.ForeignKey(
        Installation, on_delete=models.CASCADE, related_name="registrations", db_index=False
    )
    topic = models.CharField(max_length=40)
    address = models.CharField(max_length=MAX_URL_LENGTH)
    receiver = models.BigIntegerField(
        editable=False, help_text="Number that stands for the installation and the receiving host."
    )
    is_active = models.BooleanField(default=True)
    failing_since = models.DateTimeField(null=True, help_text="When the current series of failed attempts began.")
    paused_at = models.DateTimeField(
        null=True, help_text="When the webhook was paused, by a 410 response or because it failed for too long."
    )
    pause_reason = models.CharField(max_length=10, choices=PauseReason, blank=True)
    holds = models.BooleanField(default=False, help_text="Whether deliveries may be held until the webhook is resumed.")
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()

    class Meta:
        verbose_name = _lazy("webhook")
        constraints = [models.UniqueConstraint(fields=["installation", "topic"], name="registration_topic_once")]
        indexes = [
            models.Index(fields=["shop", "topic"]),
            models.Index(fields=["id"], condition=Q(holds=True, is_active=True), name="registration_to_release"),
        ]

    def __str__(self) -> str:
        return _("%(topic)s to %(address)s") % {"topic": self.topic, "address": self.address}


class Delivery(models.Model):
    """One message to one address, attempted until it is delivered or dead (R-HOOK-14).

    The message of an event is built from the event at each attempt, always the same bytes. Other messages are stored
    encrypted until the delivery has ended, since some contain a token. A test has no registration, so that its outcome
    pauses no webhook.
    """

    class Kind(models.TextChoices):
        EVENT = "event", _lazy("Event")
        INSTALL = "install", _lazy("Install")
        UNINSTALL = "uninstall", _lazy("Uninstall")
        TOKEN = "token", _lazy("Token")
        TEST = "test", _lazy("Test")

    class Status(models.TextChoices):
        PENDING = "pending", _lazy("Pending")
        HELD = "held", _lazy("held until the webhook is resumed")
        DELIVERED = "delivered", _lazy("Delivered")
        DEAD = "dead", _lazy("Dead")
        CANCELLED = "cancelled", _lazy("Cancelled")

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, db_index=False, db_constraint=False)
    installation = models.ForeignKey(Installation, on_delete=models.CASCADE, related_name="deliveries", db_index=False)
    kind = models.CharField(max_length=10, choices=Kind, default=Kind.EVENT)
    # Without a constraint: when a registration is deleted, millions of ended deliveries may stay unchanged.
    registration = models.ForeignKey(
        Registration, null=True, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False
    )
    # Without a constraint: no key can lead to a table that is divided by time, and events go by the partition.
    event = models.ForeignKey(Event, null=True, on_delete=models.CASCADE, db_index=False, db_constraint=False)
    message_id = models.UUIDField(default=uuid.uuid4, editable=False, help_text="Sent as webhook-id.")
    topic = models.CharField(max_length=40)
    address = models.CharField(
        max_length=MAX_URL_LENGTH,
        help_text="Address when the delivery was created. Later changes of the webhook's address apply.",
    )
    receiver = models.BigIntegerField(
        editable=False, help_text="Number that stands for the installation and the receiving host."
    )
    sealed_message = models.BinaryField(null=True, editable=False)
    status = models.CharField(max_length=10, choices=Status, default=Status.PENDING)
    tries = models.PositiveSmallIntegerField(default=0)
    earlier_tries = models.PositiveSmallIntegerField(default=0, help_text="Attempts before the last replay.")
    due_at = models.DateTimeField(help_text="Time of the next attempt. During an attempt, when the lease ends.")
    lease = models.CharField(max_length=32, null=True, editable=False, help_text="The worker that is sending it.")
    created_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name_plural = _lazy("deliveries")
        indexes = [
            # For queries that each worker makes many times a second. Both contain only pending rows.
            models.Index(fields=["receiver", "due_at"], condition=Q(status="pending"), name="delivery_of_receiver"),
            models.Index(fields=["due_at"], condition=Q(status="pending"), name="delivery_due"),
            models.Index(
                fields=["registration"], condition=Q(status__in=["pending", "held"]), name="delivery_of_registration"
            ),
            models.Index(fields=["installation", "-id"], name="delivery_newest_of_app"),
            models.Index(fields=["installation", "-id"], condition=Q(status="dead"), name="delivery_dead_of_app"),
            models.Index(fields=["shop", "-id"], name="delivery_newest"),
        ]
        constraints = [
            # Dispatching an event twice creates no second delivery. On PostgreSQL, within a partition.
            models.UniqueConstraint(fields=["event", "registration"], name="delivery_once_per_registration")
        ]

    def __str__(self) -> str:
        return _("%(topic)s to %(address)s") % {"topic": self.topic, "address": self.address}


class Attempt(models.Model):
    """One attempt of a delivery and its outcome."""

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, db_index=False, db_constraint=False)
    delivery = models.ForeignKey(
        Delivery, on_delete=models.CASCADE, related_name="attempts", db_index=False, db_constraint=False
    )
    number = models.PositiveSmallIntegerField()
    started_at = models.DateTimeField()
    duration_ms = models.PositiveIntegerField()
    status = models.PositiveSmallIntegerField(null=True, help_text="HTTP status of the response.")
    error = models.CharField(max_length=200, blank=True, help_text="Why there was no response.")
    answer = models.TextField(blank=True, help_text="First KiB of the response.")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["delivery", "number"], name="attempt_number_once")]

    def __str__(self) -> str:
        return f"{self.number}: {self.status or self.error}"
