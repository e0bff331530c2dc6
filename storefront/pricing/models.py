from datetime import datetime
from decimal import Decimal

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import F, Q

from storefront.catalogue.models import Category, Product, TaxClass, Variant
from storefront.customers.models import CustomerGroup
from storefront.kit.money import MoneyField
from storefront.shops.models import Shop


class GroupPrice(models.Model):
    """The price of a product or a variant for one customer group (R-CART-30)."""

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE)
    group = models.ForeignKey(CustomerGroup, on_delete=models.CASCADE, related_name="prices")
    product = models.ForeignKey(Product, on_delete=models.CASCADE, related_name="group_prices")
    variant = models.ForeignKey(Variant, null=True, blank=True, on_delete=models.CASCADE, related_name="group_prices")
    price = MoneyField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["group", "product"], condition=Q(variant__isnull=True), name="group_price_product_once"
            ),
            models.UniqueConstraint(
                fields=["group", "variant"], condition=Q(variant__isnull=False), name="group_price_variant_once"
            ),
            models.CheckConstraint(condition=Q(price__gte=0), name="group_price_not_negative"),
        ]

    def __str__(self) -> str:
        return f"{self.product} for {self.group}: {self.price}"


class Discount(models.Model):
    """An automatic discount. Discounts add up, but never reduce the total below zero."""

    class Kind(models.TextChoices):
        PERCENT = "percent", "percentage"
        AMOUNT = "amount", "fixed amount"

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, related_name="discounts")
    name = models.CharField(max_length=100)
    kind = models.CharField(max_length=10, choices=Kind, default=Kind.PERCENT)
    value = models.DecimalField(max_digits=14, decimal_places=2, validators=[MinValueValidator(Decimal(0))])
    minimum_subtotal = MoneyField(help_text="Applies to a subtotal of at least this amount.")
    category = models.ForeignKey(
        Category, null=True, blank=True, on_delete=models.CASCADE, help_text="Leave empty to apply to the whole basket."
    )
    starts_at = models.DateTimeField(null=True, blank=True)
    ends_at = models.DateTimeField(null=True, blank=True)
    is_active = models.BooleanField(default=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(value__gte=0) & (Q(kind="amount") | Q(value__lte=100)), name="discount_value_range"
            )
        ]

    def __str__(self) -> str:
        return self.name

    def runs(self, now: datetime) -> bool:
        """Whether it is active and `now` is within its period."""
        started = self.starts_at is None or self.starts_at <= now
        return self.is_active and started and (self.ends_at is None or now < self.ends_at)


class TaxRate(models.Model):
    """The tax on products of one tax class in one country, or in one region of it."""

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, related_name="tax_rates")
    name = models.CharField(max_length=60, help_text="Such as VAT.")
    tax_class = models.ForeignKey(
        TaxClass,
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        help_text="Leave empty for products without a tax class.",
    )
    country = models.CharField(max_length=2, help_text="ISO 3166 code, such as DE.")
    region = models.CharField(max_length=100, blank=True, help_text="Leave empty for the whole country.")
    percent = models.DecimalField(
        max_digits=6, decimal_places=3, validators=[MinValueValidator(Decimal(0)), MaxValueValidator(Decimal(100))]
    )
    applies_to_shipping = models.BooleanField(default=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["shop", "tax_class", "country", "region"],
                condition=Q(tax_class__isnull=False),
                name="tax_rate_class_once",
            ),
            models.UniqueConstraint(
                fields=["shop", "country", "region"], condition=Q(tax_class__isnull=True), name="tax_rate_once"
            ),
            models.CheckConstraint(condition=Q(percent__gte=0, percent__lte=100), name="tax_rate_percent_range"),
        ]

    def __str__(self) -> str:
        return f"{self.name} {self.percent.normalize():f}% ({self.country})"


class ShippingRate(models.Model):
    """A delivery method that a shopper can choose, and its price."""

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, related_name="shipping_rates")
    name = models.CharField(max_length=100, help_text="As shoppers see it, such as Parcel, 2 to 3 days.")
    countries = models.JSONField(default=list, blank=True, help_text="ISO 3166 codes. Empty for all countries.")
    price = MoneyField()
    free_from = MoneyField(
        null=True, blank=True, help_text="Free for a subtotal of at least this amount. Leave empty if it is never free."
    )
    minimum_weight = models.DecimalField(max_digits=10, decimal_places=3, default=Decimal(0))
    maximum_weight = models.DecimalField(
        max_digits=10, decimal_places=3, null=True, blank=True, help_text="In the same unit as product weights."
    )
    sort_order = models.IntegerField(default=0)
    is_active = models.BooleanField(default=True)

    class Meta:
        ordering = ["sort_order", "id"]
        constraints = [
            models.CheckConstraint(condition=Q(price__gte=0), name="shipping_rate_price_not_negative"),
            models.CheckConstraint(
                condition=Q(maximum_weight__isnull=True) | Q(maximum_weight__gte=F("minimum_weight")),
                name="shipping_rate_weight_range",
            ),
        ]

    def __str__(self) -> str:
        return self.name
