from datetime import datetime

from django.db import models
from django.db.models import Q

from storefront.kit import sealing
from storefront.shops.models import Shop

# Secrets are kept encrypted, since deliveries are signed with them.
APP_SECRET, WEBHOOK_SECRET = "app-secret", "webhook-secret"
# Longest URL that an app may name, in characters.
LONGEST_URL = 2048


class App(models.Model):
    """A program that shops can install. The operator registers it; it belongs to no shop."""

    name = models.CharField(max_length=100)
    slug = models.SlugField(max_length=60, unique=True)
    contact = models.EmailField(blank=True, help_text="Who answers for it.")
    description = models.TextField(blank=True, help_text="What merchants read before they install it.")
    install_url = models.CharField(max_length=LONGEST_URL, help_text="Where it hears of a new installation.")
    scopes = models.JSONField(default=list, help_text="What it asks for.")
    sealed_secret = models.BinaryField(editable=False)
    is_active = models.BooleanField(default=True, help_text="Whether shops can install it.")
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.name

    @property
    def secret(self) -> str:
        """What install notifications are signed with, `whsec_...`."""
        return sealing.unseal(bytes(self.sealed_secret), purpose=APP_SECRET).decode()


class Installation(models.Model):
    """An app in one shop. It stands until it is uninstalled; installing again makes another one.

    Its tokens are `shops.ApiToken`s that carry its id.
    """

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, related_name="installations")
    app = models.ForeignKey(App, on_delete=models.PROTECT, related_name="installations")
    scopes = models.JSONField(default=list, help_text="What the merchant granted; its tokens carry the same.")
    requests_per_minute = models.PositiveIntegerField(default=600)
    sealed_secret = models.BinaryField(editable=False)
    sealed_previous_secret = models.BinaryField(null=True, editable=False)
    previous_secret_until = models.DateTimeField(null=True, editable=False)
    installed_at = models.DateTimeField()
    uninstalled_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["shop", "app"], condition=Q(uninstalled_at=None), name="installation_stands_once"
            )
        ]
        indexes = [models.Index(fields=["shop", "installed_at"])]

    def __str__(self) -> str:
        return str(self.app)

    def signing_secrets(self, now: datetime) -> list[str]:
        """What its deliveries and calls are signed with: the secret and, for a while after a change, the one before."""
        sealed = [self.sealed_secret]
        if self.sealed_previous_secret and self.previous_secret_until and now < self.previous_secret_until:
            sealed.append(self.sealed_previous_secret)
        return [sealing.unseal(bytes(secret), purpose=WEBHOOK_SECRET).decode() for secret in sealed]


class Extension(models.Model):
    """A block that an app shows on a page of the shop."""

    class Type(models.TextChoices):
        CHECKOUT_BLOCK = "checkout_block"
        PRODUCT_BLOCK = "product_block"
        CONFIRMATION_BLOCK = "confirmation_block"

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE)
    installation = models.ForeignKey(Installation, on_delete=models.CASCADE, related_name="extensions")
    type = models.CharField(max_length=20, choices=Type)
    callback_url = models.CharField(max_length=LONGEST_URL)
    is_active = models.BooleanField(default=True)
    timeout_ms = models.PositiveIntegerField(default=5000, help_text="Milliseconds that the shop waits for a block.")
    failures_in_a_row = models.PositiveIntegerField(default=0, editable=False)
    asked_again_at = models.DateTimeField(null=True, editable=False, help_text="Not asked before: it kept failing.")
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["shop", "type"])]
        constraints = [
            models.CheckConstraint(condition=Q(timeout_ms__gte=100, timeout_ms__lte=10000), name="extension_timeout")
        ]

    def __str__(self) -> str:
        return f"{self.get_type_display()} of {self.installation}"


class ExtensionCall(models.Model):
    """One request for a block, and how it went; kept for a while so that the merchant can look at it."""

    class Outcome(models.TextChoices):
        SHOWN = "shown"
        TIMED_OUT = "timed_out", "timed out"
        FAILED = "failed"

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE)
    extension = models.ForeignKey(Extension, on_delete=models.CASCADE, related_name="calls")
    called_at = models.DateTimeField(db_index=True)
    duration_ms = models.PositiveIntegerField()
    outcome = models.CharField(max_length=10, choices=Outcome)
    status = models.PositiveSmallIntegerField(null=True, help_text="HTTP status of the answer.")
    reason = models.CharField(max_length=200, blank=True, help_text="Why there is no block.")
    request = models.TextField(help_text="First KiB of what was sent.")
    answer = models.TextField(blank=True, help_text="First KiB of what came.")

    class Meta:
        indexes = [models.Index(fields=["extension", "called_at"])]

    def __str__(self) -> str:
        return f"{self.outcome} after {self.duration_ms} ms"


class ScriptTag(models.Model):
    """A script of an app on the shopper's pages."""

    class Location(models.TextChoices):
        HEAD = "head"
        BODY_START = "body_start"
        BODY_END = "body_end"

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE)
    installation = models.ForeignKey(Installation, on_delete=models.CASCADE, related_name="script_tags")
    src = models.CharField(max_length=LONGEST_URL)
    location = models.CharField(max_length=10, choices=Location)
    is_active = models.BooleanField(default=True)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["installation", "src", "location"], name="script_tag_once"),
        ]
        indexes = [models.Index(fields=["shop"])]

    def __str__(self) -> str:
        return self.src


class AllowedScriptHost(models.Model):
    """A host whose scripts the shop's pages may run: by the merchant, or with an app that was installed."""

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE)
    host = models.CharField(max_length=260, help_text="Such as scripts.example.com, with a port if it is not 443.")
    installation = models.ForeignKey(
        Installation, null=True, editable=False, on_delete=models.CASCADE, help_text="Empty: the merchant allowed it."
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["installation", "host"], name="allowed_script_host_of_app_once"),
            models.UniqueConstraint(
                fields=["shop", "host"], condition=Q(installation=None), name="allowed_script_host_once"
            ),
        ]

    def __str__(self) -> str:
        return self.host


class BlockedScript(models.Model):
    """What browsers said they did not run because of the shop's Content-Security-Policy, counted by source."""

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE)
    source = models.CharField(max_length=300, help_text="Without its query.")
    directive = models.CharField(max_length=40)
    page = models.CharField(max_length=300, help_text="Where it was last, without its query.")
    times = models.PositiveIntegerField(default=1)
    first_at = models.DateTimeField()
    last_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["shop", "source", "directive"], name="blocked_script_once"),
        ]

    def __str__(self) -> str:
        return self.source
