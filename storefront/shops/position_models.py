"""Numbers and positions by which processes and replicas learn what was written."""

from django.db import models


class Change(models.Model):
    """On SQLite, the number of a shop's last change, counted over all shops (`shops.changes`). Unused on PostgreSQL."""

    # Not a foreign key, since other processes must learn of a deleted shop, too.
    shop_id = models.BigIntegerField(primary_key=True)
    number = models.BigIntegerField(unique=True)

    def __str__(self) -> str:
        return f"{self.shop_id}: {self.number}"


class WrittenPosition(models.Model):
    """With replicas, the position in PostgreSQL's write-ahead log up to which a replica must have replayed it to show
    the shop (`positions.py`)."""

    # Not a foreign key, since a change may be announced while its shop is deleted.
    shop_id = models.BigIntegerField(primary_key=True)
    position = models.BigIntegerField()

    def __str__(self) -> str:
        return f"{self.shop_id}: {self.position}"
