import uuid
from decimal import Decimal

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models.functions import Lower
from django.utils.translation import gettext_lazy as _lazy

from storefront.shops.models import Shop


class CustomerGroup(models.Model):
    """Customers who share prices, such as trade customers."""

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, related_name="customer_groups")
    name = models.CharField(max_length=100)
    discount_percent = models.DecimalField(
        max_digits=5,
        decimal_places=2,
        default=Decimal(0),
        validators=[MinValueValidator(0), MaxValueValidator(100)],
        help_text=_lazy("Discount on every price that has no group price."),
    )

    sees_net_prices = models.BooleanField(
        _lazy("sees prices without tax"),
        default=False,
        db_default=False,
        help_text=_lazy("For businesses. Tax is added at the checkout."),
    )

    class Meta:
        constraints = [
            models.UniqueConstraint("shop", Lower("name"), name="customer_group_name_once"),
            models.CheckConstraint(
                condition=models.Q(discount_percent__gte=0, discount_percent__lte=100),
                name="customer_group_discount_range",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class Customer(models.Model):
    """A shopper known to one shop. The same email address at two shops is two customers."""

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, related_name="customers", db_index=False)
    email = models.EmailField(help_text="In lowercase.")
    pending_email = models.EmailField(
        null=True,
        blank=True,
        help_text=_lazy("New email address in lowercase. Replaces the current one when the customer confirms it."),
    )
    password = models.CharField(
        max_length=200, blank=True, help_text="Password hash; empty if the customer cannot sign in."
    )
    session_mark = models.UUIDField(
        default=uuid.uuid4,
        editable=False,
        help_text="Stored in sessions and emailed links. A new value ends all of them.",
    )
    name = models.CharField(max_length=200, blank=True)
    phone = models.CharField(max_length=40, blank=True)
    group = models.ForeignKey(CustomerGroup, null=True, blank=True, on_delete=models.SET_NULL)
    note = models.TextField(blank=True)
    language = models.CharField(
        max_length=5,
        blank=True,
        default="",
        db_default="",
        editable=False,
        help_text="Of the last visit or order. Empty: the shop's.",
    )
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["shop", "email"], name="customer_email_once"),
            models.CheckConstraint(condition=models.Q(email=Lower("email")), name="customer_email_lower"),
            models.CheckConstraint(
                condition=models.Q(pending_email=None) | models.Q(pending_email=Lower("pending_email")),
                name="customer_pending_email_lower",
            ),
        ]
        indexes = [
            models.Index(fields=["shop", "id"], name="customer_list"),
            models.Index(fields=["shop", "updated_at"], name="customer_by_change"),
        ]

    def __str__(self) -> str:
        return self.name or self.email

    @property
    def can_sign_in(self) -> bool:
        return bool(self.password)


class Address(models.Model):
    """An address in a customer's address book. Orders keep their own copy."""

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, db_constraint=False)
    customer = models.ForeignKey(Customer, on_delete=models.CASCADE, related_name="addresses")
    name = models.CharField(max_length=200)
    company = models.CharField(max_length=200, blank=True)
    line1 = models.CharField(max_length=200)
    line2 = models.CharField(max_length=200, blank=True)
    postal_code = models.CharField(max_length=20, blank=True)
    city = models.CharField(max_length=100)
    region = models.CharField(max_length=100, blank=True)
    country = models.CharField(max_length=2)
    phone = models.CharField(max_length=40, blank=True)
    is_default = models.BooleanField(_lazy("default address"), default=False)

    class Meta:
        verbose_name_plural = _lazy("addresses")
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["customer"], condition=models.Q(is_default=True), name="address_one_default_a_customer"
            )
        ]

    def __str__(self) -> str:
        return f"{self.name}, {self.city}"
