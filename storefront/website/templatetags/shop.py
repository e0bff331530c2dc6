"""Template tags and filters of the shop's pages: money, pictures, icons, navigation, links to basket and account."""

import json
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from django import template
from django.template import Context
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from storefront.carts.merging import pop_merge_report
from storefront.carts.models import Cart
from storefront.carts.session import basket_of
from storefront.content.jobs import can_receive
from storefront.content.models import Looks, MenuLink, Page
from storefront.customers.models import Address
from storefront.customers.queries import ADDRESS_FIELDS
from storefront.customers.session import customer_of
from storefront.kit.currencies import decimals
from storefront.kit.format import format_money
from storefront.pricing.queries import tax_name
from storefront.shops.languages import OTHER, direction
from storefront.shops.places import ADMIN, SINGLE, page_url
from storefront.staff import doors
from storefront.website import pictures, queries, texts, versions
from storefront.website.looks import FONT_FILES, colours_of, has_own_colours, logo_url, looks_once, payment_names
from storefront.website.pictures import Picture
from storefront.website.queries import pages_once
from storefront.website.security import scripts_of
from storefront.website.swatches import colour_of

register = template.Library()

ICONS = {
    "search": '<circle cx="7" cy="7" r="4.6"/><path d="m10.6 10.6 3.6 3.6"/>',
    "basket": '<path d="M2.2 6.2h11.6l-1 7a1.2 1.2 0 0 1-1.2 1H4.4a1.2 1.2 0 0 1-1.2-1z"/>'
    '<path d="m5 6 2-4M11 6 9 2"/>',
    "account": '<circle cx="8" cy="5.2" r="2.9"/><path d="M2.6 14.2c.5-3 2.7-4.6 5.4-4.6s4.9 1.6 5.4 4.6"/>',
    "previous": '<path d="M9.8 3.2 5 8l4.8 4.8"/>',
    "remove": '<path d="m4 4 8 8M12 4l-8 8"/>',
    "card": '<rect x="1.6" y="3.4" width="12.8" height="9.2" rx="1.4"/><path d="M1.6 6.6h12.8M4 10h2.6"/>',
    "parcel": '<path d="M2 5.2 8 2.2l6 3v5.6l-6 3-6-3z"/><path d="m2 5.2 6 3 6-3M8 8.2v5.6"/>',
    "place": '<path d="M8 14.2c3-3.2 4.6-5.5 4.6-7.7a4.6 4.6 0 0 0-9.2 0c0 2.2 1.6 4.5 4.6 7.7z"/>'
    '<circle cx="8" cy="6.5" r="1.6"/>',
    "next": '<path d="M6.2 3.2 11 8l-4.8 4.8"/>',
}
KINDS = {"success": "good", "warning": "warn", "error": "bad"}

JSON_ESCAPES = {ord(">"): "\\u003E", ord("<"): "\\u003C", ord("&"): "\\u0026"}


@register.simple_tag
def icon(name: str) -> SafeString:
    """An icon of ICONS as inline SVG, in the text's colour, hidden from screen readers."""
    drawing = (
        '<svg viewBox="0 0 16 16" fill="none" stroke="currentColor" stroke-width="1.4" stroke-linecap="round" '
        'stroke-linejoin="round" aria-hidden="true" focusable="false">{}</svg>'
    )
    return format_html(drawing, mark_safe(ICONS[name]))  # noqa: S308, the drawings are constants


@register.inclusion_tag("website/picture.html")
def picture(shown: Picture | None, loading: str = "lazy", alt: str | None = None) -> dict[str, Any]:
    """A square picture, or a placeholder if there is none. Pass `alt=""` if the product's name is next to it."""
    return {"picture": shown, "loading": loading, "alt": shown.alt if shown and alt is None else alt or ""}


@register.simple_tag(takes_context=True)
def line_pictures(context: Context, lines: Iterable[Any]) -> dict[Any, Picture | None]:
    """The small pictures of cart or order lines, for `picture_of`. Each line may be a pair that begins with it."""
    rows = [line[0] if isinstance(line, tuple) else line for line in lines]
    return pictures.line_pictures(context["request"].shop, map(_line_key, rows))


@register.filter
def picture_of(found: dict[Any, Picture | None], line: Any) -> Picture | None:
    return found[_line_key(line)]


def _line_key(line: Any) -> tuple[int | None, str | None]:
    return line.product_id, line.image_snapshot if hasattr(line, "image_snapshot") else line.image


@register.filter
def swatch(choice: str, value: str) -> SafeString:
    """A swatch for a value of this choice, to stand before its name; nothing if it is no known colour."""
    colour = colour_of(choice, value)
    drawing = (
        '<svg class="swatch" viewBox="0 0 20 20" aria-hidden="true"><circle cx="10" cy="10" r="9" fill="{}"/></svg>'
    )
    return format_html(drawing, colour) if colour else SafeString()


