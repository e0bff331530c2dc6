import uuid

from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext as _

from storefront.carts.models import Cart
from storefront.customers.models import Customer
from storefront.kit.money import ZERO
from storefront.kit.money_field import MoneyField
from storefront.orders.models import Order, OrderLine
from storefront.payments.rules import State
from storefront.shops.models import Shop


class OrderDraft(models.Model):
    """What a shopper pressed pay for, frozen: what is paid is what is ordered.

    An open draft holds stock. It ends as its order (`placed`), or without one (`ended`): then its stock is put back.
    A cart has at most one open draft.
    """

    class State(models.TextChoices):
        OPEN = "open"
        PLACED = "placed"
        ENDED = "ended"

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE)
    cart = models.ForeignKey(Cart, null=True, on_delete=models.SET_NULL, related_name="drafts")
    owner = models.UUIDField(null=True, help_text="Secret of the session that pressed pay.")
    digest = models.CharField(max_length=64, help_text="Of what was pressed: a second press of the same joins it.")
    email = models.EmailField()
    sale = models.JSONField(help_text="The whole sale, as payments.frozen writes it.")
    basket = models.JSONField(help_text="What leaves the carts once the order is placed (carts.merging.Ordered).")
    stock_taken = models.JSONField(default=list, help_text='[{"stock": "product", "id": 1, "qty": 2}]')
    total = MoneyField()
    currency = models.CharField(max_length=3)
    state = models.CharField(max_length=10, choices=State, default=State.OPEN)
    is_replaced = models.BooleanField(
        default=False, help_text="Whether it ended for another press of the same basket: then money is given back."
    )
    order = models.OneToOneField(Order, null=True, on_delete=models.SET_NULL, related_name="draft")
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["cart"], condition=Q(state="open"), name="draft_one_open_a_cart"),
        ]
        indexes = [
            models.Index(fields=["expires_at"], condition=Q(state="open"), name="draft_expiry"),
            models.Index(fields=["created_at"], condition=~Q(state="open"), name="draft_over"),
            models.Index(fields=["shop", "email"], condition=Q(state="open"), name="draft_open_by_email"),
        ]

    def __str__(self) -> str:
        return f"{self.total} {self.currency}, {self.state}"


class Payment(models.Model):
    """A payment of an order, or of the draft that becomes one, through one provider.

    Only `settling.settle` moves `state` and the sums. `status` is the coarser form of `state` that the API has always
    had. `captured` is a sum that the provider reported and that only grows. `returned` is what its refunds that are
    done come to, and `refunded` what they come to with those that are pending (`refund_ledger`).
    """

    class Status(models.TextChoices):
        PENDING = "pending"
        AUTHORISED = "authorised"
        PAID = "paid"
        VOIDED = "voided"

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, db_index=False)
    draft = models.ForeignKey(OrderDraft, null=True, on_delete=models.SET_NULL, related_name="payments")
    order = models.ForeignKey(Order, null=True, on_delete=models.CASCADE, related_name="payments")
    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    key = models.UUIDField(
        default=uuid.uuid4, unique=True, editable=False, help_text="Makes each call to the provider happen once."
    )
    gateway = models.CharField("provider", max_length=40)
    status = models.CharField(max_length=10, choices=Status)
    state = models.CharField(max_length=10, choices=State, default=State.STARTED)
    version = models.PositiveIntegerField(
        default=0, help_text="Counts changes: an answer to a question from before a change is out of date."
    )
    amount = MoneyField()
    captured = MoneyField(help_text="Amount that was ever taken.")
    returned = MoneyField(help_text="Amount that the provider has given back.")
    disputed = MoneyField(help_text="Amount that a bank has taken back, for now or for good.")
    refunded = MoneyField(help_text="Amount that has been refunded or is being refunded.")
    currency = models.CharField(max_length=3)
    is_held = models.BooleanField(default=False, help_text="Whether money is captured only once something is shipped.")
    saves_method = models.BooleanField(default=False, help_text="Whether the shopper asked to save the method.")
    customer_reference = models.CharField(
        max_length=255, blank=True, help_text="The provider's id of the customer whose method is charged."
    )
    method_reference = models.CharField(
        max_length=255, blank=True, help_text="The provider's id of the saved method to charge."
    )
    reference = models.CharField(max_length=255, blank=True, help_text="The provider's ID for this payment.")
    method = models.CharField(max_length=100, blank=True, help_text="How it was paid, such as Visa •••• 4242.")
    failure = models.CharField(max_length=255, blank=True, help_text="Why the last try failed.")
    dispute = models.CharField(max_length=100, blank=True, help_text="The state of a dispute.")
    alert = models.CharField(
        max_length=255,
        blank=True,
        help_text="What the shop has to look at: what the provider says does not fit.",
        default="",
        db_default="",
    )
    place = models.CharField(
        max_length=32,
        blank=True,
        help_text="Digest of where a visitor ordered from, while the payment is pending.",
    )
    due_at = models.DateTimeField(null=True, help_text="When the worker asks the provider next.")
    looks = models.PositiveIntegerField(default=0, help_text="How often it asked since the last change.")
    asked_at = models.DateTimeField(null=True, help_text="When a page of the shopper last asked the provider.")
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()

    class Meta:
        # Named by the room that it was made in: triggers and upgrades name the table too.
        db_table = "orders_payment"
        ordering = ["id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(refunded__gte=0, refunded__lte=F("amount")), name="payment_refunded_within_amount"
            )
        ]
        indexes = [
            models.Index(fields=["shop", "place"], condition=Q(status="pending"), name="payment_waiting_by_place"),
            models.Index(fields=["shop", "gateway", "reference"], name="payment_by_reference"),
            models.Index(fields=["due_at"], condition=Q(due_at__isnull=False), name="payment_due"),
            # Without the time of the change, so that a change writes to no index; few rows have an alert.
            models.Index(fields=["shop"], condition=~Q(alert=""), name="payment_with_alert"),
        ]

    def __str__(self) -> str:
        return _("%(amount)s %(currency)s by %(gateway)s") % {
            "amount": self.amount,
            "currency": self.currency,
            "gateway": self.gateway,
        }


