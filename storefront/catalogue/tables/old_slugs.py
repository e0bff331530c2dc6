"""Slugs that products and categories had before: their old addresses lead to the new ones."""

from django.db import models
from django.db.models import Q

from storefront.shops.models import Shop


class OldSlug(models.Model):
    """A slug that a product or a category of the shop had, until it got another one. Triggers write it
    (`catalogue/triggers.py`), whatever changes the slug. It refers to the row and not to the new slug, so that there
    are no chains. A slug that a product (or a category) has now is no old slug of another one.
    """

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, db_index=False, db_constraint=False)
    product = models.ForeignKey(
        "catalogue.Product", null=True, on_delete=models.CASCADE, related_name="old_slugs", db_index=False
    )
    category = models.ForeignKey(
        "catalogue.Category", null=True, on_delete=models.CASCADE, related_name="old_slugs", db_index=False
    )
    slug = models.CharField(max_length=255)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(product__isnull=False, category__isnull=True)
                | Q(product__isnull=True, category__isnull=False),
                name="old_slug_of_one_row",
            ),
            models.UniqueConstraint(
                fields=["shop", "slug"], condition=Q(product__isnull=False), name="old_slug_of_product_once"
            ),
            models.UniqueConstraint(
                fields=["shop", "slug"], condition=Q(category__isnull=False), name="old_slug_of_category_once"
            ),
        ]
        indexes = [
            models.Index(fields=["product", "id"], condition=Q(product__isnull=False), name="old_slug_product"),
            models.Index(fields=["category", "id"], condition=Q(category__isnull=False), name="old_slug_category"),
        ]

    def __str__(self) -> str:
        return self.slug
