"""Pictures as pages show them: small versions of uploaded files, addresses elsewhere as they are."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

import structlog
from django.core.files.storage import default_storage
from easy_thumbnails.files import get_thumbnailer

from storefront.shops.models import Shop

log = structlog.get_logger(__name__)

TILE = 480
LARGE = 1000
SMALL = 160


@dataclass(frozen=True, slots=True)
class Picture:
    """What an <img> needs. `size` is the side in pixels of the square it is shown in, so that nothing moves when it
    arrives; `original` is the picture as it was given."""

    url: str
    alt: str
    size: int
    original: str


def picture(shop: Shop, url: str | None, size: int, alt: str = "") -> Picture | None:
    """The picture at an address of a catalogue record or a basket's line; None where there is none."""
    if not url:
        return None
    name = _stored_name(shop, url)
    if name is None:
        return Picture(url, alt, size, url)
    # On a page the host is the visitor's own, whatever the shop's configured address is.
    return Picture(_thumbnail_url(name, size), alt, size, default_storage.url(name))


def first_picture(shop: Shop, record: dict[str, Any], size: int) -> Picture | None:
    """The one that stands for a product (contract: Media)."""
    media = record["media"]
    return picture(shop, media[0]["url"], size, media[0]["alt"] or record["name"]) if media else None


def _stored_name(shop: Shop, url: str) -> str | None:
    """The name of the uploaded file behind an address, None for a picture from elsewhere."""
    # Storages that sign their addresses cannot be read backwards; their pictures are shown in full size.
    base = default_storage.url("")
    base = shop.base_url + base if base.startswith("/") else base
    return unquote(url.removeprefix(base)) if url.startswith(base) else None


def _thumbnail_url(name: str, size: int) -> str:
    try:
        return get_thumbnailer(default_storage, relative_name=name).get_thumbnail({"size": (size, size)}).url
    except Exception as error:
        # A file that is missing, broken or too large to open must not take the page with it.
        log.warning("thumbnail_failed", file=name, error=repr(error))
        return default_storage.url(name)
