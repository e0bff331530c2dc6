"""The accounts of staff, which belong to persons and not to shops."""

from django.contrib.auth.hashers import check_password
from django.contrib.auth.models import AbstractUser
from django.db import models
from django.utils.translation import gettext_lazy as _lazy

from storefront.pods import registry


class User(AbstractUser):
    """A person who signs in to the admin. Shoppers are customers, not users."""

    email = models.EmailField(_lazy("email address"), unique=True)
    language = models.CharField(
        max_length=5,
        blank=True,
        default="",
        db_default="",
        help_text=_lazy("Language of the admin. Leave empty to use the browser's."),
    )

    def check_password(self, raw_password: str | None) -> bool:
        """Compares with the password, which is stored with the current hasher if that is another one, where accounts
        are written."""
        if registry.is_written_here():
            return super().check_password(raw_password)
        return check_password(raw_password, self.password)
