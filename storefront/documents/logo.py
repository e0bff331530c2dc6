"""Reads the logo that a document's record names."""

from functools import lru_cache

import structlog
from django.core.files.storage import default_storage
from PIL import Image

from storefront.documents.records import Record

log = structlog.get_logger(__name__)

# Pixels of the longer side: sharp in print, and small in the file.
MAX_SIDE = 900


def logo_of(record: Record) -> Image.Image | None:
    """The logo; None if the shop had none, or if its file cannot be read."""
    name = record.get("brand", {}).get("logo", "")
    try:
        return _picture(name) if name else None
    except Exception as error:
        # A paper without its logo is better than none.
        log.warning("logo_failed", file=name, error=repr(error))
        return None


@lru_cache(maxsize=20)
def _picture(name: str) -> Image.Image:
    with default_storage.open(name) as file:
        picture = Image.open(file)
        picture.thumbnail((MAX_SIDE, MAX_SIDE))
        return picture.convert("RGBA")
