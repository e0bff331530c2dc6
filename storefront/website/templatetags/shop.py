"""What every page of the shop can write: money, pictures, icons, the navigation, the basket's link."""

import json
from decimal import Decimal
from typing import Any

from django import template
from django.template import Context
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from storefront.carts.session import basket_of
from storefront.customers.models import Address
from storefront.customers.queries import ADDRESS_FIELDS
from storefront.customers.session import customer_of
from storefront.kit.format import format_money
from storefront.website import pictures, queries, texts
from storefront.website.pictures import Picture
from storefront.website.security import scripts_of

register = template.Library()

ICONS = {
    "search": '<circle cx="7" cy="7" r="4.6"/><path d="m10.6 10.6 3.6 3.6"/>',
    "basket": '<path d="M2.2 6.2h11.6l-1 7a1.2 1.2 0 0 1-1.2 1H4.4a1.2 1.2 0 0 1-1.2-1z"/>'
    '<path d="m5 6 2-4M11 6 9 2"/>',
    "account": '<circle cx="8" cy="5.2" r="2.9"/><path d="M2.6 14.2c.5-3 2.7-4.6 5.4-4.6s4.9 1.6 5.4 4.6"/>',
    "previous": '<path d="M9.8 3.2 5 8l4.8 4.8"/>',
    "next": '<path d="M6.2 3.2 11 8l-4.8 4.8"/>',
}
KINDS = {"success": "good", "warning": "warn", "error": "bad"}

JSON_ESCAPES = {ord(">"): "\\u003E", ord("<"): "\\u003C", ord("&"): "\\u0026"}


@register.simple_tag
def icon(name: str) -> SafeString:
    """One of the drawn signs, in the colour of its text, silent to screen readers."""
    drawing = (
        '<svg viewBox="0 0 16 16" fill="none" stroke="currentColor" stroke-width="1.4" stroke-linecap="round" '
        'stroke-linejoin="round" aria-hidden="true" focusable="false">{}</svg>'
    )
    return format_html(drawing, mark_safe(ICONS[name]))  # noqa: S308, the drawings stand above


@register.inclusion_tag("website/picture.html")
def picture(shown: Picture | None, loading: str = "lazy", alt: str | None = None) -> dict[str, Any]:
    """A square picture or, where there is none, a drawing that stands for it. `alt=""` where the name is beside it."""
    return {"picture": shown, "loading": loading, "alt": shown.alt if shown and alt is None else alt or ""}


@register.simple_tag(takes_context=True)
def line_picture(context: Context, url: str | None) -> Picture | None:
    """The small picture of a basket's or an order's line, from the address that the line keeps."""
    return pictures.picture(context["request"].shop, url, pictures.SMALL)


@register.filter
def notice_kind(level: str) -> str:
    """The kind of `.notice` for a level of Django's messages."""
    return KINDS.get(level, "plain")


@register.filter
def money(amount: Decimal | str | None, currency: str) -> str:
    """`12.50` in `EUR` as people write it: €12.50. A record's money string does as well as a Decimal."""
    return "" if amount in (None, "") else format_money(Decimal(amount), currency)


register.filter("description", texts.cleaned)
register.filter("in_short", texts.in_short)


@register.simple_tag
def json_data(value: Any, kind: str, id: str = "") -> SafeString:
    """A block of data in the page: never run, and nothing in it ends the block."""
    text = json.dumps(value, ensure_ascii=False).translate(JSON_ESCAPES)
    return format_html('<script type="{}" id="{}">{}</script>', kind, id, mark_safe(text))  # noqa: S308, escaped above


@register.filter
def get(mapping: dict[str, Any], key: str) -> Any:
    return mapping.get(key, "")


@register.inclusion_tag("website/navigation.html", takes_context=True)
def navigation(context: Context) -> dict[str, Any]:
    """The shop's main categories, the present page's marked."""
    request = context.get("request")
    shop = getattr(request, "shop", None)
    return {
        "categories": queries.main_categories(shop) if shop else [],
        "current": context.get("current_category"),
        "path": request.path if request else "",
    }


@register.inclusion_tag("website/account_link.html", takes_context=True)
def account_link(context: Context) -> dict[str, Any]:
    """The way to the account, or to signing in."""
    request = context.get("request")
    return {"customer": customer_of(request) if request and getattr(request, "shop", None) else None}


@register.filter
def as_parcel(address: Address) -> dict[str, str]:
    """An address of a customer's book as an order keeps one."""
    return {name: getattr(address, name) for name in ADDRESS_FIELDS}


@register.inclusion_tag("website/app_scripts.html", takes_context=True)
def app_scripts(context: Context, location: str) -> dict[str, Any]:
    """The scripts that apps have at this place of the page. They run as they come, since for any other way to load them
    the page's own would wait until an app's host has answered."""
    request = context.get("request")
    found = scripts_of(request) if request else None
    return {"addresses": found.at.get(location, []) if found else []}


@register.inclusion_tag("website/basket_link.html", takes_context=True)
def basket_link(context: Context) -> dict[str, Any]:
    """The way to the basket, with how many pieces are in it."""
    request = context.get("request")
    cart = basket_of(request) if request and getattr(request, "shop", None) else None
    return {
        "count": queries.basket_count(cart) if cart else 0,
        "swap": context.get("swap"),
    }
