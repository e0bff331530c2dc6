from datetime import datetime
from decimal import Decimal

from django.core.validators import MinValueValidator
from django.db import models
from django.db.models import F, Q

from storefront.catalogue.dated import dates
from storefront.catalogue.file_models import DigitalFile as DigitalFile
from storefront.catalogue.file_models import StoredFile as StoredFile
from storefront.catalogue.file_models import stored_name as stored_name
from storefront.catalogue.listable import LISTABLE
from storefront.catalogue.tables.history import LastChange as LastChange
from storefront.catalogue.tables.history import PastPrice as PastPrice
from storefront.catalogue.tables.history import StockAdjustment as StockAdjustment
from storefront.catalogue.tables.labels import Brand as Brand
from storefront.catalogue.tables.labels import ShippingOrigin as ShippingOrigin
from storefront.catalogue.tables.labels import TaxClass as TaxClass
from storefront.catalogue.tables.labels import Vendor as Vendor
from storefront.catalogue.tables.old_slugs import OldSlug as OldSlug
from storefront.catalogue.tables.parts import MAX_TEXT_LENGTH as MAX_TEXT_LENGTH
from storefront.catalogue.tables.parts import BundleItem as BundleItem
from storefront.catalogue.tables.parts import Media as Media
from storefront.catalogue.tables.parts import Option as Option
from storefront.catalogue.tables.parts import OptionValue as OptionValue
from storefront.catalogue.tables.parts import ProductCategory as ProductCategory
from storefront.catalogue.tables.parts import RelatedProduct as RelatedProduct
from storefront.catalogue.tables.pictures import UploadedPicture as UploadedPicture
from storefront.catalogue.tables.search import AwaitedTexts as AwaitedTexts
from storefront.catalogue.tables.search import CleanedText as CleanedText
from storefront.catalogue.tables.search import FrequentWord as FrequentWord
from storefront.catalogue.tables.search import ListingTotal as ListingTotal
from storefront.catalogue.tables.search import ProductSearch as ProductSearch
from storefront.catalogue.tables.search import ScheduleTold as ScheduleTold
from storefront.catalogue.tables.search import SearchWord as SearchWord
from storefront.catalogue.tables.search import TextChange as TextChange
from storefront.catalogue.tables.search import WantedThumbnails as WantedThumbnails
from storefront.catalogue.tables.search import WordCount as WordCount
from storefront.catalogue.tables.translated_slugs import TranslatedSlug as TranslatedSlug
from storefront.kit.money_field import MoneyField
from storefront.shops.models import Shop


class MeasureField(models.DecimalField):
    """A weight or a length: a decimal with three fraction digits (R-CALL-3)."""

    def __init__(self, *args, **kwargs):
        kwargs.setdefault("max_digits", 12)
        kwargs.setdefault("decimal_places", 3)
        super().__init__(*args, **kwargs)
        self.validators.append(MinValueValidator(Decimal(0)))


def turns(table: str, *columns: str) -> list[models.Index]:
    """Indexes of the rows that change at the date in one of these columns."""
    return [
        models.Index(fields=["shop", column], condition=dates.turns_at(column), name=f"{table}_{column}_turns")
        for column in columns
    ]


def stated(table: str, *foreign_keys: str) -> list[models.Index]:
    """Partial indexes of these foreign keys, without the rows where the key is null. Those are nearly all, and indexing
    them would slow imports down. (A key with which another index begins has none of its own, `db_index=False`.)"""
    return [
        models.Index(fields=[key], condition=Q(**{f"{key}__isnull": False}), name=f"{table}_{key}_stated")
        for key in foreign_keys
    ]


class Category(models.Model):
    """A node of the shop's category tree. The columns are in the API's order (R-CAT-32)."""

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, related_name="categories", db_index=False)
    legacy_source_id = models.BigIntegerField(null=True, blank=True)
    name = models.CharField(max_length=255)
    slug = models.CharField(max_length=255)
    description = models.TextField(blank=True, default="")
    parent = models.ForeignKey("self", null=True, blank=True, on_delete=models.PROTECT, related_name="children")
    # Bounds of the nested set, numbered per shop. Only catalogue/tree.py writes them.
    lft = models.IntegerField(db_column="_lft", default=0, editable=False)
    rgt = models.IntegerField(db_column="_rgt", default=0, editable=False)
    image = models.ImageField(upload_to="categories/", max_length=500, null=True, blank=True)
    banner = models.ImageField(upload_to="categories/", max_length=500, null=True, blank=True)
    meta_title = models.CharField(max_length=500, null=True, blank=True)
    meta_description = models.TextField(null=True, blank=True)
    canonical_url = models.URLField(max_length=2048, null=True, blank=True)
    og_image_url = models.URLField(max_length=2048, null=True, blank=True)
    noindex = models.BooleanField(default=False)
    sitemap_lastmod = models.DateTimeField(null=True, blank=True)
    sort_order = models.IntegerField(default=0)
    is_active = models.BooleanField(default=True)
    exclude_from_group_discounts = models.BooleanField(default=False)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()
    translations = models.JSONField(null=True, blank=True, editable=False)

    class Meta:
        verbose_name_plural = "categories"
        constraints = [
            models.UniqueConstraint(fields=["shop", "slug"], name="category_slug_once"),
            models.CheckConstraint(condition=~Q(slug=""), name="category_slug_set"),
            models.CheckConstraint(
                condition=Q(parent__isnull=True) | ~Q(parent=F("id")), name="category_not_own_parent"
            ),
        ]
        indexes = [
            models.Index(fields=["shop", "lft"]),
            # Inactive categories hide everything below them (catalogue/shown.py).
            models.Index(fields=["shop", "lft", "rgt"], condition=Q(is_active=False), name="category_inactive"),
        ]

    def __str__(self) -> str:
        return self.name


