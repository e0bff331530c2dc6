"""URLs of the admin."""

from django.utils.http import urlencode

from storefront.shops.models import Shop
from storefront.shops.places import page_address


def admin_url(name: str, *, shop: Shop, **query: str) -> str:
    """The absolute URL of a page of the admin, such as `admin:index`, for mails and the command line.

    It is built from settings, not from a request, so that a forged `Host` cannot get into a mail.
    """
    query_string = f"?{urlencode(query)}" if query else ""
    return f"{page_address(name, shop=shop)}{query_string}"
