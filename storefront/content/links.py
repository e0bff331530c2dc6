"""Links that merchants enter: to paths of their shop or to other sites, and to nothing that runs."""

from urllib.parse import urlsplit

from django.core.exceptions import ValidationError
from django.core.validators import URLValidator
from django.utils.translation import gettext as _


def check_link(text: str) -> None:
    """Raise ValidationError unless this is a path of the shop, or a web address."""
    try:
        scheme = urlsplit(text).scheme
    except ValueError:
        scheme = "unreadable"
    if scheme in ("http", "https"):
        URLValidator(schemes=["http", "https"])(text)
    elif scheme or not text.startswith("/") or text.startswith(("//", "/\\")) or any(mark.isspace() for mark in text):
        raise ValidationError(_("Enter a path of your shop, such as /products, or an address with https://."))
