import uuid
from decimal import Decimal

from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Lower
from django.utils.translation import gettext as _
from django.utils.translation import pgettext_lazy

from storefront.carts.models import Attributed
from storefront.catalogue.models import Product, StoredFile, Variant
from storefront.customers.models import Customer
from storefront.kit.money import ZERO
from storefront.kit.money_field import MoneyField
from storefront.orders.desk_models import OrderMail as OrderMail
from storefront.orders.desk_models import OrderWord as OrderWord
from storefront.orders.rules import amount_due
from storefront.shops.models import Shop


class OrderCounter(models.Model):
    """The last order number of a shop. Lock its row late in a transaction: all sales of the shop wait for it."""

    shop = models.OneToOneField(Shop, primary_key=True, on_delete=models.CASCADE)
    last_number = models.BigIntegerField(default=1000)

    def __str__(self) -> str:
        return str(self.last_number)


class Order(Attributed):
    """A sale. Names, prices and addresses are copies, so a change of the catalogue does not change them."""

    class Status(models.TextChoices):
        OPEN = "open", pgettext_lazy("order", "Open")
        FULFILLED = "fulfilled", pgettext_lazy("order", "Fulfilled")
        CANCELLED = "cancelled", pgettext_lazy("order", "Cancelled")

    class PaymentStatus(models.TextChoices):
        PENDING = "pending", pgettext_lazy("payment", "Pending")
        PAID = "paid", pgettext_lazy("payment", "Paid")
        PARTIALLY_REFUNDED = "partially_refunded", pgettext_lazy("payment", "Partially refunded")
        REFUNDED = "refunded", pgettext_lazy("payment", "Refunded")

    class FulfilmentStatus(models.TextChoices):
        UNFULFILLED = "unfulfilled", pgettext_lazy("order", "Not sent")
        PARTIALLY_FULFILLED = "partially_fulfilled", pgettext_lazy("order", "Partly sent")
        FULFILLED = "fulfilled", pgettext_lazy("order", "Sent")

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, related_name="orders", db_index=False)
    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    number = models.BigIntegerField(editable=False)
    status = models.CharField(max_length=10, choices=Status, default=Status.OPEN)
    payment_status = models.CharField(max_length=20, choices=PaymentStatus, default=PaymentStatus.PENDING)
    fulfilment_status = models.CharField(
        max_length=20,
        choices=FulfilmentStatus,
        default=FulfilmentStatus.UNFULFILLED,
        db_default=FulfilmentStatus.UNFULFILLED,
        help_text="Follows from the items of the order.",
    )
    customer = models.ForeignKey(Customer, null=True, blank=True, on_delete=models.SET_NULL, related_name="orders")
    placed_by_guest = models.BooleanField(
        default=False,
        db_default=False,
        editable=False,
        help_text="Whether nobody was signed in. It may be a stranger's, also if its address belongs to a customer.",
    )
    email = models.EmailField("email address")
    phone = models.CharField(max_length=40, blank=True)
    currency = models.CharField(max_length=3)
    subtotal = MoneyField()
    discount = MoneyField()
    shipping = MoneyField()
    tax = MoneyField(help_text="Tax added to the prices, or included in them if prices include tax.")
    total = MoneyField()
    refunded = MoneyField(help_text="Amount that has been refunded.")
    prices_include_tax = models.BooleanField()
    tax_lines = models.JSONField(
        default=list,
        help_text='[{"name": "VAT", "percent": "19", "base": "20.00", "amount": "3.80", "treatment": "taxed"}]. '
        "Orders from before bases were kept have no base and treatment.",
    )
    vat_id = models.CharField(
        "VAT ID", max_length=20, blank=True, help_text="Of the customer, if it was given.", default="", db_default=""
    )
    vat_check = models.JSONField(null=True, help_text="What the authorities said of the VAT ID, and when.")
    discount_lines = models.JSONField(
        default=list, help_text='[{"name": "Autumn", "amount": "5.00", "code": "AUTUMN5"}]'
    )
    gift_cards = models.JSONField(
        default=list,
        db_default=[],
        help_text='What gift cards paid: [{"card": 1, "last_four": "K7QM", "amount": "5.00"}]',
    )
    redemption = models.UUIDField(
        null=True, editable=False, help_text="Number under which uses of discounts were counted, until given back."
    )
    shipping_method = models.CharField(max_length=100, blank=True)
    delivery_time = models.CharField(
        max_length=100, blank=True, help_text="As the shopper saw it.", default="", db_default=""
    )
    pickup_place = models.JSONField(
        null=True, help_text="The address to collect the order from, with its opening hours. Null: it is not collected."
    )
    shipping_address = models.JSONField(null=True)
    billing_address = models.JSONField()
    payment_method = models.CharField(max_length=40)
    note = models.TextField(blank=True, help_text="Internal note. Shoppers do not see it.")
    shopper_note = models.TextField(blank=True)
    tags = models.JSONField(default=list, blank=True)
    checkout_link = models.UUIDField(
        null=True, editable=False, help_text="Public id of the checkout link that brought items of the order."
    )
    language = models.CharField(
        max_length=5,
        blank=True,
        default="",
        db_default="",
        editable=False,
        help_text="In which it was placed: that of its mails and papers. Empty: the shop's.",
    )
    placed_at = models.DateTimeField()
    updated_at = models.DateTimeField()
    cancelled_at = models.DateTimeField(null=True, blank=True)
    cancel_reason = models.TextField(blank=True)
    restocked_at = models.DateTimeField(null=True, blank=True, help_text="When the order's items were restocked.")
    printed_at = models.DateTimeField(null=True, editable=False, help_text="When its papers were last printed.")
    printed_by = models.CharField(
        max_length=254, blank=True, default="", db_default="", editable=False, help_text="Who of the staff did."
    )
    erased_at = models.DateTimeField(
        null=True, editable=False, help_text="When the customer was erased from it (`erasing.py`)."
    )

    class Meta:
        ordering = ["-placed_at", "-id"]
        constraints = [
            models.UniqueConstraint(fields=["shop", "number"], name="order_number_once"),
            models.CheckConstraint(condition=Q(total__gte=0), name="order_total_not_negative"),
            models.CheckConstraint(
                condition=Q(refunded__gte=0, refunded__lte=F("total")), name="order_refunded_within_total"
            ),
        ]
        # For pages of the list, newest first: all orders, orders with one status, and searches that match few orders.
        indexes = [
            models.Index(fields=["shop", "placed_at", "id"]),
            models.Index(fields=["shop", "status", "placed_at", "id"]),
            models.Index("shop", Lower("email"), "placed_at", "id", name="order_email"),
            models.Index(fields=["shop", "client_reference", "placed_at", "id"], name="order_client_reference"),
            models.Index(
                fields=["shop", "checkout_link", "placed_at", "id"],
                condition=Q(checkout_link__isnull=False),
                name="order_checkout_link",
            ),
            models.Index(fields=["shop", "updated_at"], name="order_by_change"),
            models.Index(fields=["shop", "payment_status", "placed_at", "id"], name="order_by_payment"),
            # Covers the query for the sales figures.
            models.Index(fields=["shop", "placed_at", "currency", "status", "total", "id"], name="order_figures"),
        ]

    def __str__(self) -> str:
        return f"#{self.number}"

    @property
    def amount_due(self) -> Decimal:
        """The amount left to pay after gift cards, which are a payment and do not change `total`. Zero for a paid or
        cancelled order (R-APP-45)."""
        is_awaited = self.payment_status == Order.PaymentStatus.PENDING and self.status != Order.Status.CANCELLED
        return amount_due(self.total, self.gift_cards) if is_awaited else ZERO


