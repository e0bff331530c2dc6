"""What every page of the shop can write: money, pictures' icons, the navigation, the basket's link."""

from decimal import Decimal

from django import template
from django.template import Context
from django.utils.html import format_html
from django.utils.safestring import SafeString

from storefront.kit.format import format_money
from storefront.website import queries

register = template.Library()

ICONS = {
    "search": '<circle cx="7" cy="7" r="4.6"/><path d="m10.6 10.6 3.6 3.6"/>',
    "basket": '<path d="M2.2 6.2h11.6l-1 7a1.2 1.2 0 0 1-1.2 1H4.4a1.2 1.2 0 0 1-1.2-1z"/><path d="m5 6 2-4M11 6 9 2"/>',
    "picture": '<path d="M2.5 3.5h11v9h-11z"/><path d="m3 11.5 3.2-3.4 2.2 2.2 1.7-1.6 2.9 2.8"/>'
    '<circle cx="10.6" cy="6.2" r=".9"/>',
}

KINDS = {"success": "good", "warning": "warn", "error": "bad"}


@register.simple_tag
def icon(name: str) -> SafeString:
    """One of the drawn signs, in the colour of its text, silent to screen readers."""
    drawing = (
        '<svg viewBox="0 0 16 16" fill="none" stroke="currentColor" stroke-width="1.4" stroke-linecap="round" '
        'stroke-linejoin="round" aria-hidden="true" focusable="false">{}</svg>'
    )
    return format_html(drawing, SafeString(ICONS[name]))


@register.filter
def notice_kind(level: str) -> str:
    """The kind of `.notice` for a level of Django's messages."""
    return KINDS.get(level, "plain")


@register.filter
def money(amount: Decimal | str | None, currency: str) -> str:
    """`12.50` in `EUR` as people write it: €12.50. A record's money string does as well as a Decimal."""
    return "" if amount in (None, "") else format_money(Decimal(amount), currency)


@register.inclusion_tag("website/navigation.html", takes_context=True)
def navigation(context: Context) -> dict:
    """The shop's main categories, the present page's marked."""
    request = context.get("request")
    shop = getattr(request, "shop", None)
    return {
        "categories": queries.main_categories(shop) if shop else [],
        "current": context.get("current_category"),
        "path": request.path if request else "",
    }


@register.inclusion_tag("website/basket_link.html", takes_context=True)
def basket_link(context: Context) -> dict:
    """The way to the basket, with how many pieces are in it."""
    return {"count": 0}
