import uuid

from django.db import models
from django.db.models import Q

from storefront.catalogue.models import Product, Variant
from storefront.customers.models import Customer
from storefront.kit.money import MoneyField
from storefront.shops.models import Shop


class OrderCounter(models.Model):
    """The last order number a shop has given. Its row is taken last in a transaction and held for one commit."""

    shop = models.OneToOneField(Shop, primary_key=True, on_delete=models.CASCADE)
    last_number = models.BigIntegerField(default=1000)

    def __str__(self) -> str:
        return str(self.last_number)


class Order(models.Model):
    """A sale. Names, prices and addresses are copies; nothing here changes when the catalogue does."""

    class Status(models.TextChoices):
        OPEN = "open"
        FULFILLED = "fulfilled"
        CANCELLED = "cancelled"

    class PaymentStatus(models.TextChoices):
        PENDING = "pending"
        PAID = "paid"
        REFUNDED = "refunded"

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, related_name="orders")
    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    number = models.BigIntegerField(editable=False)
    status = models.CharField(max_length=10, choices=Status, default=Status.OPEN)
    payment_status = models.CharField(max_length=10, choices=PaymentStatus, default=PaymentStatus.PENDING)
    customer = models.ForeignKey(Customer, null=True, blank=True, on_delete=models.SET_NULL, related_name="orders")
    email = models.EmailField("e-mail address")
    phone = models.CharField(max_length=40, blank=True)
    currency = models.CharField(max_length=3)
    subtotal = MoneyField()
    discount = MoneyField()
    shipping = MoneyField()
    tax = MoneyField(help_text="Tax added to the prices, or contained in them where prices include tax.")
    total = MoneyField()
    prices_include_tax = models.BooleanField()
    tax_lines = models.JSONField(default=list, help_text='[{"name": "VAT", "percent": "19", "amount": "3.80"}]')
    discount_lines = models.JSONField(default=list, help_text='[{"name": "Autumn", "amount": "5.00"}]')
    shipping_method = models.CharField(max_length=100, blank=True)
    shipping_address = models.JSONField(null=True)
    billing_address = models.JSONField()
    payment_method = models.CharField(max_length=40)
    note = models.TextField(blank=True, help_text="From the shop's side; shoppers do not see it.")
    shopper_note = models.TextField(blank=True)
    tags = models.JSONField(default=list, blank=True)
    placed_at = models.DateTimeField()
    updated_at = models.DateTimeField()
    cancelled_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-placed_at", "-id"]
        constraints = [
            models.UniqueConstraint(fields=["shop", "number"], name="order_number_once"),
            models.CheckConstraint(condition=Q(total__gte=0), name="order_total_not_negative"),
        ]
        indexes = [models.Index(fields=["shop", "placed_at"])]

    def __str__(self) -> str:
        return f"#{self.number}"


class OrderLine(models.Model):
    """One line of an order, and which stock it took, so that a cancellation can put it back."""

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE)
    order = models.ForeignKey(Order, on_delete=models.CASCADE, related_name="lines")
    product = models.ForeignKey(Product, null=True, on_delete=models.SET_NULL, related_name="+")
    variant = models.ForeignKey(Variant, null=True, on_delete=models.SET_NULL, related_name="+")
    sku = models.CharField("SKU", max_length=255, blank=True)
    name = models.CharField(max_length=1100)
    image = models.CharField(max_length=2048, null=True)
    qty = models.PositiveIntegerField()
    unit_price = MoneyField()
    line_total = MoneyField()
    tax = MoneyField()
    is_digital = models.BooleanField(default=False)
    is_bundle = models.BooleanField(default=False)
    is_damaged = models.BooleanField(default=False)
    requires_shipping = models.BooleanField(default=True)
    bundle_items = models.JSONField(default=list)
    options = models.JSONField(default=list)
    custom_fields = models.JSONField(default=list)
    stock_taken = models.JSONField(
        default=list, help_text='[{"stock": "product" | "variant" | "damaged", "id": 1, "qty": 2}]'
    )

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{self.qty} × {self.name}"


class Payment(models.Model):
    """Money promised or received for an order through one gateway."""

    class Status(models.TextChoices):
        PENDING = "pending"
        AUTHORISED = "authorised"
        PAID = "paid"
        VOIDED = "voided"

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE)
    order = models.ForeignKey(Order, on_delete=models.CASCADE, related_name="payments")
    gateway = models.CharField(max_length=40)
    status = models.CharField(max_length=10, choices=Status)
    amount = MoneyField()
    currency = models.CharField(max_length=3)
    reference = models.CharField(max_length=255, blank=True, help_text="The gateway's own name for this payment.")
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{self.amount} {self.currency} by {self.gateway}"
