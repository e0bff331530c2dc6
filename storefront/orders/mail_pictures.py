"""Pictures for mails and the admin: only the shop's own files, so that no other host learns who reads a mail."""

import structlog
from django.core.files.storage import default_storage

from storefront.catalogue.media import thumbnails
from storefront.catalogue.media.stored import stored_name
from storefront.shops.models import Shop

log = structlog.get_logger(__name__)


def mail_picture(shop: Shop, url: str | None) -> str:
    """The absolute URL of the thumbnail for this picture of an order line; empty without one, for an external picture,
    and while no small file exists."""
    found = small_picture(shop, url)
    return f"{shop.base_url}{found}" if found.startswith("/") else found


def small_picture(shop: Shop, url: str | None) -> str:
    """Like `mail_picture`, without the host if the deployment itself serves the file."""
    name = stored_name(shop, url) if url else None
    if name is None:
        return ""
    try:
        found = thumbnails.url_of(name, thumbnails.SMALL)
        if not found and thumbnails.is_small(name):
            found = default_storage.url(name)
    except Exception as error:
        # A mail or page without pictures is better than none.
        log.warning("thumbnail_failed", file=name, error=repr(error))
        return ""
    return found or ""
