import uuid

from django.db import models
from django.db.models import Q

from storefront.shops.models import Shop

LONGEST_URL = 2048


class Event(models.Model):
    """Something that happened, told once (decisions: Events and webhooks).

    Ids grow in the order in which events are written down, so of two that concern the same row, the later one has the
    greater id. The public id is what receivers know the event by.
    """

    public_id = models.UUIDField(unique=True, default=uuid.uuid4, editable=False)
    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, db_index=False)
    topic = models.CharField(max_length=40)
    data = models.JSONField()
    created_at = models.DateTimeField()
    sequence = models.BigIntegerField(
        null=True, help_text="Place in the shop's feed, without gaps; given by the dispatch step after the commit."
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
    """How far the numbering of a shop's events is. Only dispatch touches it, so that nobody else queues here; kept
    apart from the events, since those are deleted some day and their numbers never come again."""

    shop = models.OneToOneField(Shop, on_delete=models.CASCADE, primary_key=True)
    last_sequence = models.BigIntegerField(default=0)

    def __str__(self) -> str:
        return f"{self.shop}: {self.last_sequence}"


class Registration(models.Model):
    """Where an installed app wants to hear of one topic. A pause or a 410 turns it off; nothing but the app or its
    uninstall deletes it."""

    class PauseReason(models.TextChoices):
        FAILING = "failing", "nothing got through for three days"
        GONE = "gone", "its receiver answered 410 Gone"

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, db_index=False)
    # By name, since the room of apps is built on this one.
    installation = models.ForeignKey(
        "apps.Installation", on_delete=models.CASCADE, related_name="registrations", db_index=False
    )
    topic = models.CharField(max_length=40)
    address = models.CharField(max_length=LONGEST_URL)
    receiver = models.BigIntegerField(editable=False, help_text="Which host it leads to, as a number.")
    is_active = models.BooleanField(default=True)
    failing_since = models.DateTimeField(null=True, help_text="When the first of only failed tries was made.")
    paused_at = models.DateTimeField(null=True, help_text="When it was turned off, by 410 or by failing too long.")
    pause_reason = models.CharField(max_length=10, choices=PauseReason, blank=True)
    holds = models.BooleanField(default=False, help_text="Whether deliveries may be held back until it is resumed.")
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["installation", "topic"], name="registration_topic_once")]
        indexes = [
            models.Index(fields=["shop", "topic"]),
            models.Index(fields=["id"], condition=Q(holds=True, is_active=True), name="registration_to_release"),
        ]

    def __str__(self) -> str:
        return f"{self.topic} to {self.address}"


class Delivery(models.Model):
    """One message to one address, tried until it arrives or is given up.

    The message of an event is made of the event at each try, the same bytes each time. Others carry theirs sealed,
    since an install notification holds a token, until the delivery has ended.
    """

    class Kind(models.TextChoices):
        EVENT = "event"
        INSTALL = "install"
        UNINSTALL = "uninstall"

    class Status(models.TextChoices):
        PENDING = "pending"
        HELD = "held", "held until the webhook is resumed"
        DELIVERED = "delivered"
        DEAD = "dead"
        CANCELLED = "cancelled"

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, db_index=False)
    installation = models.ForeignKey(
        "apps.Installation", on_delete=models.CASCADE, related_name="deliveries", db_index=False
    )
    kind = models.CharField(max_length=10, choices=Kind, default=Kind.EVENT)
    # Without a constraint: millions may have ended when their registration is removed, and stay as they are.
    registration = models.ForeignKey(
        Registration, null=True, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False
    )
    event = models.ForeignKey(Event, null=True, on_delete=models.CASCADE, db_index=False)
    message_id = models.UUIDField(default=uuid.uuid4, editable=False, help_text="What goes out as webhook-id.")
    topic = models.CharField(max_length=40)
    address = models.CharField(
        max_length=LONGEST_URL, help_text="Where it was to go at first; it follows its registration's."
    )
    receiver = models.BigIntegerField(editable=False, help_text="Which host it goes to, as a number.")
    sealed_message = models.BinaryField(null=True, editable=False)
    status = models.CharField(max_length=10, choices=Status, default=Status.PENDING)
    tries = models.PositiveSmallIntegerField(default=0)
    earlier_tries = models.PositiveSmallIntegerField(default=0, help_text="Tries before it was replayed last.")
    due_at = models.DateTimeField(help_text="When it is tried next; while it is leased, when the lease ends.")
    lease = models.CharField(max_length=32, null=True, editable=False, help_text="Which worker is trying it.")
    created_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name_plural = "deliveries"
        indexes = [
            # What each worker asks for many times a second; both hold only what is left to do.
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
            # A worker that dispatches an event a second time makes nothing of it.
            models.UniqueConstraint(fields=["event", "registration"], name="delivery_once_per_registration")
        ]

    def __str__(self) -> str:
        return f"{self.topic} to {self.address}"


class Attempt(models.Model):
    """One try of a delivery, and how it went."""

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, db_index=False)
    delivery = models.ForeignKey(Delivery, on_delete=models.CASCADE, related_name="attempts", db_index=False)
    number = models.PositiveSmallIntegerField()
    started_at = models.DateTimeField()
    duration_ms = models.PositiveIntegerField()
    status = models.PositiveSmallIntegerField(null=True, help_text="HTTP status of the answer.")
    error = models.CharField(max_length=200, blank=True, help_text="Why there was no answer.")
    answer = models.TextField(blank=True, help_text="First KiB of the answer.")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["delivery", "number"], name="attempt_number_once")]

    def __str__(self) -> str:
        return f"{self.number}: {self.status or self.error}"
