from django.db import models
from django.db.models import Q

from storefront.catalogue.models import Product, Variant
from storefront.shops.models import Shop


class StockAlert(models.Model):
    """An email address that waits for a product or a variant. The row is deleted as its mail is queued."""

    shop = models.ForeignKey(
        Shop, on_delete=models.CASCADE, related_name="stock_alerts", db_index=False, db_constraint=False
    )
    product = models.ForeignKey(Product, on_delete=models.CASCADE, related_name="stock_alerts")
    variant = models.ForeignKey(Variant, null=True, blank=True, on_delete=models.CASCADE, related_name="stock_alerts")
    email = models.EmailField()
    language = models.CharField(
        max_length=5,
        blank=True,
        default="",
        db_default="",
        editable=False,
        help_text="In which it was asked for. Empty: the shop's.",
    )
    created_at = models.DateTimeField()
    confirmed_at = models.DateTimeField(null=True, help_text="When the owner of the address said that they wait.")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["shop", "email", "product"], condition=Q(variant__isnull=True), name="stock_alert_product_once"
            ),
            models.UniqueConstraint(
                fields=["shop", "email", "variant"], condition=Q(variant__isnull=False), name="stock_alert_variant_once"
            ),
        ]
        indexes = [
            # For the sweeps, which look for waiting alerts and for old ones.
            models.Index(fields=["id"], condition=Q(confirmed_at__isnull=False), name="stock_alert_waits"),
            models.Index(fields=["created_at"], name="stock_alert_age"),
        ]

    def __str__(self) -> str:
        return f"{self.product_id}, {self.variant_id or 'no variant'}"