class PaymentEntry(models.Model):
    """A change of a payment, or news of one; never changed or deleted. The amounts of a payment's entries add up to
    what the shop has of it: captured less returned less disputed."""

    class Kind(models.TextChoices):
        NEWS = "news"
        STATE = "state"
        CAPTURED = "captured"
        RETURNED = "returned"
        DISPUTED = "disputed"
        REFUSED = "refused", "Not believed"

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, db_constraint=False)
    payment = models.ForeignKey(Payment, on_delete=models.CASCADE, related_name="entries")
    at = models.DateTimeField()
    kind = models.CharField(max_length=10, choices=Kind)
    amount = MoneyField(signed=True)
    from_state = models.CharField(max_length=10)
    to_state = models.CharField(max_length=10)
    source = models.CharField(max_length=10, help_text="The source: call, news, look or staff.")
    event_id = models.CharField(max_length=255, blank=True, help_text="The provider's ID of its event.")
    detail = models.CharField(max_length=255, blank=True)

    class Meta:
        verbose_name_plural = "payment entries"
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["payment", "event_id"], condition=~Q(event_id=""), name="payment_event_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.amount}"


class Refund(models.Model):
    """A refund of a payment: asked for here or, if foreign, made elsewhere, as in the provider's dashboard.

    One of ours is pending until the provider has carried it out; until that has named it, it is sent at `due_at`, with
    `key` as idempotency key. The order is null where money came for a draft that had ended.
    """

    class Status(models.TextChoices):
        PENDING = "pending"
        DONE = "done"
        FAILED = "failed"

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, db_constraint=False)
    order = models.ForeignKey(Order, null=True, on_delete=models.CASCADE, related_name="refunds")
    payment = models.ForeignKey(Payment, on_delete=models.CASCADE, related_name="refunds")
    key = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    is_foreign = models.BooleanField(
        default=False, db_default=False, help_text="Whether it was made at the provider, and not asked for here."
    )
    status = models.CharField(max_length=10, choices=Status, default=Status.PENDING)
    part_of = models.ForeignKey(
        "self",
        null=True,
        on_delete=models.CASCADE,
        related_name="parts",
        help_text="The refund that has the lines of this one, where they are paid back to several payments.",
    )
    amount = MoneyField()
    shipping = MoneyField(help_text="How much of the amount, and of its parts', is for the delivery.", db_default=ZERO)
    currency = models.CharField(max_length=3)
    reason = models.TextField(blank=True)
    restocked = models.BooleanField(default=False, help_text="The order's items were restocked with the refund.")
    reference = models.CharField(max_length=255, blank=True, help_text="The provider's ID for this refund.")
    failure = models.CharField(max_length=255, blank=True, help_text="Why the refund failed.")
    due_at = models.DateTimeField()
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()

    class Meta:
        db_table = "orders_refund"
        ordering = ["id"]
        constraints = [
            models.CheckConstraint(condition=Q(amount__gt=0), name="refund_amount_positive"),
            # A payment is one shop's, in one account of its provider.
            models.UniqueConstraint(
                fields=["payment", "reference"], condition=~Q(reference=""), name="refund_reference_once"
            ),
        ]
        indexes = [models.Index(fields=["due_at"], condition=Q(status="pending"), name="refund_due")]

    def __str__(self) -> str:
        return _("Refund of %(amount)s") % {"amount": f"{self.amount} {self.currency}"}


