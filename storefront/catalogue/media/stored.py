"""Finds the stored files behind the URLs of a shop's pictures."""

from urllib.parse import unquote

from django.core.files.storage import default_storage

from storefront.shops.models import Shop


def stored_name(shop: Shop, url: str) -> str | None:
    """The storage name of the uploaded file at this URL; None for an external picture."""
    # Signed storage URLs cannot be mapped back to a name, so those pictures are shown in full size.
    base = default_storage.url("")
    # Catalogue records contain absolute URLs, cart and order lines may contain URLs relative to the storage.
    own = url.removeprefix(shop.base_url) if base.startswith("/") else url
    return unquote(own.removeprefix(base)) if own.startswith(base) else None
