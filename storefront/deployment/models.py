from django.db import models

from storefront.shops.models import Shop


class DeployedShop(Shop):
    """A shop as the operator sees it (`admin.py`), who sees all of them."""

    class Meta:
        proxy = True
        verbose_name = "shop"


class ShopLoad(models.Model):
    """The requests of a shop on one day (UTC), and the time that they took here. Accurate to about a minute."""

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, db_index=False)
    day = models.DateField(db_index=True)
    requests = models.BigIntegerField()
    milliseconds = models.BigIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["shop", "day"], name="shop_load_once")]

    def __str__(self) -> str:
        return f"{self.day}: {self.requests}"


class ShopFigures(models.Model):
    """What the operator's list shows of a shop, and sorts by. The worker counts it again every few minutes
    (`counting.py`), so that opening the list counts nothing."""

    shop = models.OneToOneField(Shop, on_delete=models.CASCADE, primary_key=True, related_name="figures")
    counted_at = models.DateTimeField(db_index=True)
    products = models.BigIntegerField()
    orders = models.BigIntegerField()
    requests = models.BigIntegerField()
    milliseconds = models.BigIntegerField()
    failing_webhooks = models.BigIntegerField()
    dead_deliveries = models.BigIntegerField()
    failed_mails = models.BigIntegerField()

    def __str__(self) -> str:
        return f"{self.shop} at {self.counted_at}"