class RefundLine(models.Model):
    """Pieces of an order line that a refund pays back. Those of a failed refund count for nothing."""

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, db_constraint=False)
    refund = models.ForeignKey(Refund, on_delete=models.CASCADE, related_name="lines", db_index=False)
    line = models.ForeignKey(OrderLine, on_delete=models.CASCADE, related_name="refunds")
    qty = models.PositiveIntegerField()
    amount = MoneyField(help_text="What was paid for the pieces, with tax and after discounts.")
    tax = MoneyField(help_text="The tax in it.")
    withdrawn_qty = models.PositiveIntegerField(default=0, help_text="Pieces that had not been sent.")
    closed_qty = models.PositiveIntegerField(
        default=0, db_default=0, help_text="Of those, the ones that were not to be sent any more."
    )
    restocked_qty = models.PositiveIntegerField(default=0, help_text="Pieces whose stock was put back.")

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["refund", "line"], name="refund_line_once"),
            models.CheckConstraint(condition=Q(qty__gte=1), name="refund_line_qty_positive"),
        ]

    def __str__(self) -> str:
        return f"{self.qty} × {self.line.name}"


class ProviderAccount(models.Model):
    """What a merchant filled in for a provider. `sealed` is one sealed JSON object of the fields that are secret."""

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, db_index=False)
    provider = models.CharField(max_length=40)
    values = models.JSONField(default=dict)
    sealed = models.BinaryField(null=True, editable=False)
    checked_at = models.DateTimeField(null=True, help_text="When the provider last accepted these settings.")
    account_reference = models.CharField(
        max_length=255,
        null=True,
        editable=False,
        help_text="The provider's id of the account. Empty once a secret was changed, until it is known again; null "
        "while it was never asked for.",
    )

    class Meta:
        verbose_name = "payment provider"
        constraints = [models.UniqueConstraint(fields=["shop", "provider"], name="provider_account_once")]

    def __str__(self) -> str:
        return self.provider


class ReplacedSettings(models.Model):
    """The settings of a provider that the latest ones replaced, kept for a day so that they can be restored. Those that
    were replaced before that day is over are not kept: they were never in force for long."""

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, db_index=False)
    provider = models.CharField(max_length=40)
    values = models.JSONField(default=dict)
    sealed = models.BinaryField(null=True, editable=False)
    account_reference = models.CharField(max_length=255, null=True, editable=False)
    replaced_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["shop", "provider"], name="replaced_settings_once")]
        indexes = [models.Index(fields=["replaced_at"], name="replaced_settings_age")]

    def __str__(self) -> str:
        return self.provider


class SavedMethod(models.Model):
    """A payment method that a provider keeps for a customer. The provider has its data; here are its ids."""

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, db_constraint=False, db_index=False)
    customer = models.ForeignKey(Customer, on_delete=models.CASCADE, related_name="saved_methods")
    provider = models.CharField(max_length=40)
    account_reference = models.CharField(
        max_length=255,
        blank=True,
        help_text="The provider's id of the shop's account that keeps it.",
        default="",
        db_default="",
    )
    customer_reference = models.CharField(max_length=255)
    method_reference = models.CharField(max_length=255)
    label = models.CharField(max_length=100)
    expires = models.CharField(max_length=10, blank=True)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["shop", "provider", "method_reference"], name="saved_method_once")
        ]

    def __str__(self) -> str:
        return self.label
