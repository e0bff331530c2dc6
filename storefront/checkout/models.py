import uuid

from django.db import models

from storefront.carts.models import Cart
from storefront.orders.models import Order
from storefront.payments.models import OrderDraft
from storefront.pricing.models import PickupPlace, ShippingRate
from storefront.shops.models import Shop


class Checkout(models.Model):
    """The data that a shopper has entered in one browser to order one basket.

    A customer's basket is the same on all their devices, but each browser has its own checkout: `owner` is a secret of
    one session, without which nobody can read the checkout.

    A checkout becomes at most one order. `draft` is the latest draft that the shopper tried to pay. `order` is set in
    the transaction that places it (`payments.placing.place_order`), so that a double click or a reload finds the
    existing order. It is a copy of the draft's, since a constraint and an index need it in this table.
    """

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE)
    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    cart = models.ForeignKey(Cart, null=True, on_delete=models.SET_NULL, related_name="checkouts")
    owner = models.UUIDField(
        null=True,
        editable=False,
        help_text="Secret of the session that the checkout belongs to. Null for older checkouts.",
    )
    email = models.EmailField(blank=True)
    phone = models.CharField(max_length=40, blank=True)
    shipping_address = models.JSONField(null=True)
    billing_address = models.JSONField(null=True, help_text="Null: the same as the shipping address.")
    vat_id = models.CharField(
        max_length=20, blank=True, help_text="In normal form, with its country.", default="", db_default=""
    )
    vat_check = models.JSONField(null=True, help_text="What the authorities said of the VAT ID (`pricing.vat_ids`).")
    shipping_rate = models.ForeignKey(ShippingRate, null=True, on_delete=models.SET_NULL)
    pickup_place = models.ForeignKey(
        PickupPlace, null=True, on_delete=models.SET_NULL, help_text="Instead of a shipping address."
    )
    payment_method = models.CharField(max_length=40, blank=True)
    shopper_note = models.TextField(blank=True)
    draft = models.ForeignKey(
        OrderDraft,
        null=True,
        on_delete=models.SET_NULL,
        related_name="checkouts",
        help_text="Of the last press of pay.",
    )
    order = models.OneToOneField(Order, null=True, on_delete=models.SET_NULL, related_name="checkout")
    language = models.CharField(
        max_length=5,
        blank=True,
        default="",
        db_default="",
        editable=False,
        help_text="The shopper's. Empty: the shop's.",
    )
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()
    abandoned_at = models.DateTimeField(
        null=True, editable=False, help_text="When the checkout was found to be abandoned. It is reported once."
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["cart", "owner"], condition=models.Q(order__isnull=True), name="checkout_one_open_a_session"
            )
        ]
        indexes = [
            # By the creation, so that a change writes to no index: what changed long ago is older still.
            models.Index(
                fields=["created_at"],
                condition=models.Q(order__isnull=True, abandoned_at__isnull=True),
                name="checkout_open_by_age",
            )
        ]

    def __str__(self) -> str:
        return str(self.public_id)
