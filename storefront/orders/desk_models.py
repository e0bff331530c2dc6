"""Tables of the merchant's desk: the words that find an order, and the mails about it."""

from django.db import models

from storefront.shops.models import Shop

MAX_WORD_LENGTH = 100


class OrderWord(models.Model):
    """A word that finds an order in the admin (`words.py`): of a name, its email address, a SKU. Kept when the order is
    placed; none of them changes afterwards."""

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, db_index=False, related_name="+")
    order = models.ForeignKey("orders.Order", on_delete=models.CASCADE, related_name="words", db_index=False)
    word = models.CharField(max_length=MAX_WORD_LENGTH)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["order", "word"], name="order_word_once")]
        # The operator class lets PostgreSQL find words by their beginning, whatever its collation. SQLite has none.
        indexes = [
            models.Index(
                fields=["shop", "word", "order"],
                name="order_word_found",
                opclasses=["int8_ops", "varchar_pattern_ops", "int8_ops"],
            )
        ]

    def __str__(self) -> str:
        return self.word


class OrderMail(models.Model):
    """A mail to an order's customer. `text` is kept of those that staff wrote; the others follow from their kind."""

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, db_index=False, related_name="+")
    order = models.ForeignKey("orders.Order", on_delete=models.CASCADE, related_name="mails")
    kind = models.CharField(max_length=40)
    email = models.EmailField("email address")
    subject = models.CharField(max_length=255)
    text = models.TextField(blank=True)
    written_by = models.CharField(max_length=254, blank=True, help_text="Who of the staff wrote it.")
    created_at = models.DateTimeField()
    sent_at = models.DateTimeField(null=True)
    failed_at = models.DateTimeField(null=True, help_text="When it was given up, after the last try.")

    class Meta:
        ordering = ["id"]
        indexes = [
            models.Index(fields=["shop", "created_at"], condition=~models.Q(text=""), name="order_mail_written"),
            models.Index(
                fields=["shop", "failed_at"], condition=models.Q(failed_at__isnull=False), name="order_mail_failed"
            ),
        ]

    def __str__(self) -> str:
        return self.subject