@register.filter
def has_goods(lines: list[Any]) -> bool:
    """Returns True if some line of the basket is taxed when it is sold, as gift cards are not."""
    return any(not entry["line"].gift_card for entry in lines)


@register.filter
def notice_kind(level: str) -> str:
    """The CSS modifier of `.notice` for a level of Django's messages."""
    return KINDS.get(level, "plain")


@register.filter
def money(amount: Decimal | str | None, currency: str) -> str:
    """An amount with its currency symbol: `12.50` in `EUR` becomes €12.50. Accepts a Decimal or a money string."""
    return "" if amount in (None, "") else format_money(Decimal(amount), currency)


register.filter("decimals", decimals)


@register.simple_tag(takes_context=True)
def description(context: Context, text: str) -> SafeString:
    """A merchant's text as safe HTML."""
    request = context["request"]
    return texts.safe_html(request.shop, text, now=request.now)


register.filter("excerpt", texts.excerpt)


@register.simple_tag(takes_context=True)
def page_language(context: Context) -> dict[str, str]:
    """The attributes `lang` and `dir` of the page."""
    code = getattr(context.get("request"), "language", "en")
    return {"code": "en" if code == OTHER else code, "direction": direction(code)}


@register.simple_tag(takes_context=True)
def alternates(context: Context) -> list[tuple[str, str]]:
    """The addresses of an indexed page in all languages, by `hreflang`."""
    if context.get("noindex"):
        return []
    return versions.alternates(context["request"].shop, context["canonical"], context.get("slugs"))


@register.inclusion_tag("website/versions.html", takes_context=True)
def page_versions(context: Context) -> dict[str, Any]:
    """Links to the page in the shop's other languages, if it has any."""
    slugs = context.get("slugs")
    secret_query = context.get("secret_query") or ""
    found = versions.versions_of(context["request"], slugs, secret_query=secret_query) if shows_shop(context) else []
    return {"versions": found}


@register.inclusion_tag("website/language_offer.html", takes_context=True)
def language_offer(context: Context) -> dict[str, Any]:
    """The offer of the page in a language that the browser prefers."""
    return {"offer": versions.offer_of(context["request"]) if shows_shop(context) else None}


@register.simple_tag(takes_context=True)
def own_link(context: Context, link: str) -> str:
    """A merchant's link to a page of the shop, in the page's language."""
    return versions.own_link(context["request"].shop, link)


@register.simple_tag
def json_data(value: Any, kind: str, id: str = "") -> SafeString:
    """A script element with JSON data. It is not executed, and no value can close the element early."""
    text = json.dumps(value, ensure_ascii=False).translate(JSON_ESCAPES)
    return format_html('<script type="{}" id="{}">{}</script>', kind, id, mark_safe(text))  # noqa: S308, escaped above


@register.filter
def get(mapping: dict[str, Any], key: str) -> Any:
    return mapping.get(key, "")


@register.simple_tag(takes_context=True)
def shows_shop(context: Context) -> bool:
    """Returns True if the page may show more than the shop's name: there is a shop, and it is open to the visitor."""
    request: Any = context.get("request")
    if not getattr(request, "shop", None):
        return False
    # An error before the session middleware has no session.
    shop = request.shop
    return (shop.is_active and not doors.is_closed(shop)) or (hasattr(request, "session") and doors.is_let_in(request))


@register.inclusion_tag("website/navigation.html", takes_context=True)
def navigation(context: Context) -> dict[str, Any]:
    """The shop's main categories, with the current one marked; nothing if the shop is closed to the visitor."""
    request: Any = context.get("request")
    if not shows_shop(context):
        return {}
    return {
        "categories": queries.main_categories(request.shop, request.language),
        "links": _links(request, MenuLink.Menu.MAIN),
        "current": context.get("current_category"),
        "path": request.path,
        "request": request,
    }


@register.simple_tag(takes_context=True)
def looks(context: Context) -> Looks:
    return looks_once(context.get("request"))


register.filter("logo_url", logo_url)


@register.filter
def font_files(looks: Looks) -> list[str]:
    """The static files of the fonts in Latin letters, which every page needs."""
    return [f"website/fonts/{name}-latin-wght-normal.woff2" for name in FONT_FILES[looks.fonts]]


@register.simple_tag(takes_context=True)
def colours_url(context: Context) -> str:
    """The URL of the shop's colour stylesheet; empty for the default colours, which shop.css has, and on the admin's
    host."""
    request = context.get("request")
    shown = looks_once(request)
    if preview := getattr(request, "colours_of_preview", ""):
        return f"{preview}?colours={colours_of(shown)}"
    if not has_own_colours(shown) or getattr(request, "place", SINGLE) == ADMIN:
        return ""
    return reverse("website:colours", args=[colours_of(shown)])


