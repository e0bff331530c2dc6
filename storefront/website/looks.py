"""Applies a shop's looks to its pages."""

import re
from typing import Any

from django.core.files.storage import default_storage
from django.db.models import Exists, OuterRef
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from storefront.content import colours
from storefront.content.models import Looks
from storefront.content.queries import looks_of
from storefront.payments.accounts import available_providers
from storefront.payments.models import ProviderAccount
from storefront.pricing.models import PickupPlace, ShippingRate
from storefront.shops.models import Shop

# Font files that a page preloads.
FONT_FILES: dict[str, tuple[str, ...]] = {
    Looks.Fonts.FRAUNCES: ("fraunces", "figtree"),
    Looks.Fonts.LORA: ("lora", "source-sans-3"),
    Looks.Fonts.FIGTREE: ("figtree",),
    Looks.Fonts.SYSTEM: (),
}
# What else the footer shows of the shop, read with its looks.
_OF_SHOP = {"shop": OuterRef("pk")}
FOOTER = {
    "delivers": Exists(ShippingRate.objects.filter(is_active=True, **_OF_SHOP)),
    "has_pickup": Exists(PickupPlace.objects.filter(is_active=True, **_OF_SHOP)),
    "has_account": Exists(ProviderAccount.objects.filter(sealed__isnull=False, **_OF_SHOP)),
}
USUAL = Looks()
_COLOURS = re.compile(r"([0-9a-f]{6})-([0-9a-f]{6})")


def looks_once(request: Any) -> Looks:
    """The looks of the request's shop, read once; the default looks on a page of no shop."""
    if not getattr(request, "shop", None):
        return USUAL
    if not hasattr(request, "looks"):
        request.looks = looks_of(request.shop, request.language, FOOTER)
    found: Looks = request.looks
    return found


def colours_of(looks: Looks) -> str:
    """Accent and background, as in the address of their stylesheet."""
    return f"{looks.accent}-{looks.background}".replace("#", "")


def has_own_colours(looks: Looks) -> bool:
    return (looks.accent, looks.background) != (USUAL.accent, USUAL.background)


def payment_names(shop: Shop, looks: Looks) -> list[str]:
    """The names of the shop's payment methods, in its order. Those that need an account only if the shop has one."""
    chosen = map(available_providers(shop).get, shop.payment_methods)
    has_account = getattr(looks, "has_account", False)
    return [str(each.label) for each in chosen if each and (each.settings_form is None or has_account)]


def logo_url(looks: Looks) -> str:
    """The URL of the logo on this host; empty without one."""
    return default_storage.url(looks.logo.name) if looks.logo else ""


@require_safe
def colours_page(request: HttpRequest, chosen: str) -> HttpResponse:
    """The stylesheet of two colours, which are in its URL."""
    found = _COLOURS.fullmatch(chosen)
    if not found:
        raise Http404(_("Choose one of the colours."))
    css = colours.stylesheet(*(f"#{colour}" for colour in found.groups()))
    return HttpResponse(css, content_type="text/css", headers={"Cache-Control": "public, max-age=31536000, immutable"})