class Product(models.Model):
    """Something a shop sells. The API returns every column, in this order (R-CAT-9, R-CAT-12). A member can be null if
    its column can (R-CAT-10), and has the column's type (R-CAT-11)."""

    # The values of `status` and `type` in the API (R-CAT-8).
    class Status(models.TextChoices):
        DRAFT = "draft"
        ACTIVE = "active"
        ARCHIVED = "archived"

    class Type(models.TextChoices):
        SIMPLE = "simple"
        VARIABLE = "variable"
        BUNDLE = "bundle"
        DIGITAL = "digital"

    class BillingInterval(models.TextChoices):
        DAY = "day"
        WEEK = "week"
        MONTH = "month"
        YEAR = "year"

    class DimensionUnit(models.TextChoices):
        CM = "cm"
        IN = "in"

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, related_name="products", db_index=False)
    legacy_source_id = models.BigIntegerField(null=True, blank=True)
    name = models.CharField(max_length=500)
    slug = models.CharField(max_length=255)
    description = models.TextField(blank=True, default="")
    translations = models.JSONField(null=True, blank=True, help_text='Such as {"de": {"name": "Becher"}}.')
    short_description = models.TextField(blank=True, default="")
    sku = models.CharField("SKU", max_length=255, blank=True, default="")
    barcode = models.CharField(max_length=100, null=True, blank=True)
    status = models.CharField(max_length=10, choices=Status, default=Status.DRAFT)
    exclude_from_catalog = models.BooleanField(default=False)
    type = models.CharField(max_length=10, choices=Type, default=Type.SIMPLE)
    billing_interval = models.CharField(max_length=5, choices=BillingInterval, null=True, blank=True)
    billing_interval_count = models.PositiveIntegerField(default=1)
    free_trial_days = models.PositiveIntegerField(null=True, blank=True)
    setup_fee = MoneyField(null=True, blank=True)
    payprovider_product_id = models.CharField(max_length=255, null=True, blank=True)
    payprovider_price_id = models.CharField(max_length=255, null=True, blank=True)
    accounting_product_id = models.CharField(max_length=255, null=True, blank=True)
    # 0 if each variant or a required option has the price (R-CAT-14).
    price = MoneyField()
    allow_custom_price = models.BooleanField(default=False)
    is_gift_card = models.BooleanField(default=False)
    exclude_from_group_discounts = models.BooleanField(default=False)
    min_custom_price = MoneyField(null=True, blank=True)
    compare_price = MoneyField(help_text="Previous price. Shown crossed out if it is higher than the price.")
    cost_price = MoneyField(help_text="What the shop pays for the product.")
    show_lowest_price = models.BooleanField(default=False)
    default_variant = models.ForeignKey(
        "Variant", null=True, blank=True, on_delete=models.SET_NULL, related_name="+", db_index=False
    )
    weight = MeasureField(default=Decimal("0.000"))
    length = MeasureField(null=True, blank=True)
    width = MeasureField(null=True, blank=True)
    height = MeasureField(null=True, blank=True)
    dimension_unit = models.CharField(max_length=2, choices=DimensionUnit, null=True, blank=True)
    track_inventory = models.BooleanField(default=True)
    stock_qty = models.IntegerField(default=0)
    damaged_qty = models.IntegerField(default=0)
    damaged_price = MoneyField(null=True, blank=True)
    allow_backorders = models.BooleanField(default=False)
    low_stock_threshold = models.IntegerField(default=0)
    meta_title = models.CharField(max_length=500, null=True, blank=True)
    meta_description = models.TextField(null=True, blank=True)
    canonical_url = models.URLField(max_length=2048, null=True, blank=True)
    og_image_url = models.URLField(max_length=2048, null=True, blank=True)
    noindex = models.BooleanField(default=False)
    sitemap_lastmod = models.DateTimeField(null=True, blank=True)
    is_featured = models.BooleanField(default=False)
    is_new = models.BooleanField(default=False)
    is_preorder = models.BooleanField(default=False)
    is_pinned = models.BooleanField(default=False)
    is_taxable = models.BooleanField(default=True)
    requires_shipping = models.BooleanField(default=True)
    media_mail_eligible = models.BooleanField(default=False)
    vendor = models.ForeignKey(Vendor, null=True, blank=True, on_delete=models.SET_NULL, db_index=False)
    shipping_origin = models.ForeignKey(
        ShippingOrigin, null=True, blank=True, on_delete=models.SET_NULL, db_index=False
    )
    brand = models.ForeignKey(Brand, null=True, blank=True, on_delete=models.SET_NULL)
    tax_class = models.ForeignKey(TaxClass, null=True, blank=True, on_delete=models.SET_NULL, db_index=False)
    tic_code = models.CharField(max_length=50, null=True, blank=True)
    sort_order = models.IntegerField(default=0)
    publish_at = models.DateTimeField(null=True, blank=True)
    published_on = models.DateTimeField(null=True, blank=True)
    unpublish_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()
    deleted_at = models.DateTimeField(null=True, blank=True, editable=False)
    max_downloads = models.PositiveIntegerField(default=0, help_text="0 means no limit.")
    download_expiry_days = models.PositiveIntegerField(default=0, help_text="0 means never.")
    # Records show these columns last (R-CAT-9).
    tags = models.JSONField(default=list, blank=True)
    attributes = models.JSONField(
        default=list, blank=True, help_text='[{"name": "Colour", "values": ["Blue"], "variation": true}]'
    )
    sort_name = models.CharField(max_length=500, editable=False, help_text="The name in lowercase, for sorting.")
    # A sale period: `price` and `compare_price` change at its begin and its end (catalogue/dated/sale_periods.py).
    sale_price = MoneyField(null=True, blank=True, help_text="The price while the sale lasts.")
    sale_from = models.DateTimeField(null=True, blank=True, help_text="Leave empty to begin at once.")
    sale_until = models.DateTimeField(
        null=True, blank=True, help_text="Leave empty to keep the sale price until you remove it."
    )
    regular_compare_price = MoneyField(null=True, blank=True, editable=False)
    available_from = models.DateTimeField(
        null=True, blank=True, help_text="When a pre-order is sent. From then on it sells like any other product."
    )

    categories = models.ManyToManyField(Category, through="ProductCategory", related_name="products")

    class Meta:
        constraints = [
            # The slug of a deleted product can be used again.
            models.UniqueConstraint(
                fields=["shop", "slug"], condition=Q(deleted_at__isnull=True), name="product_slug_once"
            ),
            models.CheckConstraint(condition=~Q(slug=""), name="product_slug_set"),
            models.CheckConstraint(condition=Q(status__in=["draft", "active", "archived"]), name="product_status"),
            models.CheckConstraint(
                condition=Q(type__in=["simple", "variable", "bundle", "digital"]), name="product_type"
            ),
            models.CheckConstraint(
                condition=Q(price__gte=0, compare_price__gte=0, cost_price__gte=0), name="product_prices_not_negative"
            ),
            models.CheckConstraint(condition=Q(damaged_qty__gte=0), name="product_damaged_not_negative"),
            models.CheckConstraint(condition=Q(billing_interval_count__gte=1), name="product_billing_count"),
            models.CheckConstraint(
                condition=Q(billing_interval__isnull=True) | Q(billing_interval__in=["day", "week", "month", "year"]),
                name="product_billing_interval",
            ),
            models.CheckConstraint(
                condition=Q(dimension_unit__isnull=True) | Q(dimension_unit__in=["cm", "in"]),
                name="product_dimension_unit",
            ),
        ]
        # None holds a column that a sale changes: then PostgreSQL writes to no index (`LastChange`).
        indexes = [
            models.Index(fields=["shop", "sku"]),
            *stated("product", "default_variant", "vendor", "shipping_origin", "tax_class"),
            models.Index(
                fields=["shop", "legacy_source_id"],
                condition=Q(legacy_source_id__isnull=False),
                name="product_legacy_id",
            ),
            # How many products of a status the admin counts. Every id is above 0, as below.
            models.Index(
                fields=["shop", "status"], condition=Q(deleted_at__isnull=True, id__gt=0), name="product_of_status"
            ),
            # Stock lists, by the product's id. Every id is above 0; the condition is there so that only a query that
            # has it too (`inventory._stock`) uses this index, and SQLite does not choose it for public lists.
            models.Index(
                fields=["shop", "id"], condition=Q(deleted_at__isnull=True, id__gt=0), name="product_standing"
            ),
            # One for each order of the list (`listing.orders`), so that pages need no sorting. The dates at the end
            # allow rows to be skipped without reading the table.
            models.Index(
                fields=["shop", "-is_pinned", "sort_order", "-created_at", "-id", "publish_at", "unpublish_at"],
                condition=LISTABLE,
                name="product_list_default",
            ),
            models.Index(
                fields=["shop", "-created_at", "-id", "publish_at", "unpublish_at"],
                condition=LISTABLE,
                name="product_list_newest",
            ),
            models.Index(
                fields=["shop", "price", "id", "publish_at", "unpublish_at"],
                condition=LISTABLE,
                name="product_list_price",
            ),
            models.Index(
                fields=["shop", "sort_name", "id", "publish_at", "unpublish_at"],
                condition=LISTABLE,
                name="product_list_name",
            ),
            models.Index(
                fields=["shop", "id", "publish_at", "unpublish_at"],
                condition=LISTABLE & Q(is_featured=True),
                name="product_list_featured",
            ),
            *turns("product", *dates.SALE_TURNS, "available_from"),
            # Products that a date hides from lists, because it is still to come or has passed.
            models.Index(
                fields=["shop", "publish_at", "id"],
                condition=LISTABLE & Q(publish_at__isnull=False),
                name="product_list_starts",
            ),
            models.Index(
                fields=["shop", "unpublish_at", "publish_at", "id"],
                condition=LISTABLE & Q(unpublish_at__isnull=False),
                name="product_list_ends",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def is_published(self, now: datetime) -> bool:
        """Returns True if shoppers and integrations can see and buy the product now (R-CAT-2)."""
        return (
            self.status == self.Status.ACTIVE
            and self.deleted_at is None
            and (self.publish_at is None or self.publish_at <= now)
            and (self.unpublish_at is None or now < self.unpublish_at)
        )

    def can_sell(self, qty: int) -> bool:
        """Returns True if the product's own stock allows this quantity."""
        return not self.track_inventory or self.allow_backorders or self.stock_qty >= qty


class Variant(models.Model):
    """A version of a variable product, with its own price and stock."""

    # Without a constraint, as in `tables/parts.py`.
    shop = models.ForeignKey(
        Shop, on_delete=models.CASCADE, related_name="variants", db_index=False, db_constraint=False
    )
    product = models.ForeignKey(Product, on_delete=models.CASCADE, related_name="variants", db_index=False)
    legacy_source_id = models.BigIntegerField(null=True, blank=True)
    name = models.CharField(max_length=500)
    sku = models.CharField("SKU", max_length=255, blank=True, default="")
    barcode = models.CharField(max_length=100, null=True, blank=True)
    price = MoneyField()
    compare_price = MoneyField()
    cost_price = MoneyField(help_text="What the shop pays for the variant. Never shown outside the admin.")
    weight = MeasureField(null=True, blank=True, help_text="If empty, the product's weight is used.")
    track_inventory = models.BooleanField(default=True)
    stock_qty = models.IntegerField(default=0)
    allow_backorders = models.BooleanField(default=False)
    is_active = models.BooleanField(default=True)
    option_values = models.JSONField(
        default=dict, blank=True, help_text='Such as {"Colour": "Blue"}. A name that is left out matches any value.'
    )
    image = models.ForeignKey(
        "Media", null=True, blank=True, on_delete=models.SET_NULL, related_name="+", db_index=False
    )
    sort_order = models.IntegerField(default=0)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()
    sale_price = MoneyField(null=True, blank=True, help_text="The price while the sale lasts.")
    sale_from = models.DateTimeField(null=True, blank=True, help_text="Leave empty to begin at once.")
    sale_until = models.DateTimeField(
        null=True, blank=True, help_text="Leave empty to keep the sale price until you remove it."
    )
    regular_compare_price = MoneyField(null=True, blank=True, editable=False)

    class Meta:
        ordering = ["sort_order", "id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(price__gte=0, compare_price__gte=0, cost_price__gte=0), name="variant_prices_not_negative"
            ),
        ]
        indexes = [
            models.Index(fields=["product", "sort_order", "id"]),
            models.Index(fields=["shop", "sku"]),
            *stated("variant", "image"),
            *turns("variant", *dates.SALE_TURNS),
        ]

    def __str__(self) -> str:
        return self.name

    def can_sell(self, qty: int) -> bool:
        """Returns True if this quantity can be sold (R-CAT-15)."""
        return self.is_active and (not self.track_inventory or self.allow_backorders or self.stock_qty >= qty)
