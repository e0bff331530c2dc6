"""The texts and the QR code of a gift card, as its mail, its page and its PDF show them.

Threats. Whoever has the code has the money, so no address that a server sees contains it: the QR code leads to the
card's page with the code behind `#`, which browsers keep to themselves (`gift-card.js` puts it into the form).
"""

from email.mime.image import MIMEImage
from io import BytesIO
from typing import Any

import segno
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from storefront.gift_cards import codes
from storefront.gift_cards.models import GiftCard
from storefront.kit.format import format_money, format_time
from storefront.shops.models import Shop
from storefront.shops.places import page_address

# Light modules around the code. Readers need four, and the white plate below the picture has the rest.
_BORDER = 2


def face_of(card: GiftCard, code: str) -> dict[str, Any]:
    """The texts on the card, in the language that is spoken: amount, code, and what else it has."""
    expires = format_time(card.expires_at, card.shop.timezone) if card.expires_at else ""
    written = codes.for_people(code)
    return {
        "amount": format_money(card.balance, card.currency),
        "lines": [line.strip() for line in card.message.splitlines() if line.strip()],
        "giver": _("From %(giver)s") % {"giver": card.giver} if card.giver else "",
        "code": written,
        "code_label": _("Your code"),
        "code_line": _("Your code: %(code)s") % {"code": written},
        "until": _("It can be used until %(expires)s.") % {"expires": expires} if expires else "",
    }


def page_of(shop: Shop, code: str) -> str:
    """The address of the card's page, which shows the card of this code."""
    return f"{page_address('checkout:gift_card', shop=shop)}#{codes.for_people(code)}"


def qr_code(address: str) -> Any:
    """The QR code of this address."""
    return segno.make_qr(address, error="m")


def qr_picture(address: str) -> MIMEImage:
    """The QR code as a picture within a mail."""
    drawn = BytesIO()
    qr_code(address).save(drawn, kind="png", scale=6, border=_BORDER)
    image = MIMEImage(drawn.getvalue(), "png")
    image["Content-ID"] = "<qr@gift-card>"
    image.add_header("Content-Disposition", "inline", filename="qr.png")
    return image


def qr_drawing(address: str) -> SafeString:
    """The QR code as SVG for a page, without styles, which the page's policy blocks."""
    drawn = BytesIO()
    given: Any = {"xmldecl": False, "svgns": True, "scale": 4, "border": _BORDER, "dark": "#000", "light": "#fff"}
    qr_code(address).save(drawn, kind="svg", **given)
    return mark_safe(drawn.getvalue().decode())  # noqa: S308, drawn by segno
