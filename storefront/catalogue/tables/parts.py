"""The parts of a product: options, pictures, places in categories, items of a bundle, related products.

Their `shop` is that of the product, without a foreign key of its own: an import would take a tenth longer if the
database looked the shop up for each row. `storefront verify` compares them.
"""

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _lazy
from django.utils.translation import pgettext_lazy

from storefront.kit.money_field import MoneyField
from storefront.shops.models import Shop

# Characters of a custom text.
MAX_TEXT_LENGTH = 1000


class Option(models.Model):
    """A choice that the shopper makes for a product, such as an engraving. Its values can add to the price."""

    class Type(models.TextChoices):
        SELECT = "select"
        RADIO = "radio"
        CHECKBOX = "checkbox"
        TEXT = "text"

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, db_constraint=False)
    product = models.ForeignKey("catalogue.Product", on_delete=models.CASCADE, related_name="options", db_index=False)
    name = models.CharField(max_length=200)
    type = models.CharField(max_length=10, choices=Type, default=Type.SELECT)
    required = models.BooleanField(default=False)
    sort_order = models.IntegerField(default=0)
    max_length = models.PositiveIntegerField(
        null=True,
        blank=True,
        validators=[MinValueValidator(1), MaxValueValidator(MAX_TEXT_LENGTH)],
        help_text=(
            f"How many characters a text can have, at most {MAX_TEXT_LENGTH:,}. Leave empty for {MAX_TEXT_LENGTH:,}."
        ),
    )

    class Meta:
        ordering = ["sort_order", "id"]
        indexes = [models.Index(fields=["product", "sort_order", "id"])]

    def __str__(self) -> str:
        return self.name


class OptionValue(models.Model):
    """A value of an option. A `text` option has at most one, which holds the price of any text."""

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, db_constraint=False)
    option = models.ForeignKey(Option, on_delete=models.CASCADE, related_name="values", db_index=False)
    label = models.CharField(max_length=200)
    price = MoneyField(help_text="Added to the line's price.")
    sort_order = models.IntegerField(default=0)

    class Meta:
        ordering = ["sort_order", "id"]
        indexes = [models.Index(fields=["option", "sort_order", "id"])]

    def __str__(self) -> str:
        return self.label


class Media(models.Model):
    """A picture of a product: an uploaded file, or the URL of a picture elsewhere, from an import."""

    class Focus(models.TextChoices):
        """What pages keep in view where a picture fills a frame of another shape. Without one: as in the looks."""

        TOP_LEFT = "top-left", _lazy("Top left")
        TOP = "top", _lazy("Top")
        TOP_RIGHT = "top-right", _lazy("Top right")
        LEFT = "left", pgettext_lazy("side of a picture", "Left")
        CENTRE = "centre", _lazy("Centre")
        RIGHT = "right", pgettext_lazy("side of a picture", "Right")
        BOTTOM_LEFT = "bottom-left", _lazy("Bottom left")
        BOTTOM = "bottom", _lazy("Bottom")
        BOTTOM_RIGHT = "bottom-right", _lazy("Bottom right")
        WHOLE = "whole", _lazy("Show it whole")

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, db_index=False, db_constraint=False)
    product = models.ForeignKey("catalogue.Product", on_delete=models.CASCADE, related_name="media", db_index=False)
    type = models.CharField(max_length=10, default="image", editable=False)
    file = models.ImageField(
        upload_to="products/", max_length=500, blank=True, width_field="width", height_field="height"
    )
    source_url = models.CharField(max_length=2048, blank=True, help_text="URL of the picture, if it is not uploaded.")
    alt = models.CharField("alternative text", max_length=500, blank=True)
    width = models.PositiveIntegerField(null=True, blank=True, editable=False)
    height = models.PositiveIntegerField(null=True, blank=True, editable=False)
    sort_order = models.IntegerField(default=0)
    focus = models.CharField(_lazy("part to keep in view"), max_length=12, choices=Focus, null=True, blank=True)

    class Meta:
        verbose_name_plural = "media"
        ordering = ["sort_order", "id"]
        constraints = [models.CheckConstraint(condition=~Q(file="") | ~Q(source_url=""), name="media_has_source")]
        indexes = [models.Index(fields=["product", "sort_order", "id"])]

    def __str__(self) -> str:
        return self.alt or self.source_url or str(self.file)


class ProductCategory(models.Model):
    """A product's place in a category, which the API calls `pivot`."""

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, db_index=False, db_constraint=False)
    product = models.ForeignKey(
        "catalogue.Product", on_delete=models.CASCADE, related_name="category_links", db_index=False
    )
    category = models.ForeignKey(
        "catalogue.Category", on_delete=models.CASCADE, related_name="product_links", db_index=False
    )
    sort_order = models.IntegerField(default=0)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()

    class Meta:
        verbose_name_plural = "product categories"
        constraints = [models.UniqueConstraint(fields=["product", "category"], name="product_category_once")]
        # The category comes first, since deleting a category searches its links.
        indexes = [models.Index(fields=["category", "shop", "product"], name="product_category_links")]

    def __str__(self) -> str:
        return f"{self.product} in {self.category}"


class BundleItem(models.Model):
    """An item of a bundle. Selling the bundle takes the stock of its items."""

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, db_constraint=False)
    bundle = models.ForeignKey("catalogue.Product", on_delete=models.CASCADE, related_name="bundle_items")
    product = models.ForeignKey("catalogue.Product", on_delete=models.PROTECT, related_name="part_of")
    variant = models.ForeignKey(
        "catalogue.Variant", null=True, blank=True, on_delete=models.PROTECT, related_name="part_of"
    )
    qty = models.PositiveIntegerField(default=1, validators=[MinValueValidator(1)])
    sort_order = models.IntegerField(default=0)

    class Meta:
        ordering = ["sort_order", "id"]
        constraints = [models.CheckConstraint(condition=~Q(bundle=F("product")), name="bundle_item_not_itself")]

    def __str__(self) -> str:
        return f"{self.qty} × {self.variant or self.product}"


class RelatedProduct(models.Model):
    """Another product that a product's page offers (`up_sell`), or the basket with it (`cross_sell`)."""

    class Kind(models.TextChoices):
        UP_SELL = "up_sell", "On the product's page"
        CROSS_SELL = "cross_sell", "In the basket"

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, db_constraint=False)
    product = models.ForeignKey("catalogue.Product", on_delete=models.CASCADE, related_name="related", db_index=False)
    related_product = models.ForeignKey("catalogue.Product", on_delete=models.CASCADE, related_name="related_to")
    kind = models.CharField(max_length=10, choices=Kind, default=Kind.UP_SELL)
    sort_order = models.IntegerField(default=0)

    class Meta:
        ordering = ["sort_order", "id"]
        constraints = [
            models.UniqueConstraint(fields=["product", "kind", "related_product"], name="related_product_once"),
            models.CheckConstraint(condition=~Q(product=F("related_product")), name="related_product_not_itself"),
            models.CheckConstraint(condition=Q(kind__in=["up_sell", "cross_sell"]), name="related_product_kind"),
        ]

    def __str__(self) -> str:
        return f"{self.related_product} with {self.product}"
