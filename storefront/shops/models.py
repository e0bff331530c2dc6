from datetime import datetime
from zoneinfo import ZoneInfo

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.db.models.functions import Lower


class User(AbstractUser):
    """Somebody who signs in to the admin. Shoppers are customers, not users."""

    email = models.EmailField("e-mail address", unique=True)


class Shop(models.Model):
    """One shop of the deployment. Every other table carries its id."""

    name = models.CharField(max_length=200)
    domain = models.CharField(max_length=253, unique=True, help_text="The host name shoppers use, in lower case.")
    base_url = models.URLField(
        max_length=500, help_text="Where the shop is reached, without a slash at the end. Links and the API use it."
    )
    email = models.EmailField(null=True, blank=True, help_text="Where shoppers can write to.")
    currency = models.CharField(max_length=3, default="EUR", help_text="ISO 4217 code, such as EUR.")
    timezone = models.CharField(max_length=64, default="Europe/Berlin", help_text="Such as Europe/Berlin.")
    country = models.CharField(
        max_length=2, default="DE", help_text="ISO 3166 code of the country the shop sells from."
    )
    prices_include_tax = models.BooleanField(default=True, help_text="Whether catalogue prices already contain tax.")
    payment_methods = models.JSONField(
        default=list, blank=True, help_text='Gateways offered at checkout, such as ["manual"].'
    )
    manual_payment_instructions = models.TextField(
        blank=True, help_text="Shown after an order paid by invoice or cash: bank account, due date, and so on."
    )
    is_active = models.BooleanField(default=True)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=models.Q(domain=Lower("domain")), name="shop_domain_lower"),
            models.CheckConstraint(condition=~models.Q(base_url__endswith="/"), name="shop_base_url_no_slash"),
        ]

    def __str__(self) -> str:
        return self.name

    def local_time(self, moment: datetime) -> datetime:
        """The moment on the shop's own clock."""
        return moment.astimezone(ZoneInfo(self.timezone))


class StaffMember(models.Model):
    """A user's place in a shop: what the admin lets them see and touch."""

    class Role(models.TextChoices):
        OWNER = "owner"
        STAFF = "staff"

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, related_name="staff")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=10, choices=Role, default=Role.STAFF)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["shop", "user"], name="staff_member_once")]

    def __str__(self) -> str:
        return f"{self.user} at {self.shop}"


class AllowedOrigin(models.Model):
    """A web origin whose scripts may call the public API of a shop from a browser (CORS)."""

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, related_name="allowed_origins")
    origin = models.CharField(max_length=300, db_index=True, help_text="Such as https://www.example.com")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["shop", "origin"], name="allowed_origin_once")]

    def __str__(self) -> str:
        return self.origin


class ApiToken(models.Model):
    """A token that calls the API: the shop's own, or one of an installed app. It belongs to the shop; only its digest
    is kept."""

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=100, help_text="What it is for.")
    digest = models.CharField(max_length=64, unique=True, editable=False)
    ending = models.CharField(max_length=4, editable=False, help_text="The token's last four characters.")
    scopes = models.JSONField(default=list)
    requests_per_minute = models.PositiveIntegerField(null=True, blank=True, help_text="Empty: no limit.")
    # A plain number, since the room of apps is built on this one.
    installation_id = models.BigIntegerField(
        null=True, editable=False, db_index=True, help_text="The installation it stands for; empty: the shop's own."
    )
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name = "API token"
        indexes = [models.Index(fields=["shop", "created_at"])]

    def __str__(self) -> str:
        return f"{self.name} (…{self.ending})"

    def is_valid(self, now: datetime) -> bool:
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)


class IdempotentAnswer(models.Model):
    """The first answer to a POST that named an `Idempotency-Key` (decisions: Idempotency and concurrency)."""

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE)
    caller = models.CharField(max_length=64, help_text="What the credential that asked is counted as.")
    key = models.CharField(max_length=255)
    request_digest = models.CharField(max_length=64)
    claim = models.UUIDField(help_text="Which attempt holds the key.")
    claimed_at = models.DateTimeField()
    status = models.PositiveSmallIntegerField(null=True, help_text="Null while the request is in flight.")
    # Encrypted, since answers hold cart tokens and signed links.
    body = models.BinaryField(null=True)
    expires_at = models.DateTimeField(db_index=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["shop", "caller", "key"], name="idempotent_answer_once")]

    def __str__(self) -> str:
        return self.key


class Change(models.Model):
    """On SQLite, the number of a shop's last change, counted over all shops (`shops.changes`). Unused on PostgreSQL."""

    # No foreign key: other processes are to hear of a shop that was deleted, too.
    shop_id = models.BigIntegerField(primary_key=True)
    number = models.BigIntegerField(unique=True)

    def __str__(self) -> str:
        return f"{self.shop_id}: {self.number}"
