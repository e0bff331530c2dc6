from datetime import datetime

from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext as _

from storefront.kit.money_field import MoneyField
from storefront.shops.models import Shop


class GiftCard(models.Model):
    """A gift card. `balance` is the sum of its log (docs/gift-cards.md).

    A code is created when it is shown, in the mail or to staff; only its digest is stored. Orders are in a higher room,
    so `order_id` and `line_id` are not foreign keys.
    """

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, related_name="gift_cards", db_index=False)
    digest = models.CharField(
        max_length=64, null=True, editable=False, help_text="Of the newest code; null before there is one."
    )
    last_four = models.CharField(max_length=4, blank=True, editable=False)
    currency = models.CharField(max_length=3, editable=False)
    value = MoneyField(help_text="Amount that it was issued with.")
    balance = MoneyField(editable=False)
    email = models.EmailField(
        "email address", blank=True, help_text="Where the code is sent. If empty, it is shown once, here."
    )
    message = models.TextField(blank=True, help_text="Printed in the email.")
    giver = models.CharField(
        "from", max_length=100, blank=True, default="", db_default="", help_text="The giver, as named on the card."
    )
    language = models.CharField(
        max_length=5,
        blank=True,
        default="",
        db_default="",
        editable=False,
        help_text="Of the email. Empty: the shop's.",
    )
    send_at = models.DateTimeField(null=True, editable=False, help_text="When the mail is due, until it is queued.")
    sent_at = models.DateTimeField(null=True, editable=False, help_text="When the mail with the code was last sent.")
    expires_at = models.DateTimeField(null=True, blank=True, help_text="Leave empty for a card that does not expire.")
    disabled_at = models.DateTimeField(null=True, editable=False)
    is_withdrawn = models.BooleanField(
        default=False,
        db_default=False,
        editable=False,
        help_text="Whether it is disabled because its purchase was taken back, and is enabled if that is undone.",
    )
    order_id = models.BigIntegerField(null=True, editable=False, db_index=True)
    line_id = models.BigIntegerField(null=True, editable=False, help_text="The order line that it was sold with.")
    number = models.PositiveIntegerField(default=1, editable=False, help_text="Which piece of its line it is.")
    created_at = models.DateTimeField(editable=False)

    class Meta:
        ordering = ["-created_at", "-id"]
        constraints = [
            models.CheckConstraint(condition=Q(balance__gte=0, balance__lte=F("value")), name="gift_card_balance"),
            models.CheckConstraint(condition=Q(value__gt=0), name="gift_card_value_positive"),
            models.CheckConstraint(
                condition=Q(is_withdrawn=False) | Q(disabled_at__isnull=False), name="gift_card_withdrawn_is_disabled"
            ),
            models.UniqueConstraint(
                fields=["shop", "digest"], condition=Q(digest__isnull=False), name="gift_card_code_once"
            ),
            models.UniqueConstraint(
                fields=["line_id", "number"], condition=Q(line_id__isnull=False), name="gift_card_once_a_piece"
            ),
        ]
        indexes = [
            models.Index(fields=["shop", "created_at"], name="gift_card_by_date"),
            models.Index(fields=["send_at"], condition=Q(send_at__isnull=False), name="gift_card_to_send"),
        ]

    def __str__(self) -> str:
        return f"…{self.last_four}" if self.last_four else _("Gift card %(number)s") % {"number": self.pk}

    def has_expired(self, now: datetime) -> bool:
        return self.expires_at is not None and self.expires_at <= now


class GiftCardEntry(models.Model):
    """A change of a gift card; the amounts of its entries add up to its balance. Never changed or deleted, except that
    `cart_id` is cleared once the basket's payment has an outcome.

    `key` makes each movement of money happen once: the payment's for spending and releasing, the refund's for a refund.
    """

    class Kind(models.TextChoices):
        ISSUED = "issued"
        SPENT = "spent"
        RELEASED = "released", "not spent after all"
        REFUNDED = "refunded"
        SENT = "sent"
        SHOWN = "shown", "code shown"
        DISABLED = "disabled"
        ENABLED = "enabled"
        EXPIRY = "expiry", "expiry changed"

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, db_constraint=False)
    card = models.ForeignKey(GiftCard, on_delete=models.CASCADE, related_name="entries")
    at = models.DateTimeField()
    kind = models.CharField(max_length=10, choices=Kind)
    amount = MoneyField(signed=True)
    balance = MoneyField(help_text="Balance after it.")
    key = models.UUIDField(null=True)
    payment = models.UUIDField(null=True, db_index=True, help_text="Key of the payment that it belongs to.")
    cart_id = models.BigIntegerField(null=True, help_text="The basket, while its payment has no outcome.")
    detail = models.CharField(max_length=255, blank=True)

    class Meta:
        verbose_name_plural = "log"
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["key", "kind"], condition=Q(key__isnull=False), name="gift_card_entry_once")
        ]
        indexes = [
            models.Index(fields=["cart_id"], condition=Q(cart_id__isnull=False), name="gift_card_entry_of_cart"),
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} {self.amount}"
