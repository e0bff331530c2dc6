from datetime import datetime
from decimal import Decimal

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext as _

from storefront.catalogue.models import Brand, Category, Product, TaxClass, Variant
from storefront.customers.models import Customer, CustomerGroup
from storefront.kit.money_field import MoneyField
from storefront.pricing.delivery_models import DeliveryZone as DeliveryZone
from storefront.pricing.delivery_models import PickupPlace as PickupPlace
from storefront.pricing.delivery_models import ShippingRate as ShippingRate
from storefront.pricing.delivery_models import ShippingRateStep as ShippingRateStep
from storefront.pricing.discount_kinds import CHOICES
from storefront.shops.models import Shop


class GroupPrice(models.Model):
    """The price of a product or a variant for one customer group (R-CART-30)."""

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, db_constraint=False)
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
        return _("%(product)s for %(group)s: %(price)s") % {
            "product": self.product,
            "group": self.group,
            "price": self.price,
        }


class Discount(models.Model):
    """A discount: automatic, or for a code. docs/prices.md describes the calculation."""

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, related_name="discounts")
    name = models.CharField(max_length=100, help_text="Shoppers see it in the basket and on the order.")
    translations = models.JSONField(null=True, blank=True, editable=False)
    kind = models.CharField(max_length=20, choices=CHOICES, default="percent")
    value = models.DecimalField(
        max_digits=14,
        decimal_places=2,
        default=Decimal(0),
        validators=[MinValueValidator(Decimal(0))],
        help_text="The percentage or the amount. For buy some, get some: the percentage off the cheaper pieces, "
        "100 for free ones. Leave 0 for free delivery.",
    )
    buy_qty = models.PositiveIntegerField(
        "pieces to buy", null=True, blank=True, help_text="Pieces at the full price, such as 2 in: buy 2, get 1 free."
    )
    get_qty = models.PositiveIntegerField(
        "pieces for less", null=True, blank=True, help_text="Pieces for less, such as 1 in: buy 2, get 1 free."
    )
    needs_code = models.BooleanField(
        "only with a code", default=False, help_text="Otherwise it applies by itself to every basket that fits."
    )
    is_combinable = models.BooleanField(
        "can be combined",
        default=True,
        help_text="If it cannot be combined with other discounts, shoppers get whatever takes off more.",
    )
    minimum_subtotal = MoneyField(
        help_text="Applies to a subtotal of at least this amount. All items in the basket count."
    )
    is_limited_to_items = models.BooleanField(
        "only for some items", default=False, help_text="Only for the products, categories and brands listed below."
    )
    includes_subcategories = models.BooleanField(default=True, help_text="A category includes its subcategories.")
    is_limited_to_groups = models.BooleanField(
        "only for some customers", default=False, help_text="Only for signed-in customers of the groups listed below."
    )
    starts_at = models.DateTimeField(null=True, blank=True)
    ends_at = models.DateTimeField(null=True, blank=True)
    is_active = models.BooleanField(default=True)
    use_limit = models.PositiveIntegerField(
        "uses in total", null=True, blank=True, help_text="How many orders can use it. Leave empty for any number."
    )
    customer_limit = models.PositiveIntegerField(
        "uses per customer",
        null=True,
        blank=True,
        help_text="By account or email address. Leave empty for any number.",
    )
    uses = models.PositiveIntegerField(
        default=0, editable=False, help_text="Orders that use it. Counted where it needs a code or has a limit."
    )

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(value__gte=0) & (Q(kind="amount") | Q(value__lte=100)), name="discount_value_range"
            ),
            models.CheckConstraint(
                condition=~Q(kind="buy_get")
                | Q(buy_qty__isnull=False, buy_qty__gte=1, get_qty__isnull=False, get_qty__gte=1),
                name="discount_buy_get_pieces",
            ),
            models.CheckConstraint(
                condition=Q(use_limit__isnull=True) | Q(uses__lte=F("use_limit")), name="discount_uses_within_limit"
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def runs(self, now: datetime) -> bool:
        """Returns True if the discount is active and `now` is within its period."""
        return self.is_active and self.has_started(now) and not self.has_ended(now)

    def has_started(self, now: datetime) -> bool:
        return self.starts_at is None or self.starts_at <= now

    def has_ended(self, now: datetime) -> bool:
        return self.ends_at is not None and self.ends_at <= now

    @property
    def is_counted(self) -> bool:
        """Returns True if uses are counted. An automatic discount without a limit is not counted, so that orders do not
        wait for its row."""
        return self.needs_code or self.use_limit is not None or self.customer_limit is not None


class DiscountTarget(models.Model):
    """One product, category or brand that a discount is limited to."""

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, db_constraint=False)
    discount = models.ForeignKey(Discount, on_delete=models.CASCADE, related_name="targets")
    product = models.ForeignKey(Product, null=True, blank=True, on_delete=models.CASCADE, related_name="+")
    category = models.ForeignKey(Category, null=True, blank=True, on_delete=models.CASCADE, related_name="+")
    brand = models.ForeignKey(Brand, null=True, blank=True, on_delete=models.CASCADE, related_name="+")

    class Meta:
        verbose_name = "item"
        constraints = [
            models.CheckConstraint(
                condition=Q(product__isnull=False, category__isnull=True, brand__isnull=True)
                | Q(product__isnull=True, category__isnull=False, brand__isnull=True)
                | Q(product__isnull=True, category__isnull=True, brand__isnull=False),
                name="discount_target_is_one",
            ),
            *(
                models.UniqueConstraint(
                    fields=["discount", name],
                    condition=Q(**{f"{name}__isnull": False}),
                    name=f"discount_target_{name}_once",
                )
                for name in ("product", "category", "brand")
            ),
        ]

    def __str__(self) -> str:
        return str(self.product or self.category or self.brand)


