from django.db import models
from django.db.models import Q

from storefront.catalogue.models import Media
from storefront.shops.models import Shop


class PictureFetch(models.Model):
    """The state of fetching a picture that was imported with its address. Media have none if they were imported without
    an address, or with the option to keep the addresses.

    While a worker fetches the picture, `lease` is the worker's, and `due_at` is the end of the lease: so `due_at` alone
    decides what can be claimed.
    """

    class State(models.TextChoices):
        WAITING = "waiting"
        FETCHED = "fetched"
        FAILED = "failed"

    media = models.OneToOneField(Media, primary_key=True, on_delete=models.CASCADE, related_name="fetch")
    # The shop of the media. The indexes below begin with these two columns.
    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, db_index=False, db_constraint=False)
    product_import = models.ForeignKey(
        "catalogue.ProductImport", null=True, on_delete=models.SET_NULL, db_index=False, related_name="pictures"
    )
    host = models.CharField(max_length=255, help_text="Host and port of the address, in lowercase.")
    state = models.CharField(max_length=7, choices=State, default=State.WAITING)
    attempts = models.PositiveSmallIntegerField(default=0, help_text="How often a worker has begun to fetch it.")
    due_at = models.DateTimeField()
    lease = models.CharField(max_length=32, null=True)
    reason = models.CharField(max_length=300, blank=True, help_text="Why the last attempt failed.")
    is_announced = models.BooleanField(default=False, help_text="Whether apps were told of the fetched picture.")

    class Meta:
        verbose_name_plural = "picture fetches"
        constraints = [
            models.CheckConstraint(condition=Q(state__in=["waiting", "fetched", "failed"]), name="picture_fetch_state")
        ]
        indexes = [
            models.Index(fields=["shop", "host", "due_at"], condition=Q(state="waiting"), name="picture_fetch_due"),
            models.Index(fields=["shop", "media"], condition=Q(state="failed"), name="picture_fetch_failed"),
            models.Index(
                fields=["product_import", "state"],
                condition=Q(product_import__isnull=False),
                name="picture_fetch_import",
            ),
        ]

    def __str__(self) -> str:
        return str(self.media_id)


class PictureRequest(models.Model):
    """Pictures that an import has requested and no worker has taken up yet: those of the shop's media with ids from
    `first_media` to `last_media`. Taking the request up creates a PictureFetch for each (`taking_up.py`). The ranges of
    a shop do not overlap."""

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, db_index=False)
    product_import = models.ForeignKey(
        "catalogue.ProductImport", null=True, on_delete=models.SET_NULL, db_index=False, related_name="picture_requests"
    )
    first_media = models.BigIntegerField()
    last_media = models.BigIntegerField()
    pictures = models.PositiveIntegerField(help_text="How many of them have an address that is fetched.")
    made_at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["shop", "last_media"], name="picture_request_media")]

    def __str__(self) -> str:
        return f"{self.first_media}-{self.last_media}"


class StoredPicture(models.Model):
    """The file of a fetched picture, by the digest of its content, so that a shop stores equal content once. The file
    stays when its media are removed, since carts and orders show it."""

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, db_index=False)
    digest = models.CharField(max_length=64, help_text="SHA-256 of the content, in hexadecimal.")
    file = models.CharField(max_length=500)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["shop", "digest"], name="stored_picture_once")]

    def __str__(self) -> str:
        return self.file
