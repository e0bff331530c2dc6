from datetime import datetime
from zoneinfo import ZoneInfo

from django.core.validators import MaxValueValidator
from django.db import models
from django.db.models.functions import Lower
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from storefront.shops import languages
from storefront.shops.audit_models import AuditEntry as AuditEntry
from storefront.shops.position_models import Change as Change
from storefront.shops.position_models import WrittenPosition as WrittenPosition
from storefront.shops.staff_models import Authenticator as Authenticator
from storefront.shops.staff_models import FactorUse as FactorUse
from storefront.shops.staff_models import Passkey as Passkey
from storefront.shops.staff_models import RecoveryCode as RecoveryCode
from storefront.shops.staff_models import SavedView as SavedView
from storefront.shops.staff_models import ShopDomain as ShopDomain
from storefront.shops.staff_models import StaffSession as StaffSession
from storefront.shops.user_models import User as User


class Shop(models.Model):
    """One shop of the deployment. Every other table carries its id."""

    class TaxRounding(models.TextChoices):
        ORDER = "order", _lazy("once per rate and order")
        LINE = "line", _lazy("on every line")

    class EuTax(models.TextChoices):
        DESTINATION = "destination", _lazy("of the country of delivery (OSS), else of the shop's own")
        ORIGIN = "origin", _lazy("of the shop's own country")
        LISTED = "listed", _lazy("only where a rate is listed, elsewhere none")

    class DeliveryTax(models.TextChoices):
        GOODS = "goods", _lazy("as the delivered goods, in proportion")
        CLASS = "class", _lazy("a tax class of its own")

    name = models.CharField(max_length=200)
    domain = models.CharField(max_length=253, unique=True, help_text=_lazy("The shop's host name, in lowercase."))
    # Configured, since a Host header comes from the caller (R-CALL-11).
    base_url = models.URLField(
        max_length=500,
        help_text=_lazy("The shop's base URL, without a slash at the end. Used in links and in the API."),
    )
    email = models.EmailField(null=True, blank=True, help_text=_lazy("Contact address for shoppers."))
    proved_sender = models.EmailField(
        blank=True,
        editable=False,
        default="",
        db_default="",
        help_text="The email address that was proved by a link: mails come from it while it is the shop's.",
    )
    allowed_sender = models.EmailField(
        blank=True,
        editable=False,
        default="",
        db_default="",
        help_text="The email address that the operator allowed as sender, proved or not.",
    )
    currency = models.CharField(max_length=3, default="EUR", help_text=_lazy("ISO 4217 code, such as EUR."))
    timezone = models.CharField(max_length=64, default="Europe/Berlin", help_text=_lazy("Such as Europe/Berlin."))
    language = models.CharField(
        max_length=5,
        choices=languages.CHOICES,
        default="en",
        help_text=_lazy("The main language: that of what you write, and of the shop's pages and emails."),
    )
    further_languages = models.JSONField(
        default=list,
        db_default=[],
        blank=True,
        help_text="Languages besides the main one. Their pages are below /de/ and the like.",
    )
    country = models.CharField(
        max_length=2, default="DE", help_text=_lazy("ISO 3166 code of the country that the shop sells from.")
    )
    prices_include_tax = models.BooleanField(
        default=True, help_text=_lazy("Prices of products and delivery are entered with tax.")
    )
    tax_rounding = models.CharField(
        _lazy("tax is rounded"),
        max_length=5,
        choices=TaxRounding,
        default=TaxRounding.ORDER,
        db_default=TaxRounding.ORDER,
    )
    eu_tax = models.CharField(
        _lazy("tax in other EU countries"),
        max_length=11,
        choices=EuTax,
        default=EuTax.DESTINATION,
        db_default=EuTax.LISTED,
        help_text=_lazy(
            "For shops in the EU. Up to 10,000 euros a year to other EU countries, a shop may charge its own "
            "tax; beyond that, it reports through the one-stop shop (OSS)."
        ),
    )
    delivery_tax = models.CharField(
        _lazy("tax of delivery"),
        max_length=5,
        choices=DeliveryTax,
        default=DeliveryTax.GOODS,
        db_default=DeliveryTax.GOODS,
    )
    delivery_tax_class = models.ForeignKey(
        "catalogue.TaxClass",
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="+",
        help_text=_lazy("If delivery has a class of its own. Leave empty for the standard class."),
    )
    exports_at_net_price = models.BooleanField(
        _lazy("take tax off prices of exports"),
        default=True,
        db_default=False,
        help_text=_lazy(
            "For orders that leave the EU and are free of tax. Otherwise these shoppers pay the same price."
        ),
    )
    asks_vat_id = models.BooleanField(
        _lazy("ask businesses for their VAT ID"),
        default=False,
        db_default=False,
        help_text=_lazy(
            "A business in another EU country with a valid VAT ID then pays no tax to the shop (reverse charge)."
        ),
    )
    vat_id = models.CharField(
        _lazy("the shop's VAT ID"),
        max_length=20,
        blank=True,
        help_text=_lazy(
            "Named in each check of a customer's VAT ID. Only then do the authorities give a consultation "
            "number, which proves the check."
        ),
        default="",
        db_default="",
    )
    payment_methods = models.JSONField(
        default=list, blank=True, help_text=_lazy('Gateways offered at checkout, such as ["manual"].')
    )
    manual_payment_instructions = models.TextField(
        blank=True, help_text=_lazy("Shown after an order paid by invoice or cash: bank account, due date, and so on.")
    )
    translations = models.JSONField(null=True, blank=True, editable=False)
    gift_card_expiry_days = models.PositiveIntegerField(
        _lazy("days until gift cards expire"),
        default=0,
        db_default=0,
        validators=[MaxValueValidator(36_500)],
        help_text=_lazy("Counted from the day on which a card is sent; 0: never. Cards that exist keep their date."),
    )
    tells_of_orders = models.BooleanField(
        _lazy("send an email about each new order"),
        default=True,
        db_default=True,
        help_text=_lazy("It links to the order in the admin."),
    )
    order_emails = models.JSONField(
        _lazy("addresses for new orders"),
        default=list,
        db_default=[],
        blank=True,
        help_text=_lazy("Separated by commas. If empty, the shop's own address is used, or else those of its owners."),
    )
    door_password = models.CharField(
        max_length=200,
        blank=True,
        editable=False,
        help_text="Hash of the password of its doors; empty: they are open.",
        default="",
        db_default="",
    )
    steps_hidden_at = models.DateTimeField(
        null=True, editable=False, help_text="When the start page's first steps were hidden."
    )
    is_demo = models.BooleanField(
        default=False,
        db_default=False,
        editable=False,
        help_text="Whether it is for trying out: only then it has the demo's payment method, which takes no money.",
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

    @property
    def languages(self) -> list[str]:
        """The codes of the shop's languages (`languages.CHOICES`), the main one first."""
        return [self.language, *self.further_languages]

    def local_time(self, moment: datetime) -> datetime:
        """The moment in the shop's time zone."""
        return moment.astimezone(ZoneInfo(self.timezone))


class StaffMember(models.Model):
    """A user's role in a shop, which decides what they can see and change in its admin."""

    class Role(models.TextChoices):
        """`shops.rights` has the rights of each role."""

        OWNER = "owner", _lazy("Owner")
        MANAGER = "manager", _lazy("Manager")
        FULFILMENT = "fulfilment", _lazy("Fulfilment")
        READ_ONLY = "read_only", _lazy("Read-only")

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, related_name="staff", db_index=False)
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=10, choices=Role)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["shop", "user"], name="staff_member_once"),
            models.CheckConstraint(
                condition=models.Q(role__in=["owner", "manager", "fulfilment", "read_only"]), name="staff_member_role"
            ),
        ]

    def __str__(self) -> str:
        return _("%(person)s at %(shop)s") % {"person": self.user, "shop": self.shop}


