"""Pictures in mails and in the admin: the shop's own files alone, so that nobody else learns who reads a mail."""

import structlog
from django.core.files.storage import default_storage

from storefront.catalogue import thumbnails
from storefront.catalogue.stored_pictures import stored_name
from storefront.shops.models import Shop

log = structlog.get_logger(__name__)


def mail_picture(shop: Shop, url: str | None) -> str:
    """The absolute URL of the small picture at this URL of an order line; empty without one, for an external one, and
    while there is none that is small enough."""
    found = small_picture(shop, url)
    return f"{shop.base_url}{found}" if found.startswith("/") else found


def small_picture(shop: Shop, url: str | None) -> str:
    """The same, without the host if the deployment itself serves it."""
    name = stored_name(shop, url) if url else None
    if name is None:
        return ""
    try:
        found = thumbnails.url_of(name, thumbnails.SMALL)
        if not found and thumbnails.is_small(name):
            found = default_storage.url(name)
    except Exception as error:
        # A mail or a page goes without pictures rather than not at all.
        log.warning("thumbnail_failed", file=name, error=repr(error))
        return ""
    return found or ""