def _links(request: Any, menu: str) -> list[MenuLink]:
    shown = looks_once(request)
    return [link for link in shown.links.all() if link.menu == menu] if shown.pk else []


@register.inclusion_tag("website/footer.html", takes_context=True)
def footer(context: Context) -> dict[str, Any]:
    """The shop's address, hours and contact, its pages, and how it is paid and delivers; only the shop's name if the
    shop is closed to the visitor."""
    request: Any = context.get("request")
    if not shows_shop(context):
        return {"request": request}
    return {
        "request": request,
        "email": request.shop.email,
        "looks": looks_once(request),
        "links": _links(request, MenuLink.Menu.FOOTER),
        "pages": [page for page in pages_once(request) if page.in_footer],
        "has_contact": can_receive(request.shop),
        "payments": payment_names(request.shop, looks_once(request)),
    }


@register.filter
def dialled(phone: str) -> str:
    """A telephone number as its link dials it."""
    return "".join(mark for mark in phone if mark.isdigit() or mark == "+")


@register.inclusion_tag("website/terms.html", takes_context=True)
def terms(context: Context) -> dict[str, Any]:
    """Links to the pages that a shopper accepts with an order: terms, returns, privacy."""
    request = context["request"]
    links = {page.kind: _link_to(request, page) for page in pages_once(request)}
    to_read = [links[kind] for kind in (Page.Kind.RETURNS, Page.Kind.PRIVACY) if kind in links]
    return {"request": request, "terms": links.get(Page.Kind.TERMS), "to_read": to_read}


def _link_to(request: Any, page: Page) -> str:
    return format_html(
        '<a href="{}" target="_blank" rel="noopener">{}<span class="visually-hidden"> {}</span></a>',
        page_url(request, "website:page", page.slug, plain=True),
        page.title,
        _("(opens in a new window)"),
    )


@register.inclusion_tag("website/price_note.html", takes_context=True)
def price_note(
    context: Context, *, is_net: bool = False, is_delivered: bool = True, is_gift_card: bool = False
) -> dict[str, Any]:
    """The note about tax and delivery that EU law requires beside prices: "incl. VAT, plus delivery". A gift
    card is not taxed when it is sold."""
    request = context["request"]
    pages = {page.kind: page for page in pages_once(request)}
    return {
        "request": request,
        "tax": "" if is_gift_card else tax_name(request.shop, request.language),
        "is_included": request.shop.prices_include_tax and not is_net,
        "is_delivered": is_delivered,
        "delivery_page": pages.get(Page.Kind.DELIVERY),
    }


@register.inclusion_tag("website/account_link.html", takes_context=True)
def account_link(context: Context) -> dict[str, Any]:
    """A link to the account, or to the sign-in page."""
    request = context.get("request")
    return {"customer": customer_of(request) if request and getattr(request, "shop", None) else None}


@register.filter
def as_order_address(address: Address) -> dict[str, str]:
    """A customer's address in the form in which orders store one."""
    return {name: getattr(address, name) for name in ADDRESS_FIELDS}


@register.inclusion_tag("website/app_scripts.html", takes_context=True)
def app_scripts(context: Context, location: str) -> dict[str, Any]:
    """The apps' scripts for a location of the page: `head`, `body_start` or `body_end`.

    They load with `async`; otherwise the page's own scripts would wait for the apps' hosts.
    """
    request = context.get("request")
    scripts = scripts_of(request) if request else None
    return {"urls": scripts.at.get(location, []) if scripts else []}


@register.inclusion_tag("website/merge_report.html", takes_context=True)
def merge_report(context: Context) -> dict[str, Any]:
    """The items that a merge of two baskets added, and those that did not fit. Shown once, on the next page."""
    request = context.get("request")
    if not request or request.method == "HEAD":
        return {"report": None}
    cart = _basket_once(request)
    return {"report": pop_merge_report(shop=request.shop, cart=cart) if cart else None}


@register.inclusion_tag("website/basket_link.html", takes_context=True)
def basket_link(context: Context) -> dict[str, Any]:
    """A link to the basket, with the number of pieces in it: `basket_pieces`, if the page has counted them."""
    count = context.get("basket_pieces")
    if count is None:
        cart = _basket_once(context.get("request"))
        count = queries.basket_count(cart) if cart else 0
    return {
        "count": count,
        "swap": context.get("swap"),
    }


def _basket_once(request: Any) -> Cart | None:
    """The visitor's basket, read once per request."""
    if not getattr(request, "shop", None):
        return None
    if not hasattr(request, "shown_basket"):
        request.shown_basket = basket_of(request)
    found: Cart | None = request.shown_basket
    return found
