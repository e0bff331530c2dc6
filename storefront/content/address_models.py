"""Redirects that a merchant makes, and the addresses at which the shop has no page."""

from django.db import models
from django.utils.translation import gettext_lazy as _lazy

from storefront.shops.models import Shop

# Characters of the path of a redirect, and of what it leads to.
MAX_PATH_LENGTH, MAX_TARGET_LENGTH = 500, 2000


class Redirect(models.Model):
    """A path at which the shop has no page, and the path or web address to which it leads instead. `path` is in the
    normal form (`addresses.normal_path`). A target is the path of another redirect only where a page can be."""

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, related_name="redirects", db_index=False)
    path = models.CharField(
        _lazy("from"),
        max_length=MAX_PATH_LENGTH,
        help_text=_lazy("A path of your shop, such as /old-page. A page that exists wins."),
    )
    target = models.CharField(
        _lazy("to"),
        max_length=MAX_TARGET_LENGTH,
        help_text=_lazy("A path of your shop, such as /products, or an address with https://."),
    )
    created_at = models.DateTimeField(editable=False)
    updated_at = models.DateTimeField(editable=False)

    class Meta:
        ordering = ["path"]
        constraints = [models.UniqueConstraint(fields=["shop", "path"], name="redirect_path_once")]

    def __str__(self) -> str:
        return self.path


class MissingPath(models.Model):
    """A path that was asked for and at which the shop has no page, with how often. Nothing else of who asked is
    kept."""

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, related_name="missing_paths", db_index=False)
    path = models.CharField(_lazy("address"), max_length=MAX_PATH_LENGTH)
    asked = models.PositiveIntegerField(_lazy("times"), default=0)
    last_asked_at = models.DateTimeField(_lazy("last"))

    class Meta:
        verbose_name = _lazy("missing page")
        ordering = ["-asked", "-last_asked_at"]
        constraints = [models.UniqueConstraint(fields=["shop", "path"], name="missing_path_once")]

    def __str__(self) -> str:
        return self.path
