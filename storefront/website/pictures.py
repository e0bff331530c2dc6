"""Pictures on pages: thumbnails of the shop's own files, and external pictures at their own URL.

An external picture that the worker is going to fetch is not shown from its own URL, which may be dead, and whose host
would learn of each visitor. If an external picture does not load, `page.js` shows the placeholder.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import structlog
from django.core.files.storage import default_storage

from storefront.catalogue import records
from storefront.catalogue.media import thumbnails
from storefront.catalogue.media.stored import stored_name
from storefront.catalogue.media.thumbnails import BANNER as BANNER
from storefront.catalogue.media.thumbnails import CARD as CARD
from storefront.catalogue.media.thumbnails import LARGE as LARGE
from storefront.catalogue.media.thumbnails import SMALL as SMALL
from storefront.catalogue.models import Media
from storefront.kit import clock
from storefront.pictures import queries as fetches
from storefront.shops.models import Shop

log = structlog.get_logger(__name__)

# By size on the page: the thumbnails among which browsers choose, and the width of the picture (`srcset`, `sizes`).
SOURCES = {
    CARD: ((CARD, LARGE), "(min-width: 40rem) 18rem, 50vw"),
    LARGE: ((CARD, LARGE, BANNER), "(min-width: 50rem) 50vw, 100vw"),
    BANNER: ((LARGE, BANNER), "100vw"),
}
# A picture with a longer side than this many shorter ones is shown whole, unless a part of it was chosen.
MAX_RATIO = 2


@dataclass(frozen=True, slots=True)
class Picture:
    """What an <img> needs. `url` is empty until there is a picture to show; `original` is the full-size picture's URL.

    `size` is the side, in pixels, of the square that the page reserves, so that nothing moves when the picture loads.
    `srcset` and `sizes` are the attributes of these names, empty if there is one size only. `focus` is a `Media.Focus`;
    empty: as in the looks.
    """

    url: str
    alt: str
    size: int
    original: str
    srcset: str = ""
    sizes: str = ""
    focus: str = ""


def picture(shop: Shop, url: str | None, size: int, alt: str = "") -> Picture | None:
    """The picture for a URL of a catalogue record or a cart line; None without a URL."""
    if not url:
        return None
    name = stored_name(shop, url)
    if name is None:
        return Picture(url, alt, size, url)
    # The storage's URL is relative to the host of the page, which can differ from the shop's configured base URL.
    original = default_storage.url(name)
    url = _thumbnail_url(shop, name, size, original)
    if url in ("", original) or size not in SOURCES:
        return Picture(url, alt, size, original)
    # The worker makes all sizes at once.
    sides, sizes = SOURCES[size]
    srcset = ", ".join(f"{thumbnails.future_url_of(name, side)} {side}w" for side in sides)
    return Picture(url, alt, size, original, srcset, sizes)


def first_picture(shop: Shop, record: dict[str, Any], size: int, awaited: Collection[int]) -> Picture | None:
    """The main picture of a product (R-CAT-28); None if it has none. `awaited`: from `awaited_media`."""
    media = record["media"]
    return media_picture(shop, media[0], size, record["name"], awaited) if media else None


def media_picture(shop: Shop, media: Mapping[str, Any], size: int, name: str, awaited: Collection[int]) -> Picture:
    """A picture of a product of this name, for a record of `media`."""
    alt = media["alt"] or name
    shown = None if media["id"] in awaited else picture(shop, media["url"], size, alt)
    return replace(shown or Picture("", alt, size, ""), focus=_focus(media))


def _focus(media: Mapping[str, Any]) -> str:
    sides = sorted([media["width"] or 1, media["height"] or 1])
    is_long = bool(media["width"] and media["height"]) and sides[1] > MAX_RATIO * sides[0]
    return media.get("focus") or (Media.Focus.WHOLE if is_long else "")


def awaited_media(shop: Shop, media: Iterable[Mapping[str, Any]]) -> set[int]:
    """The ids of those of these records of `media` whose file is still to come, or could not be fetched. One query if
    there is any external picture."""
    return fetches.without_file(shop, [each["id"] for each in media if is_external(shop, each["url"])])


def is_external(shop: Shop, url: str | None) -> bool:
    return bool(url) and stored_name(shop, url or "") is None


def line_pictures(shop: Shop, lines: Iterable[tuple[int | None, str | None]]) -> dict[Any, Picture | None]:
    """The small pictures of lines of a cart or an order, by product id and the URL that the line stores. An external
    picture may have been fetched since the line was created. One query if there is any external picture."""
    lines = set(lines)
    external = {line for line in lines if is_external(shop, line[1])}
    found = {line: picture(shop, line[1], SMALL) for line in lines}
    if external:
        products, urls = {id for id, _ in external if id}, {url for _, url in external if url}
        for media, is_requested in reversed(fetches.pictures_of(shop, products, urls)):
            line = media.product_id, media.source_url
            if media.file:
                found[line] = picture(shop, records.media_url(shop, media.file.name), SMALL)
            elif is_requested:
                found[line] = None
    return found


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
