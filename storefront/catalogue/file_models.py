"""The files of products that are downloads."""

import uuid

from django.db import models
from django.db.models import Q

from storefront.kit.storage import private_files
from storefront.shops.models import Shop


def stored_name(stored: "StoredFile", _name: str) -> str:
    """A name for storing the file, which cannot be guessed and does not contain the uploaded name."""
    return f"downloads/{stored.shop_id}/{uuid.uuid4().hex}"


class StoredFile(models.Model):
    """An uploaded file that buyers download, in private storage. It never changes; another version is another row.

    The file is kept while a product has it or an order was sold with it, and deleted a day after its last use
    (`orders/file_sweeps.py`).
    """

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE)
    file = models.FileField(upload_to=stored_name, storage=private_files, max_length=200)
    name = models.CharField(max_length=200, help_text="File name that the browser saves it under.")
    size = models.BigIntegerField(help_text="In bytes.")
    created_at = models.DateTimeField()
    unused_since = models.DateTimeField(
        null=True, db_index=True, help_text="Since when nothing was found that names it; null if something does."
    )

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(size__gte=1), name="stored_file_not_empty")]

    def __str__(self) -> str:
        return self.name


class DigitalFile(models.Model):
    """A file that those who buy the product, or this variant of it, can download."""

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, db_constraint=False)
    product = models.ForeignKey(
        "catalogue.Product", on_delete=models.CASCADE, related_name="digital_files", db_index=False
    )
    variant = models.ForeignKey(
        "catalogue.Variant", null=True, blank=True, on_delete=models.CASCADE, help_text="Leave empty for all variants."
    )
    file = models.ForeignKey(StoredFile, on_delete=models.RESTRICT, related_name="+")
    name = models.CharField(max_length=200, help_text="Shown to buyers.")
    sort_order = models.IntegerField(default=0)
    # Orders placed before the file was added get it from a sweep, in the order of their lines.
    given_to = models.BigIntegerField(default=0, editable=False, help_text="The last order line that was looked at.")
    given_at = models.DateTimeField(null=True, editable=False, help_text="When all earlier orders had it.")

    class Meta:
        ordering = ["sort_order", "id"]
        indexes = [
            models.Index(fields=["product", "sort_order", "id"], name="digital_file_of_product"),
            models.Index(fields=["id"], condition=Q(given_at__isnull=True), name="digital_file_to_give"),
        ]

    def __str__(self) -> str:
        return self.name
