"""The tables of the room `staff`. Second factors and sessions of staff belong to a person, who may work in several
shops, so they have no shop."""

from datetime import datetime, timedelta

from django.conf import settings
from django.db import models
from django.db.models.functions import Lower
from django.utils.translation import gettext_lazy as _lazy

# How long a confirmation of identity is valid.
CONFIRMED_FOR = timedelta(minutes=15)


class Authenticator(models.Model):
    """An app that shows a new code every thirty seconds (TOTP, RFC 6238)."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="authenticators")
    name = models.CharField(max_length=64, help_text="Name given by its owner.")
    # Encrypted, since the key is enough to compute codes.
    sealed_key = models.BinaryField()
    last_step = models.BigIntegerField(
        default=-1, help_text="Time step of the last used code. Codes up to it cannot be used again."
    )
    created_at = models.DateTimeField()

    class Meta:
        verbose_name = _lazy("authenticator app")

    def __str__(self) -> str:
        return f"{self.name} of {self.user}"


class Passkey(models.Model):
    """A key pair that a device, a password manager or a security key holds (WebAuthn); only the public key is here."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="passkeys")
    name = models.CharField(max_length=64, help_text="Name given by its owner.")
    host = models.CharField(
        max_length=253, help_text="The host that the passkey was created for. It works on no other host."
    )
    credential_id = models.CharField(max_length=1400, help_text="base64url, as browsers send it.")
    # Unique instead of the credential id, which is too long for an index.
    digest = models.CharField(max_length=64, help_text="SHA-256 of the credential id.")
    credential = models.BinaryField(help_text="The attested credential data, with the public key.")
    sign_count = models.BigIntegerField(default=0)
    created_at = models.DateTimeField()
    last_used_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["digest"], name="passkey_once")]

    def __str__(self) -> str:
        return f"{self.name} of {self.user}"


class RecoveryCode(models.Model):
    """A code that signs its owner in once, without their second factor. Only its digest is kept."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="recovery_codes", db_index=False
    )
    digest = models.CharField(max_length=64)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "digest"], name="recovery_code_once")]

    def __str__(self) -> str:
        return f"of {self.user}"


class FactorUse(models.Model):
    """The last use of a second factor in a pod that reads its factors from pod 0 (`pods/registry.py`): the time step of
    an authenticator app's code, or the counter of a passkey. Each pod has its own. Elsewhere there are no rows."""

    # No foreign key: the factor's row comes and goes by replication, which removes this one (`registry_triggers.py`).
    kind = models.CharField(max_length=7, help_text="app or passkey")
    factor_id = models.BigIntegerField()
    used = models.BigIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["kind", "factor_id"], name="factor_use_once")]

    def __str__(self) -> str:
        return f"{self.kind} {self.factor_id}"


class StaffSession(models.Model):
    """A browser in which somebody is signed in to the admin. A session without such a row opens no page there."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="staff_sessions")
    # Digest of the session key, so that nobody who reads this table can take over a session.
    digest = models.CharField(max_length=64, unique=True)
    has_second_factor = models.BooleanField(default=False)
    place = models.CharField(max_length=50, help_text="An IPv4 address, or an IPv6 network.")
    browser = models.CharField(max_length=300, help_text="The browser's user agent.")
    created_at = models.DateTimeField()
    seen_at = models.DateTimeField(help_text="Updated at most once every few minutes.")
    confirmed_at = models.DateTimeField(help_text="When the person last confirmed their identity.")
    ends_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return f"{self.user} from {self.place}"

    def is_confirmed(self, now: datetime) -> bool:
        """Returns True if the person confirmed their identity recently (CONFIRMED_FOR)."""
        return now < self.confirmed_at + CONFIRMED_FOR


class ShopDomain(models.Model):
    """A further domain of a shop, which redirects to the shop's own address once the operator has confirmed it. Before
    that, several shops can request the same domain, so that a request alone blocks nobody.
    """

    shop = models.ForeignKey("shops.Shop", on_delete=models.CASCADE, related_name="further_domains", db_index=False)
    domain = models.CharField(max_length=253, help_text=_lazy("Such as www.example.com"))
    created_at = models.DateTimeField()
    confirmed_at = models.DateTimeField(null=True, help_text="When the operator of the deployment gave it to the shop.")
    checked_at = models.DateTimeField(null=True, help_text="When somebody last checked where it leads.")
    problem = models.CharField(max_length=300, blank=True, help_text="What that check found; empty: nothing wrong.")

    class Meta:
        verbose_name = _lazy("further domain")
        constraints = [
            models.UniqueConstraint(fields=["shop", "domain"], name="shop_domain_asked_once"),
            models.UniqueConstraint(
                fields=["domain"], condition=models.Q(confirmed_at__isnull=False), name="shop_domain_of_one"
            ),
            models.CheckConstraint(condition=models.Q(domain=Lower("domain")), name="further_domain_lower"),
        ]

    def __str__(self) -> str:
        return self.domain


class SavedView(models.Model):
    """Search, filters and sorting of one of the admin's lists under a name. The shop's staff share it."""

    shop = models.ForeignKey("shops.Shop", on_delete=models.CASCADE, related_name="saved_views", db_index=False)
    list = models.CharField(max_length=60, help_text="The list's model, such as orders.order.")
    name = models.CharField(max_length=40)
    query = models.CharField(
        _lazy("search, filters and sorting"),
        max_length=1000,
        help_text="The query string of the list's address; columns that it is sorted by stand there by name.",
    )
    created_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint("shop", "list", Lower("name"), name="saved_view_once")]

    def __str__(self) -> str:
        return self.name
