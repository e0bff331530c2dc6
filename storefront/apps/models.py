from django.db import models
from django.db.models import Q
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from storefront.installations.models import MAX_URL_LENGTH, Installation
from storefront.shops.models import Shop


class Extension(models.Model):
    """A block that an app shows on a page of the shop."""

    class Type(models.TextChoices):
        CHECKOUT_BLOCK = "checkout_block", _lazy("Checkout block")
        PRODUCT_BLOCK = "product_block", _lazy("Product block")
        CONFIRMATION_BLOCK = "confirmation_block", _lazy("Confirmation block")

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, db_constraint=False, db_index=False)
    installation = models.ForeignKey(Installation, on_delete=models.CASCADE, related_name="extensions", db_index=False)
    type = models.CharField(max_length=20, choices=Type)
    callback_url = models.CharField(max_length=MAX_URL_LENGTH)
    is_active = models.BooleanField(default=True)
    timeout_ms = models.PositiveIntegerField(
        default=5000, help_text="How long the shop waits for the block, in milliseconds."
    )
    failures_in_a_row = models.PositiveIntegerField(default=0, editable=False)
    asked_again_at = models.DateTimeField(
        null=True, editable=False, help_text="Not called before this time, after repeated failures."
    )
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["shop", "type"])]
        constraints = [
            models.CheckConstraint(condition=Q(timeout_ms__gte=100, timeout_ms__lte=10000), name="extension_timeout"),
            models.UniqueConstraint(fields=["installation", "type", "callback_url"], name="extension_once"),
        ]

    def __str__(self) -> str:
        return _("%(what)s of %(app)s") % {"what": self.get_type_display(), "app": self.installation}


class ExtensionCall(models.Model):
    """One request for a block and its outcome, stored for a while for the merchant."""

    class Outcome(models.TextChoices):
        SHOWN = "shown", _lazy("Shown")
        TIMED_OUT = "timed_out", _lazy("timed out")
        FAILED = "failed", _lazy("Failed")

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, db_constraint=False)
    extension = models.ForeignKey(Extension, on_delete=models.CASCADE, related_name="calls", db_index=False)
    called_at = models.DateTimeField(db_index=True)
    duration_ms = models.PositiveIntegerField()
    outcome = models.CharField(max_length=10, choices=Outcome)
    status = models.PositiveSmallIntegerField(null=True, help_text="HTTP status of the response.")
    reason = models.CharField(max_length=200, blank=True, help_text="Why no block was shown.")
    request = models.TextField(help_text="First KiB of the request.")
    answer = models.TextField(blank=True, help_text="First KiB of the response.")

    class Meta:
        indexes = [models.Index(fields=["extension", "called_at"])]

    def __str__(self) -> str:
        return f"{self.outcome} after {self.duration_ms} ms"


class ScriptTag(models.Model):
    """A script of an app on the shopper's pages."""

    class Location(models.TextChoices):
        HEAD = "head", _lazy("Head")
        BODY_START = "body_start", _lazy("Start of the body")
        BODY_END = "body_end", _lazy("End of the body")

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, db_constraint=False, db_index=False)
    installation = models.ForeignKey(Installation, on_delete=models.CASCADE, related_name="script_tags", db_index=False)
    src = models.CharField(max_length=MAX_URL_LENGTH)
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
    host = models.CharField(
        max_length=260, help_text=_lazy("Such as scripts.example.com, with a port if it is not 443.")
    )
    installation = models.ForeignKey(
        Installation,
        null=True,
        editable=False,
        on_delete=models.CASCADE,
        help_text="Set for an app's own host; empty if the merchant allowed the host.",
        db_index=False,
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
    """A source that browsers reported as blocked by the shop's Content-Security-Policy, with the number of reports."""

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, db_index=False)
    source = models.CharField(max_length=300, help_text="Without the query string.")
    directive = models.CharField(max_length=40)
    page = models.CharField(
        max_length=300, help_text="Page where the script was last blocked, without the query string."
    )
    times = models.PositiveIntegerField(default=1)
    first_at = models.DateTimeField()
    last_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["shop", "source", "directive"], name="blocked_script_once"),
        ]

    def __str__(self) -> str:
        return self.source
