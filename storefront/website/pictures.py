"""Pictures on pages: thumbnails of uploaded files, and external pictures at their own URL."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

import structlog
from django.core.files.storage import default_storage

from storefront.catalogue import thumbnails
from storefront.catalogue.thumbnails import BANNER as BANNER
from storefront.catalogue.thumbnails import CARD as CARD
from storefront.catalogue.thumbnails import LARGE as LARGE
from storefront.catalogue.thumbnails import SMALL as SMALL
from storefront.kit import clock
from storefront.shops.models import Shop

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Picture:
    """What an <img> needs. `url` is empty until there is a picture to show; `original` is the full-size picture's URL.

    `size` is the side, in pixels, of the square that the page reserves, so that nothing moves when the picture loads.
    """

    url: str
    alt: str
    size: int
    original: str


def picture(shop: Shop, url: str | None, size: int, alt: str = "") -> Picture | None:
    """The picture for a URL of a catalogue record or a cart line; None without a URL."""
    if not url:
        return None
    name = _stored_name(shop, url)
    if name is None:
        return Picture(url, alt, size, url)
    # The storage's URL is relative to the host of the page, which can differ from the shop's configured base URL.
    original = default_storage.url(name)
    return Picture(_thumbnail_url(shop, name, size, original), alt, size, original)


def first_picture(shop: Shop, record: dict[str, Any], size: int) -> Picture | None:
    """The main picture of a product (R-CAT-28); None if it has none."""
    media = record["media"]
    return picture(shop, media[0]["url"], size, media[0]["alt"] or record["name"]) if media else None


def _stored_name(shop: Shop, url: str) -> str | None:
    """The storage name of the uploaded file at this URL; None for an external picture."""
    # Signed storage URLs cannot be mapped back to a name, so those pictures are shown in full size.
    base = default_storage.url("")
    # Catalogue records contain absolute URLs, cart and order lines may contain URLs relative to the storage.
    own = url.removeprefix(shop.base_url) if base.startswith("/") else url
    return unquote(own.removeprefix(base)) if own.startswith(base) else None


def _thumbnail_url(shop: Shop, name: str, size: int, original: str) -> str:
    """The thumbnail's URL. Until the worker has created it: the original's if that file is small, else empty."""
    try:
        found = thumbnails.url_of(name, size)
        if found is None:
            thumbnails.request_thumbnails(shop, name, now=clock.now())
            found = original if thumbnails.is_small(name) else ""
        return found
    except Exception as error:
        # An invalid name or a storage that is unavailable must not break the page.
        log.warning("thumbnail_failed", file=name, error=repr(error))
        return ""