class StaffInvitation(models.Model):
    """An invitation of an e-mail address to a shop's staff, accepted with a mailed link (`shops.invitations`). Rows are
    not deleted, so that it stays known who invited whom."""

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, related_name="staff_invitations", db_index=False)
    # The longest user name, since the address becomes the user name.
    email = models.EmailField(_lazy("email address"), max_length=150)
    role = models.CharField(max_length=10, choices=StaffMember.Role)
    # Digest of the newest link's token; null before there is one.
    digest = models.CharField(max_length=64, unique=True, null=True, editable=False)
    invited_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, editable=False, related_name="+")
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    accepted_at = models.DateTimeField(null=True, editable=False)
    revoked_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        verbose_name = _lazy("invitation")
        constraints = [
            models.UniqueConstraint(
                fields=["shop", "email"],
                condition=models.Q(accepted_at=None, revoked_at=None),
                name="staff_invitation_once",
            ),
            models.CheckConstraint(condition=models.Q(email=Lower("email")), name="staff_invitation_email_lower"),
            models.CheckConstraint(
                condition=models.Q(role__in=["owner", "manager", "fulfilment", "read_only"]),
                name="staff_invitation_role",
            ),
            models.CheckConstraint(
                condition=models.Q(accepted_at=None) | models.Q(revoked_at=None), name="staff_invitation_ended_once"
            ),
        ]
        indexes = [models.Index(fields=["shop", "created_at"], name="staff_invitation_created")]

    def __str__(self) -> str:
        return self.email

    def is_pending(self, now: datetime) -> bool:
        return self.accepted_at is None and self.revoked_at is None and now < self.expires_at