class OrderLine(models.Model):
    """A line of an order. `stock_taken` records which stock it took, so that a cancellation can restock it.

    Each piece is fulfilled, withdrawn (refunded before it was sent, so it is not sent), closed (not sent, and put back
    into stock, but not refunded by line: then it is withdrawn), or left.
    """

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, db_constraint=False)
    order = models.ForeignKey(Order, on_delete=models.CASCADE, related_name="lines")
    product = models.ForeignKey(Product, null=True, on_delete=models.SET_NULL, related_name="+")
    variant = models.ForeignKey(Variant, null=True, on_delete=models.SET_NULL, related_name="+")
    sku = models.CharField("SKU", max_length=255, blank=True)
    name = models.CharField(max_length=1100)
    image = models.CharField(max_length=2048, null=True)
    qty = models.PositiveIntegerField()
    fulfilled_qty = models.PositiveIntegerField(default=0)
    refunded_qty = models.PositiveIntegerField(default=0, db_default=0, help_text="Pieces that were refunded by line.")
    withdrawn_qty = models.PositiveIntegerField(
        default=0, db_default=0, help_text="Of those, the ones that are not sent any more."
    )
    closed_qty = models.PositiveIntegerField(
        default=0, db_default=0, help_text="Other pieces that are not sent any more."
    )
    restocked_qty = models.PositiveIntegerField(default=0, db_default=0, help_text="Pieces whose stock was put back.")
    unit_price = MoneyField()
    line_total = MoneyField()
    discount = MoneyField(help_text="The line's share of the order's discount.", db_default=ZERO)
    tax = MoneyField()
    tax_lines = models.JSONField(default=list, db_default=[], help_text="The taxes of the line by rate, as in `Order`.")
    is_digital = models.BooleanField(default=False)
    is_bundle = models.BooleanField(default=False)
    is_damaged = models.BooleanField(default=False)
    requires_shipping = models.BooleanField(default=True)
    bundle_items = models.JSONField(default=list)
    options = models.JSONField(default=list)
    custom_fields = models.JSONField(default=list)
    gift_card = models.JSONField(null=True, help_text="Of a gift card, what its buyer chose, as in `CartLine`.")
    available_from = models.DateTimeField(null=True, help_text="Of a pre-order with a date: when it is sent.")
    stock_taken = models.JSONField(
        default=list, help_text='[{"stock": "product" | "variant" | "damaged", "id": 1, "qty": 2}]'
    )

    class Meta:
        ordering = ["id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(fulfilled_qty__lte=F("qty") - F("withdrawn_qty") - F("closed_qty")),
                name="order_line_fulfilled_within_qty",
            ),
            models.CheckConstraint(
                condition=Q(refunded_qty__lte=F("qty"), withdrawn_qty__lte=F("refunded_qty")),
                name="order_line_refunded_within_qty",
            ),
            models.CheckConstraint(condition=Q(restocked_qty__lte=F("qty")), name="order_line_restocked_within_qty"),
        ]

    def __str__(self) -> str:
        return f"{self.qty} × {self.name}"

    @property
    def left(self) -> int:
        """The number of pieces that are still to be fulfilled."""
        return self.qty - self.fulfilled_qty - self.withdrawn_qty - self.closed_qty

    @property
    def needs_sending(self) -> bool:
        """Returns True if somebody has to send or hand over the pieces; False for files and gift cards."""
        return not self.is_digital and self.gift_card is None


