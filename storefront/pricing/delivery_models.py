"""Delivery zones, methods and prices of a shop (docs/delivery.md)."""

from decimal import Decimal

from django.core.validators import MinValueValidator
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Lower

from storefront.catalogue.models import ShippingOrigin
from storefront.kit.money_field import MoneyField
from storefront.shops.models import Shop


class QuantityField(models.DecimalField):
    """A bound for baskets: a weight, an amount or a number of pieces."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **({"max_digits": 12, "decimal_places": 3} | kwargs))
        self.validators.append(MinValueValidator(Decimal(0)))


class DeliveryZone(models.Model):
    """The addresses that some shipping rates are for. If an address is in several zones, the most specific one counts
    (`zones.zone_of`)."""

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, related_name="delivery_zones")
    name = models.CharField(max_length=100, help_text="Only staff see it.")
    countries = models.JSONField(
        default=list, blank=True, help_text="Choose none for all countries that no other zone has."
    )
    regions = models.JSONField(
        "only these states or regions",
        default=list,
        blank=True,
        help_text="As shoppers write them, with other spellings, such as Bavaria, Bayern. Leave empty for the whole "
        "country.",
    )
    postcodes = models.JSONField(
        "only these postal codes",
        default=list,
        blank=True,
        help_text="Such as 18565, 25*, 9000-9999. Spaces and capitals do not matter. Leave empty for all.",
    )

    class Meta:
        constraints = [models.UniqueConstraint("shop", Lower("name"), name="delivery_zone_name_once")]

    def __str__(self) -> str:
        return self.name


class ShippingRate(models.Model):
    """A delivery method that a shopper of one zone can choose, and what it costs."""

    class Basis(models.TextChoices):
        ORDER = "order", "one price for every order"
        WEIGHT = "weight", "by weight"
        SUBTOTAL = "subtotal", "by subtotal"
        COUNT = "count", "by number of pieces"

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, related_name="shipping_rates", db_constraint=False)
    zone = models.ForeignKey(DeliveryZone, on_delete=models.CASCADE, related_name="rates")
    name = models.CharField(max_length=100, help_text="As shoppers see it, such as Parcel.")
    delivery_time = models.CharField(
        max_length=100,
        blank=True,
        help_text="Shoppers see it with the name, such as 2 to 3 working days.",
        default="",
        db_default="",
    )
    basis = models.CharField("priced", max_length=10, choices=Basis, default=Basis.ORDER, db_default=Basis.ORDER)
    price = MoneyField(help_text="The price of every order. With a table, the table has the prices.")
    free_from = MoneyField(
        null=True, blank=True, help_text="Free for a subtotal of at least this amount. Leave empty if it is never free."
    )
    free_with_discount = models.BooleanField(
        "included in free delivery",
        default=False,
        db_default=False,
        help_text="Discounts with free delivery cover the rates that have this. If no rate offered to the shopper has "
        "it, they cover the cheapest.",
    )
    minimum_weight = QuantityField(max_digits=10, default=Decimal(0))
    maximum_weight = QuantityField(
        max_digits=10,
        null=True,
        blank=True,
        help_text="Products without a weight count as 0.",
    )
    is_media_mail = models.BooleanField(
        "only for media mail",
        default=False,
        db_default=False,
        help_text="Only if all items to send are eligible for media mail.",
    )
    shipping_origin = models.ForeignKey(
        ShippingOrigin,
        null=True,
        blank=True,
        on_delete=models.RESTRICT,
        help_text="Only if all items to send come from here. Baskets with items from several origins need a rate "
        "without it.",
    )
    translations = models.JSONField(null=True, blank=True, editable=False)
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


class ShippingRateStep(models.Model):
    """A row of a rate's table: the price up to a weight, a subtotal or a number of pieces, which is included."""

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, db_constraint=False)
    rate = models.ForeignKey(ShippingRate, on_delete=models.CASCADE, related_name="steps")
    up_to = QuantityField(
        null=True,
        blank=True,
        help_text="Included. Leave empty for everything above. Without such a row, the rate ends.",
    )
    price = MoneyField()

    class Meta:
        verbose_name = "price"
        ordering = [F("up_to").asc(nulls_last=True)]
        constraints = [
            models.UniqueConstraint(
                fields=["rate", "up_to"], condition=Q(up_to__isnull=False), name="shipping_rate_step_once"
            ),
            models.UniqueConstraint(
                fields=["rate"], condition=Q(up_to__isnull=True), name="shipping_rate_last_step_once"
            ),
            models.CheckConstraint(condition=Q(price__gte=0), name="shipping_rate_step_price_not_negative"),
        ]

    def __str__(self) -> str:
        return f"up to {self.up_to.normalize():f}" if self.up_to is not None else "above"


class PickupPlace(models.Model):
    """A place where shoppers can collect their orders instead of having them delivered."""

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, related_name="pickup_places")
    # An order stores the name of its delivery method in 100 characters.
    name = models.CharField(max_length=80, help_text="As shoppers see it, such as Shop at the harbour.")
    line1 = models.CharField("street and number", max_length=200)
    line2 = models.CharField("floor, entrance, etc.", max_length=200, blank=True)
    postal_code = models.CharField(max_length=20, blank=True)
    city = models.CharField("town or city", max_length=100)
    region = models.CharField("state or region", max_length=100, blank=True)
    country = models.CharField(max_length=2)
    hours = models.CharField(
        "opening hours", max_length=200, blank=True, help_text="Shoppers see it, such as Monday to Friday, 9 to 18."
    )
    ready = models.CharField(
        "ready", max_length=100, blank=True, help_text="Shoppers see it, such as Ready the next working day."
    )
    price = MoneyField(help_text="What collecting costs. 0 if it is free.")
    translations = models.JSONField(null=True, blank=True, editable=False)
    sort_order = models.IntegerField(default=0)
    is_active = models.BooleanField(default=True)

    class Meta:
        ordering = ["sort_order", "id"]
        verbose_name = "pick-up place"
        constraints = [
            models.UniqueConstraint("shop", Lower("name"), name="pickup_place_name_once"),
            models.CheckConstraint(condition=Q(price__gte=0), name="pickup_place_price_not_negative"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def address(self) -> dict[str, str]:
        names = ("name", "line1", "line2", "postal_code", "city", "region", "country")
        return {name: getattr(self, name) for name in names}