class DiscountGroup(models.Model):
    """A customer group that a discount is limited to."""

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, db_constraint=False)
    discount = models.ForeignKey(Discount, on_delete=models.CASCADE, related_name="groups", db_index=False)
    group = models.ForeignKey(CustomerGroup, on_delete=models.CASCADE, related_name="+")

    class Meta:
        verbose_name = "customer group"
        constraints = [models.UniqueConstraint(fields=["discount", "group"], name="discount_group_once")]

    def __str__(self) -> str:
        return str(self.group)


class DiscountCode(models.Model):
    """A code for a discount. Stored in capitals, in which every code is compared (`codes.normal_code`)."""

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, db_constraint=False, db_index=False)
    discount = models.ForeignKey(Discount, on_delete=models.CASCADE, related_name="codes")
    code = models.CharField(max_length=40, help_text="Letters, digits, hyphens and underscores, in any case.")
    use_limit = models.PositiveIntegerField(
        "uses", null=True, blank=True, help_text="How many orders can use this code. Leave empty for any number."
    )
    uses = models.PositiveIntegerField("used", default=0, editable=False)
    created_at = models.DateTimeField(editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["shop", "code"], name="discount_code_once"),
            models.CheckConstraint(
                condition=Q(use_limit__isnull=True) | Q(uses__lte=F("use_limit")),
                name="discount_code_uses_within_limit",
            ),
        ]

    def __str__(self) -> str:
        return self.code


class Redemption(models.Model):
    """One use of a discount by one sale: held while the sale is being paid, kept by its order, or released.

    Carts and orders are rooms above, so `cart_id` is no foreign key, and `sale` is a number that the order keeps.
    """

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, db_constraint=False)
    discount = models.ForeignKey(Discount, on_delete=models.CASCADE, related_name="redemptions", db_index=False)
    code = models.ForeignKey(DiscountCode, null=True, on_delete=models.CASCADE, related_name="redemptions")
    sale = models.UUIDField()
    cart_id = models.BigIntegerField(null=True, help_text="The basket, while the sale is not yet an order.")
    customer = models.ForeignKey(Customer, null=True, on_delete=models.SET_NULL, related_name="+")
    email_digest = models.CharField(max_length=64, help_text="Digest of the email address of the sale.")
    redeemed_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["sale", "discount"], name="redemption_once_a_sale")]
        indexes = [
            models.Index(fields=["discount", "email_digest"], name="redemption_by_email"),
            models.Index(fields=["cart_id"], condition=Q(cart_id__isnull=False), name="redemption_held"),
        ]

    def __str__(self) -> str:
        return f"{self.discount} by {self.sale}"


class TaxRate(models.Model):
    """The tax on products of one tax class in one country, or in a part of it.

    If several rates of one step apply to an address, the most specific one counts; rates of several steps add up
    (`taxes.rates_at`).
    """

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, related_name="tax_rates")
    name = models.CharField(max_length=60, help_text="Shoppers see it, such as VAT.")
    tax_class = models.ForeignKey(
        TaxClass,
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        help_text="Leave empty for the standard class: products without a tax class.",
    )
    country = models.CharField(max_length=2)
    region = models.CharField(
        "only this state or region", max_length=100, blank=True, help_text="Leave empty for the whole country."
    )
    postcodes = models.JSONField(
        "only these postal codes",
        default=list,
        db_default=[],
        blank=True,
        help_text="Such as 35*, 38*, 9000-9999. Spaces and capitals do not matter. Leave empty for all.",
    )
    percent = models.DecimalField(
        max_digits=6, decimal_places=3, validators=[MinValueValidator(Decimal(0)), MaxValueValidator(Decimal(100))]
    )
    step = models.PositiveSmallIntegerField(
        default=1,
        db_default=1,
        validators=[MinValueValidator(1), MaxValueValidator(9)],
        help_text="One rate of each step applies. Where two taxes are due, such as a federal and a regional one, give "
        "the second step 2.",
    )
    is_compound = models.BooleanField(
        "on top of earlier steps",
        default=False,
        db_default=False,
        help_text="Charged on the price with the taxes of earlier steps.",
    )
    applies_to_shipping = models.BooleanField("applies to delivery", default=True)
    translations = models.JSONField(null=True, blank=True, editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["shop", "tax_class", "country", "region", "step"],
                condition=Q(tax_class__isnull=False, postcodes=[]),
                name="tax_rate_class_once",
            ),
            models.UniqueConstraint(
                fields=["shop", "country", "region", "step"],
                condition=Q(tax_class__isnull=True, postcodes=[]),
                name="tax_rate_once",
            ),
            models.CheckConstraint(condition=Q(percent__gte=0, percent__lte=100), name="tax_rate_percent_range"),
            models.CheckConstraint(condition=Q(step__gte=1, step__lte=9), name="tax_rate_step_range"),
        ]

    def __str__(self) -> str:
        return f"{self.name} {self.percent.normalize():f}% ({self.country})"


class TaxSettings(Shop):
    """The shop's settings for taxes, which have a page of their own in the admin."""

    class Meta:
        proxy = True
        verbose_name = verbose_name_plural = "tax settings"
