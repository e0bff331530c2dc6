from django.db import models

from storefront.shops.models import ApiToken, Shop, User


class StockAdjustment(models.Model):
    """A count of stock that somebody put right: not a sale, but goods that came in, broke, or were counted.

    Whoever it was stands in one of three columns: an app, an API token of the shop, or somebody of its staff.
    """

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, db_index=False)
    product = models.ForeignKey("catalogue.Product", on_delete=models.CASCADE, related_name="adjustments")
    variant = models.ForeignKey("catalogue.Variant", null=True, on_delete=models.SET_NULL, related_name="adjustments")
    # From one end of the column of stock to the other.
    delta = models.BigIntegerField(help_text="How many pieces more, or, below zero, fewer.")
    stock_after = models.IntegerField(help_text="The stock that this made.")
    reason = models.CharField(max_length=255)
    installation = models.ForeignKey(
        "apps.Installation", null=True, on_delete=models.SET_NULL, related_name="+", db_index=False
    )
    token = models.ForeignKey(ApiToken, null=True, on_delete=models.SET_NULL, related_name="+", db_index=False)
    user = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+", db_index=False)
    made_at = models.DateTimeField()

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index(fields=["shop", "-id"], name="stock_adjustment_newest")]

    def __str__(self) -> str:
        return f"{self.delta:+} {self.variant or self.product}"

    @property
    def made_by(self) -> str:
        """Who it was, as far as they are still known."""
        return str(self.installation or self.token or self.user or "–")