class Download(models.Model):
    """A file that an order line was sold with, and how often the shopper has downloaded it.

    It is a copy: a change of the product's files or limits does not change it. Whether it can be downloaded follows
    from the order too (`orders/downloads.py`).
    """

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, db_constraint=False)
    order = models.ForeignKey(Order, on_delete=models.CASCADE, related_name="downloads")
    line = models.ForeignKey(OrderLine, on_delete=models.CASCADE, related_name="downloads", db_index=False)
    file = models.ForeignKey(StoredFile, on_delete=models.RESTRICT, related_name="+")
    name = models.CharField(max_length=200)
    max_downloads = models.PositiveIntegerField(help_text="0 means no limit.")
    expiry_days = models.PositiveIntegerField(help_text="Days from the payment; 0: never.")
    expires_at = models.DateTimeField(null=True)
    used = models.PositiveIntegerField(default=0, help_text="How often it was downloaded.")
    begun_at = models.DateTimeField(null=True, help_text="When the latest counted download began.")
    sent = models.BigIntegerField(default=0, help_text="Bytes that were sent of it since, resumed parts included.")

    class Meta:
        ordering = ["line_id", "id"]
        constraints = [
            models.UniqueConstraint(fields=["line", "file"], name="download_once"),
            models.CheckConstraint(
                condition=Q(max_downloads=0) | Q(used__lte=F("max_downloads")), name="download_within_limit"
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def left(self) -> int | None:
        """The number of downloads left; None without a limit."""
        return self.max_downloads - self.used if self.max_downloads else None


class Fulfilment(models.Model):
    """Items of an order that were shipped or picked up together. A cancelled fulfilment does not count."""

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, db_constraint=False)
    order = models.ForeignKey(Order, on_delete=models.CASCADE, related_name="fulfilments")
    carrier = models.CharField(max_length=100, blank=True)
    tracking_number = models.CharField(max_length=100, blank=True)
    tracking_url = models.URLField("tracking URL", max_length=2048, blank=True)
    created_at = models.DateTimeField()
    cancelled_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return " ".join(filter(None, [self.carrier, self.tracking_number])) or _("Fulfilment")


class FulfilmentLine(models.Model):
    """A quantity of an order line in a fulfilment."""

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, db_constraint=False)
    fulfilment = models.ForeignKey(Fulfilment, on_delete=models.CASCADE, related_name="lines", db_index=False)
    line = models.ForeignKey(OrderLine, on_delete=models.CASCADE, related_name="+")
    qty = models.PositiveIntegerField()

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["fulfilment", "line"], name="fulfilment_line_once"),
            models.CheckConstraint(condition=Q(qty__gte=1), name="fulfilment_line_qty_positive"),
        ]

    def __str__(self) -> str:
        return f"{self.qty} × {self.line.name}"
