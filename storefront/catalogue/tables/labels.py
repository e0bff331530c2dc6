"""Labels of products: brands, vendors, shipping origins, tax classes."""

from django.db import models
from django.db.models.functions import Lower

from storefront.shops.models import Shop


class NamedOnce(models.Model):
    """A name that is unique in its shop, ignoring case."""

    name = models.CharField(max_length=200)

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return self.name


class Brand(NamedOnce):
    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, related_name="brands")

    class Meta:
        constraints = [models.UniqueConstraint("shop", Lower("name"), name="brand_once")]


class Vendor(NamedOnce):
    """A supplier of products. Never shown outside the admin."""

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, related_name="vendors")

    class Meta:
        constraints = [models.UniqueConstraint("shop", Lower("name"), name="vendor_once")]


class ShippingOrigin(NamedOnce):
    """A place from which orders are shipped."""

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, related_name="shipping_origins")

    class Meta:
        constraints = [models.UniqueConstraint("shop", Lower("name"), name="shipping_origin_once")]


class TaxClass(NamedOnce):
    """Products with the same tax rates, such as reduced."""

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, related_name="tax_classes")

    class Meta:
        verbose_name_plural = "tax classes"
        constraints = [models.UniqueConstraint("shop", Lower("name"), name="tax_class_once")]
