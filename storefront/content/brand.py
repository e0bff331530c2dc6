"""The shop's looks for what leaves its pages: mails and papers. One query reads them; without looks they are the
service's own. A mail or a paper never fails for its looks."""

from functools import lru_cache
from typing import Any

import structlog
from django.core.files.storage import default_storage
from PIL import Image

from storefront.content import colours
from storefront.content.models import Looks
from storefront.shops.mail_brand import SANS, Logo, MailBrand
from storefront.shops.models import Shop

log = structlog.get_logger(__name__)

_FIGTREE = f"Figtree,{SANS}"
# Families for headings and for text. Mails load no fonts: readers who have these see them, all others see the next one.
_FAMILIES = {
    Looks.Fonts.FRAUNCES: ("Fraunces,Georgia,'Times New Roman',serif", _FIGTREE),
    Looks.Fonts.LORA: ("Lora,Georgia,'Times New Roman',serif", f"'Source Sans 3',{SANS}"),
    Looks.Fonts.FIGTREE: (_FIGTREE, _FIGTREE),
    Looks.Fonts.SYSTEM: (SANS, SANS),
}
# Corners of cards and of buttons, as in shop.css. Mail programs draw a radius of more than half the height as half.
_CORNERS = {Looks.Corners.ROUND: (14, 24), Looks.Corners.SOFT: (6, 6), Looks.Corners.SQUARE: (0, 0)}
# Pixels that a logo has at most in a mail.
_LOGO_WIDTH, _LOGO_HEIGHT = 220, 44


def brand_of(shop: Shop) -> MailBrand:
    """The looks of the shop's mails. Texts can be read on all of these colours."""
    looks = _looks(shop)
    background = looks.background if not colours.problem_of_background(looks.background) else Looks().background
    light, dark = colours.shades(colours.readable_accent(looks.accent, background), background)
    heading, text = _FAMILIES[Looks.Fonts(looks.fonts)]
    radius, button_radius = _CORNERS[Looks.Corners(looks.corners)]
    return MailBrand(
        background=light["paper"],
        line=light["line"],
        accent=light["accent"],
        accent_ink=light["accent-ink"],
        soft=light["accent-soft"],
        pale=dark["accent"],
        pale_ink=dark["accent-ink"],
        heading_font=heading,
        text_font=text,
        radius=radius,
        button_radius=button_radius,
        logo=_logo(shop, str(looks.logo)) if looks.logo else None,
    )


def paper_brand(shop: Shop) -> dict[str, str]:
    """The looks of the shop's papers, as they are stored with an issued one: the name of the logo's file, the accent,
    and the pair of fonts."""
    looks = _looks(shop)
    accent = colours.readable_accent(looks.accent, "#ffffff")
    return {"logo": looks.logo.name or "", "accent": accent, "fonts": looks.fonts}


def _looks(shop: Shop) -> Looks:
    return Looks.objects.filter(shop=shop).first() or Looks(shop=shop)


def _logo(shop: Shop, name: str) -> Logo | None:
    """The logo, as large as fits; None if its file cannot be read: a mail then has the shop's name."""
    try:
        width, height = _size(name)
        url = default_storage.url(name)
    except Exception as error:
        log.warning("logo_failed", file=name, error=repr(error))
        return None
    scale = min(_LOGO_WIDTH / width, _LOGO_HEIGHT / height, 1)
    shown: Any = (max(round(side * scale), 1) for side in (width, height))
    return Logo(f"{shop.base_url}{url}" if url.startswith("/") else url, *shown)


@lru_cache(maxsize=1000)
def _size(name: str) -> tuple[int, int]:
    """Width and height of a stored picture. A file keeps its name for good."""
    with default_storage.open(name) as file, Image.open(file) as image:
        return image.size
