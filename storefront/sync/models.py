from django.db import models

from storefront.shops.models import Shop


class Change(models.Model):
    """A write of a product, an order or a customer, or of a row that its record shows. Triggers append it in the
    transaction of the write (`triggers.py`); nothing updates it, so that writers never wait for each other here.

    Changes are read in the order of `xact` and `id`, which on SQLite is that of the commits. On PostgreSQL, readers
    stop before the oldest transaction that is still running (`log.horizon`).
    """

    class Kind(models.TextChoices):
        PRODUCT = "product"
        ORDER = "order"
        CUSTOMER = "customer"

    # Without a constraint: deleting a shop deletes its products, and so appends changes.
    shop = models.ForeignKey(Shop, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False)
    kind = models.CharField(max_length=10, choices=Kind)
    object_id = models.BigIntegerField(help_text="Id of the product, order or customer.")
    variant_id = models.BigIntegerField(
        null=True, help_text="The product's variant that was changed or deleted, if it was one."
    )
    xact = models.BigIntegerField(help_text="Number of the transaction on PostgreSQL; 0 on SQLite.")
    at = models.DateTimeField(help_text="When it was written, by the clock of the database.")

    class Meta:
        indexes = [
            models.Index(fields=["shop", "kind", "xact", "id"], name="change_in_order"),
            models.Index(fields=["shop", "kind", "at", "object_id"], name="change_by_time"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.object_id}"


class Log(models.Model):
    """The generation of a shop's cursors. After a backup was restored, positions can be used a second time, so
    `storefront reindex` begins a new generation, and cursors of earlier ones are refused."""

    shop = models.OneToOneField(Shop, on_delete=models.CASCADE, primary_key=True)
    generation = models.PositiveIntegerField(default=0)

    def __str__(self) -> str:
        return f"{self.shop}: {self.generation}"
