"""Slugs of products and categories in the shop's further languages."""

from django.db import models
from django.db.models import Q

from storefront.shops.models import Shop


class TranslatedSlug(models.Model):
    """A slug that a product or a category has in a language, or had before (`current` is false). Triggers write it from
    the column `translations` (`catalogue/trigger_sql/translated_slugs_*.sql`), whatever changes that. Of each language,
    a slug belongs to one product, and to one category.
    """

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, db_index=False, db_constraint=False)
    product = models.ForeignKey(
        "catalogue.Product", null=True, on_delete=models.CASCADE, related_name="translated_slugs", db_index=False
    )
    category = models.ForeignKey(
        "catalogue.Category", null=True, on_delete=models.CASCADE, related_name="translated_slugs", db_index=False
    )
    language = models.CharField(max_length=5)
    slug = models.CharField(max_length=255)
    current = models.BooleanField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(product__isnull=False, category__isnull=True)
                | Q(product__isnull=True, category__isnull=False),
                name="translated_slug_of_one_row",
            ),
            models.UniqueConstraint(
                fields=["shop", "language", "slug"],
                condition=Q(product__isnull=False),
                name="translated_slug_of_product_once",
            ),
            models.UniqueConstraint(
                fields=["shop", "language", "slug"],
                condition=Q(category__isnull=False),
                name="translated_slug_of_category_once",
            ),
        ]
        indexes = [
            models.Index(fields=["product", "id"], condition=Q(product__isnull=False), name="translated_slug_product"),
            models.Index(
                fields=["category", "id"], condition=Q(category__isnull=False), name="translated_slug_category"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.language}: {self.slug}"
