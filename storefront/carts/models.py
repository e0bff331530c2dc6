import uuid
from datetime import datetime, timedelta

from django.db import models
from django.db.models import Q

from storefront.catalogue.models import Product, Variant
from storefront.customers.models import Customer
from storefront.kit.money import MoneyField
from storefront.shops.models import Shop

LIFETIME = timedelta(days=7)


class Cart(models.Model):
    """A basket. The API names it by a token, a signed link by `public_id`, a shopper's session by `public_id` too."""

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, related_name="carts")
    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    token_digest = models.CharField(
        max_length=64, null=True, unique=True, editable=False, help_text="Null for a basket that began in the shop."
    )
    customer = models.ForeignKey(
        Customer,
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        help_text="Set for a signed-in shopper's basket only.",
    )
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()
    expires_at = models.DateTimeField(db_index=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["shop", "customer"], condition=Q(customer__isnull=False), name="cart_one_a_customer"
            )
        ]

    def __str__(self) -> str:
        return str(self.public_id)

    def is_live(self, now: datetime) -> bool:
        return now < self.expires_at


class CartLine(models.Model):
    """One line of a cart, with the price, name and picture as they were when it was added."""

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE)
    cart = models.ForeignKey(Cart, on_delete=models.CASCADE, related_name="lines")
    key = models.CharField(max_length=80)
    product = models.ForeignKey(Product, on_delete=models.CASCADE)
    variant = models.ForeignKey(Variant, null=True, on_delete=models.CASCADE)
    qty = models.PositiveIntegerField()
    price_snapshot = MoneyField()
    name_snapshot = models.CharField(max_length=1100)
    image_snapshot = models.CharField(max_length=2048, null=True)
    is_digital = models.BooleanField(default=False)
    is_bundle = models.BooleanField(default=False)
    bundle_items = models.JSONField(default=list)
    options = models.JSONField(default=list)
    custom_fields = models.JSONField(default=list)
    custom_price = MoneyField(null=True)
    is_damaged = models.BooleanField(default=False)
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["cart", "key"], name="cart_line_key_once"),
            models.CheckConstraint(condition=Q(qty__gte=1), name="cart_line_qty_positive"),
        ]

    def __str__(self) -> str:
        return f"{self.qty} × {self.name_snapshot}"
