from contextlib import suppress
from datetime import datetime

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _lazy

from storefront.kit import sealing
from storefront.shops.models import Shop

# Secrets are kept encrypted, since deliveries are signed with them.
APP_SECRET, WEBHOOK_SECRET = "app-secret", "webhook-secret"
# Longest URL that an app may name, in characters.
MAX_URL_LENGTH = 2048


class App(models.Model):
    """A program that shops can install. The operator registers it; it belongs to no shop."""

    name = models.CharField(max_length=100)
    slug = models.SlugField(max_length=60, unique=True)
    contact = models.EmailField(blank=True, help_text=_lazy("Contact email address of the app's developer."))
    description = models.TextField(blank=True, help_text=_lazy("Shown to merchants before they install the app."))
    install_url = models.CharField(
        max_length=MAX_URL_LENGTH, help_text=_lazy("Install notifications are sent to this URL.")
    )
    scopes = models.JSONField(default=list, help_text=_lazy("Scopes that the app asks for."))
    sealed_secret = models.BinaryField(editable=False)
    is_active = models.BooleanField(default=True, help_text=_lazy("Shops can install the app."))
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()

    class Meta:
        app_label = "apps"

    def __str__(self) -> str:
        return self.name

    @property
    def secret(self) -> str:
        """The key that signs messages with the app's tokens, `whsec_...`."""
        return sealing.unseal(bytes(self.sealed_secret), purpose=APP_SECRET).decode()


class Installation(models.Model):
    """An app in one shop. The row stays after the app is uninstalled; installing again creates another one (R-APP-9).

    Its tokens are `shops.ApiToken`s that carry its id.
    """

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, related_name="installations", db_index=False)
    app = models.ForeignKey(App, on_delete=models.PROTECT, related_name="installations")
    scopes = models.JSONField(
        default=list,
        help_text=_lazy("Scopes that the merchant granted. The installation's tokens have the same scopes."),
    )
    # R-LIM-7.
    requests_per_minute = models.PositiveIntegerField(default=600)
    sealed_secret = models.BinaryField(editable=False)
    sealed_previous_secret = models.BinaryField(null=True, editable=False)
    previous_secret_until = models.DateTimeField(null=True, editable=False)
    installed_at = models.DateTimeField()
    uninstalled_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        app_label = "apps"
        verbose_name = _lazy("installed app")
        constraints = [
            models.UniqueConstraint(
                fields=["shop", "app"], condition=Q(uninstalled_at=None), name="installation_stands_once"
            )
        ]
        indexes = [models.Index(fields=["shop", "installed_at"])]

    def __str__(self) -> str:
        return str(self.app)

    def signing_secrets(self, now: datetime) -> list[str]:
        """The keys that sign its deliveries and calls: the current secret and, for a while after a rotation, the
        previous one if it can be decrypted. Raises Unsealable if the current one cannot."""
        found = [sealing.unseal(bytes(self.sealed_secret), purpose=WEBHOOK_SECRET).decode()]
        if self.sealed_previous_secret and self.previous_secret_until and now < self.previous_secret_until:
            # An unreadable secret may be the very reason for the rotation.
            with suppress(sealing.Unsealable):
                found.append(sealing.unseal(bytes(self.sealed_previous_secret), purpose=WEBHOOK_SECRET).decode())
        return found

    @property
    def can_sign(self) -> bool:
        """Returns False if the secret cannot be decrypted. Then the shop sends the app no webhooks, and shows none of
        its blocks."""
        return sealing.is_readable(bytes(self.sealed_secret), purpose=WEBHOOK_SECRET)