class AllowedOrigin(models.Model):
    """A web origin whose scripts may call the public API of a shop from a browser (CORS)."""

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, related_name="allowed_origins", db_index=False)
    origin = models.CharField(max_length=300, db_index=True, help_text=_lazy("Such as https://www.example.com"))

    class Meta:
        constraints = [models.UniqueConstraint(fields=["shop", "origin"], name="allowed_origin_once")]

    def __str__(self) -> str:
        return self.origin


class ApiToken(models.Model):
    """An API token of the shop: its own, or that of an installed app. Only its digest is stored."""

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, related_name="api_tokens", db_index=False)
    name = models.CharField(max_length=100, help_text="Name of the token, such as what it is used for.")
    digest = models.CharField(max_length=64, unique=True, editable=False)
    ending = models.CharField(max_length=4, editable=False, help_text="The token's last four characters.")
    scopes = models.JSONField(default=list)
    # An API token has no limit unless one is set (R-LIM-8).
    requests_per_minute = models.PositiveIntegerField(
        null=True, blank=True, help_text=_lazy("Leave empty for no limit.")
    )
    # Not a foreign key, since `installations` imports this module.
    installation_id = models.BigIntegerField(
        null=True,
        editable=False,
        db_index=True,
        help_text="The app installation that the token belongs to. Empty for the shop's own tokens.",
    )
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(
        null=True, editable=False, help_text="Accurate to about a minute (token_use.py)."
    )

    class Meta:
        verbose_name = _lazy("API token")
        indexes = [models.Index(fields=["shop", "created_at"])]

    def __str__(self) -> str:
        return f"{self.name} (…{self.ending})"

    def is_valid(self, now: datetime) -> bool:
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)


class IdempotentAnswer(models.Model):
    """The first response to a POST with an `Idempotency-Key` (R-CALL-21)."""

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, db_index=False)
    caller = models.CharField(max_length=64, help_text="Identifies the credential that sent the request.")
    key = models.CharField(max_length=255)
    request_digest = models.CharField(max_length=64)
    claim = models.UUIDField(help_text="The attempt that holds the key.")
    claimed_at = models.DateTimeField()
    status = models.PositiveSmallIntegerField(null=True, help_text="Null while the request is in progress.")
    # Encrypted, since responses contain cart tokens and signed links.
    body = models.BinaryField(null=True)
    expires_at = models.DateTimeField(db_index=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["shop", "caller", "key"], name="idempotent_answer_once")]

    def __str__(self) -> str:
        return self.key


class QuotaUse(models.Model):
    """How much a shop has used of one of the deployment's quotas (`shops.quotas`)."""

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, db_index=False)
    kind = models.CharField(max_length=10, help_text="A key of settings.QUOTAS.")
    since = models.DateTimeField(help_text="When the hour or day began in which these uses count.")
    used = models.BigIntegerField()
    most = models.BigIntegerField(
        null=True, help_text="The operator's limit for this shop alone; 0: none. Null: that of the deployment."
    )

    class Meta:
        constraints = [models.UniqueConstraint(fields=["shop", "kind"], name="quota_use_once")]

    def __str__(self) -> str:
        return f"{self.kind}: {self.used}"


class HandoverCode(models.Model):
    """A single-use code that takes a visitor from one of the shop's hosts to another (`shops/handover.py`)."""

    class Purpose(models.TextChoices):
        TO_SECURE = "to_secure"
        TO_SHOP = "to_shop"
        LINK = "link"

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE)
    digest = models.CharField(max_length=64, unique=True)
    purpose = models.CharField(max_length=10, choices=Purpose)
    payload = models.JSONField(help_text="What is handed over. Nothing secret.")
    state_digest = models.CharField(
        max_length=64,
        blank=True,
        help_text="Digest of the state that the destination's session waits for; empty if none.",
    )
    expires_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return f"{self.purpose} {self.pk}"
