import uuid
from datetime import datetime, timedelta
from typing import Any

from django.db import models
from django.db.models import Q

from storefront.catalogue.models import Product, Variant
from storefront.customers.models import Customer
from storefront.kit.money_field import MoneyField
from storefront.shops.models import Shop

# A cart expires this long after its last write (R-CART-8).
LIFETIME = timedelta(days=7)
# Columns in which a line copies the catalogue when it is added or repriced.
SNAPSHOTS = (
    *("price_snapshot", "name_snapshot", "image_snapshot", "options", "bundle_items", "gift_card"),
    "available_from",
)


class Cart(models.Model):
    """An integration's cart, identified by its token, or a shopper's basket, which belongs to a session or a customer.

    Neither ever becomes the other. A checkout link copies lines from one to the other; `Arrival` records how many.
    """

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, related_name="carts")
    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    token_digest = models.CharField(
        max_length=64,
        null=True,
        unique=True,
        editable=False,
        help_text="Null for a basket that was started in the shop.",
    )
    customer = models.ForeignKey(
        Customer,
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        help_text="Only set for a signed-in shopper's basket.",
    )
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()
    expires_at = models.DateTimeField(db_index=True)
    ordered_at = models.DateTimeField(
        null=True, editable=False, help_text="When an order was last placed from this cart. Null if none was."
    )
    discount_codes = models.JSONField(default=list, help_text="The codes that were entered, in normal form.")
    gift_cards = models.JSONField(default=list, db_default=[], help_text="The ids of the gift cards that were entered.")
    merge_report = models.JSONField(
        null=True,
        editable=False,
        help_text="What merging added to this basket and what did not fit, until a page says so.",
    )

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
    """A line of a cart, with price, name and picture as of when it was added or last repriced."""

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, db_constraint=False)
    cart = models.ForeignKey(Cart, on_delete=models.CASCADE, related_name="lines", db_index=False)
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
    gift_card = models.JSONField(
        null=True,
        help_text="Of a gift card, what its buyer chose: recipient_email, message, send_on. Null for other products.",
    )
    available_from = models.DateTimeField(null=True, help_text="Of a pre-order with a date: when it is sent.")
    created_at = models.DateTimeField()

    # The product's, set by `queries.cart_lines`.
    requires_shipping: bool

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["cart", "key"], name="cart_line_key_once"),
            models.CheckConstraint(condition=Q(qty__gte=1), name="cart_line_qty_positive"),
        ]

    def __str__(self) -> str:
        return f"{self.qty} × {self.name_snapshot}"


class Attributed(models.Model):
    """Data that an integration sent when it requested a checkout link (R-LINK-20). The link's arrival in a basket and
    the order have copies."""

    return_url = models.CharField(max_length=2048, blank=True, help_text="Where the shopper can go after the order.")
    cancel_url = models.CharField(
        max_length=2048, blank=True, help_text="Where the shopper can go instead of ordering."
    )
    client_reference = models.CharField(max_length=200, blank=True, help_text="The integration's own reference.")
    metadata = models.JSONField(default=dict, blank=True, help_text="The integration's own data, texts by name.")

    class Meta:
        abstract = True

    def attribution(self) -> dict[str, Any]:
        """The columns of this class, as arguments for a copy."""
        return {field.attname: getattr(self, field.attname) for field in Attributed._meta.fields}


class CheckoutLink(Attributed):
    """A checkout link to an integration's cart. The URL contains this `public_id`, not the cart's."""

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, db_constraint=False)
    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    cart = models.ForeignKey(Cart, on_delete=models.CASCADE, related_name="links")
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["expires_at"], name="checkout_link_expiry")]

    def __str__(self) -> str:
        return str(self.public_id)


class Arrival(Attributed):
    """The items that a followed checkout link copied from an integration's cart into a shopper's basket.

    `lines` holds `{line, key, qty, own}`: the id of the basket's line, its key in both carts, how many pieces were
    copied, and how many pieces of the line no link brought. `missing` holds `{name, wanted, qty}` for what did not fit.
    `was_merged` is true if the basket was not empty before.
    """

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, db_constraint=False)
    source = models.ForeignKey(Cart, on_delete=models.CASCADE, related_name="departures")
    target = models.ForeignKey(Cart, on_delete=models.CASCADE, related_name="arrivals", db_index=False)
    checkout_link = models.UUIDField(null=True, help_text="Public id of the link. The link itself is deleted sooner.")
    lines = models.JSONField(default=list)
    missing = models.JSONField(default=list)
    was_merged = models.BooleanField(default=False)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["target", "source"], name="arrival_once_a_source")]

    def __str__(self) -> str:
        return f"{self.source} → {self.target}"


class CartOrder(models.Model):
    """An order placed with items from an integration's cart; the cart API returns it in `orders` (R-CART-36).
    `order_id` is no foreign key, because this room must not import `orders`."""

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, db_constraint=False)
    cart = models.ForeignKey(Cart, on_delete=models.CASCADE, related_name="orders", db_index=False)
    order_id = models.BigIntegerField()
    number = models.BigIntegerField()
    placed_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["cart", "order_id"], name="cart_order_once")]

    def __str__(self) -> str:
        return str(self.number)
