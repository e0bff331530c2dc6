"""Tables for the staff: the words that find an order, and the mails about it."""

from django.db import models

from storefront.shops.models import Shop

MAX_WORD_LENGTH = 100


class OrderWord(models.Model):
    """A word that finds an order in the admin (`words.py`): from a name, the email address, an SKU. Stored when the
    order is placed, and never changed."""

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, db_index=False, related_name="+", db_constraint=False)
    order = models.ForeignKey("orders.Order", on_delete=models.CASCADE, related_name="words", db_index=False)
    word = models.CharField(max_length=MAX_WORD_LENGTH)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["order", "word"], name="order_word_once")]
        # The operator class lets PostgreSQL find words by their beginning in any collation. SQLite has no such class.
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
    """A mail to an order's customer. `text` is stored for mails that staff wrote; other mails follow from their
    kind."""

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, db_index=False, related_name="+", db_constraint=False)
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
