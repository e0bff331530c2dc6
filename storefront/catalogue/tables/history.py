"""What triggers write about products: the history of stocks and prices, which nothing changes, and the time of the last
change."""

from django.db import models

from storefront.installations.models import Installation
from storefront.kit.money_field import MoneyField
from storefront.shops.models import ApiToken, Shop, User


class StockAdjustment(models.Model):
    """A change of a stock: a row of the stock ledger, which triggers write (catalogue/triggers.py) and nothing changes
    afterwards. From a stock's last opening row on, each row begins where the one before it ended.

    One of three columns names the author, if there is one: an app, an API token of the shop, or a member of its staff.
    No foreign keys in the database, since imports write many rows; a product's rows go with it.
    """

    class Kind(models.TextChoices):
        OPENING = "opening", "Counted when the ledger began"
        CREATED = "created", "New product"
        SOLD = "sold"
        RETURNED = "returned", "Put back"
        ADJUSTED = "adjusted"
        EDITED = "edited", "Changed in a form"
        IMPORTED = "imported"
        CHANGED = "changed"
        REMOVED = "removed", "Variant removed"

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, db_index=False, db_constraint=False)
    product = models.ForeignKey(
        "catalogue.Product", on_delete=models.CASCADE, related_name="adjustments", db_constraint=False
    )
    # The row stays when the variant is removed.
    variant = models.ForeignKey(
        "catalogue.Variant",
        null=True,
        on_delete=models.DO_NOTHING,
        related_name="adjustments",
        db_index=False,
        db_constraint=False,
    )
    of_damaged = models.BooleanField("damaged units", default=False, db_default=False)
    kind = models.CharField(max_length=10, choices=Kind, db_default=Kind.ADJUSTED)
    # A change can be twice as large as a stock: from the lowest stock to the highest.
    delta = models.BigIntegerField(help_text="Change of the stock; negative if units were removed.")
    stock_after = models.IntegerField(help_text="Stock after the change.")
    reason = models.CharField(max_length=255, blank=True)
    reference = models.CharField(
        max_length=100, blank=True, help_text="What the change belongs to, such as an order.", default="", db_default=""
    )
    installation = models.ForeignKey(
        Installation, null=True, on_delete=models.SET_NULL, related_name="+", db_index=False
    )
    token = models.ForeignKey(ApiToken, null=True, on_delete=models.SET_NULL, related_name="+", db_index=False)
    user = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+", db_index=False)
    made_at = models.DateTimeField()

    class Meta:
        ordering = ["-id"]
        verbose_name = "stock change"
        indexes = [models.Index(fields=["shop", "-id"], name="stock_adjustment_newest")]

    def __str__(self) -> str:
        return f"{self.delta:+} {self.variant or self.product}"

    @property
    def made_by(self) -> str:
        """The name of the author, or a dash if there is none."""
        return str(self.installation or self.token or self.user or "–")


class PastPrice(models.Model):
    """A price that a product or a variant had until a time. Triggers write it (`catalogue/triggers.py`), and nothing
    changes it. No foreign keys in the database; a product's rows go with it."""

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, db_index=False, db_constraint=False)
    product = models.ForeignKey(
        "catalogue.Product", on_delete=models.CASCADE, related_name="past_prices", db_index=False, db_constraint=False
    )
    variant = models.ForeignKey(
        "catalogue.Variant",
        null=True,
        on_delete=models.DO_NOTHING,
        related_name="+",
        db_index=False,
        db_constraint=False,
    )
    price = MoneyField()
    until = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["product", "-until"], name="past_price_newest")]

    def __str__(self) -> str:
        return f"{self.price} until {self.until:%Y-%m-%d}"


class LastChange(models.Model):
    """The `updated_at` and the status of each product that is not deleted a second time, with the index that lists go
    by. In the product's own row, an index of `updated_at` would make each sale write to every index of the product.
    Only triggers write here (catalogue/triggers.py)."""

    product = models.OneToOneField(
        "catalogue.Product",
        primary_key=True,
        on_delete=models.DO_NOTHING,
        related_name="last_change",
        db_constraint=False,
    )
    shop = models.ForeignKey(Shop, on_delete=models.DO_NOTHING, db_index=False, db_constraint=False)
    updated_at = models.DateTimeField()
    status = models.CharField(max_length=10, db_default="")

    class Meta:
        indexes = [
            models.Index(fields=["shop", "-updated_at", "-product"], name="last_change_newest"),
            models.Index(fields=["shop", "status", "-updated_at", "-product"], name="last_change_of_status"),
        ]

    def __str__(self) -> str:
        return f"{self.product_id} at {self.updated_at:%F %T}"
