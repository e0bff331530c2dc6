from django.db import models


class WrittenPosition(models.Model):
    """With replicas, the position in PostgreSQL's write-ahead log up to which a replica must have replayed it to show
    the shop (`positions.py`)."""

    # Not a foreign key, since a change may be announced while its shop is deleted.
    shop_id = models.BigIntegerField(primary_key=True)
    position = models.BigIntegerField()

    def __str__(self) -> str:
        return f"{self.shop_id}: {self.position}"
