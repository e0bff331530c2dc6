from django.db import models

from storefront.shops.models import Shop


class ScheduleTold(models.Model):
    """How far the apps of a shop have been told of products that begin or end by the clock (schedule.py): of all
    before this moment, and of those at this moment whose id is not greater. Only shops with an app have one."""

    shop = models.OneToOneField(Shop, on_delete=models.CASCADE, primary_key=True)
    until = models.DateTimeField()
    last_id = models.BigIntegerField(default=0)

    def __str__(self) -> str:
        return f"{self.shop} until {self.until:%F %T}"
