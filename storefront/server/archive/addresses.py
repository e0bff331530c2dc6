"""Rewrites addresses of a shop's files in its HTML texts and links, so that a copy shows its own files.

Only addresses of files that the archive has are changed, and only as a whole: `/media/cup.png.webp` and another
host's `/media/cup.png` stay.
"""

import re
from collections.abc import Mapping
from html import escape, unescape
from urllib.parse import unquote, urlsplit

from django.core.files.storage import default_storage

from storefront.catalogue.records import media_url
from storefront.shops.models import Shop

# Columns of HTML texts and of links.
ADDRESSED = {
    "catalogue.Category": ("description",),
    "catalogue.Product": ("description", "short_description"),
    "content.MenuLink": ("link",),
    "content.Page": ("body",),
    "content.Redirect": ("target",),
}
# Columns of JSON with such texts and links.
TRANSLATED = {
    **dict.fromkeys(("catalogue.Category", "catalogue.Product", "content.Page"), ("translations",)),
    "content.Looks": ("home",),
}


class Addresses:
    """`old` begins the original's URLs of pictures, `base_url` all of its URLs; `names` has the new names of its
    pictures by the old ones."""

    def __init__(self, old: str, base_url: str, shop: Shop, names: Mapping[str, str]) -> None:
        self._shop, self._names = shop, names
        host, path = (re.escape(part) for part in urlsplit(old)[1:3])
        # A path alone leads to the host of the page, which is the shop's.
        optional = "?" if old.startswith(f"{base_url}/") else ""
        # Begins a text or follows what can stand before an address in HTML; ends where an address does.
        self._pattern = re.compile(
            rf"(?<![^\s\"'=(,;>])(?P<host>(?i:(?:https?:)?//{host})){optional}{path}(?P<name>[^\s\"'<>()?#,]+)"
        )

    def rewritten(self, text: str) -> str:
        """The text with the addresses of the copy's files in place of the original's."""
        return self._pattern.sub(self._replaced, text)

    def _replaced(self, found: re.Match[str]) -> str:
        name = self._names.get(unquote(unescape(found["name"])))
        if name is None:
            return found[0]
        return escape((media_url(self._shop, name) or "") if found["host"] else default_storage.url(name))
