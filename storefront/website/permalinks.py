"""Permalinks: an address such as `/buy/p12:2,p12-v34:1?continue_to=/products` that fills the visitor's basket.

The address alone stores nothing, since programs also load addresses: previews of messages, scanners, prefetching. What
it asks for travels in a signed cookie, and the basket is filled when the browser opens the page it is led to. Following
a link twice, or in two windows at once, does not double the quantities: the basket has at least as much of each
product as the link asks for. The form of the address is that of UCP's permalink capability, version 2026-08-25.
"""

import base64
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any
from urllib.parse import quote, unquote, urlencode, urljoin, urlsplit

from django.conf import settings
from django.contrib import messages
from django.core import signing
from django.http import HttpResponse
from django.urls import reverse
from django.utils.encoding import iri_to_uri
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from storefront.carts import actions
from storefront.carts.code_entry import limited_tries_of_visitor
from storefront.carts.discount_codes import UnknownDiscountCodes, add_discount_code
from storefront.carts.models import Cart, CartLine
from storefront.carts.rules import MAX_QTY, line_key
from storefront.carts.session import basket_of, basket_to_add_to, remember_basket
from storefront.catalogue.models import Variant
from storefront.customers import limits
from storefront.kit.api.http import SeeOther
from storefront.kit.ids import as_id
from storefront.kit.middleware import Middleware
from storefront.kit.refusals import Refusal
from storefront.listing import queries as listing_queries
from storefront.shops.places import SHOP, hosts_are_separate, is_navigation
from storefront.shops.request import Request
from storefront.website.delivery_estimates import remember_place
from storefront.website.pages import require_shop

# Bounds of an address. What goes beyond is left out with a message, never cut.
MAX_ITEMS = 50
MAX_PARAMETERS = 50
MAX_NAME, MAX_VALUE = 64, 500
# The cookie, and the seconds for which it fills a basket.
COOKIE, SECONDS = "storefront_permalink", 600
# The fields of a cart and a checkout in UCP. A parameter that begins with one of them never reaches the next page.
FIELDS = frozenset(
    (
        *("actions", "attribution", "buyer", "consent", "context", "continue_url", "currency", "discounts"),
        *("expires_at", "fulfillment", "id", "line_items", "links", "loyalty", "messages", "order", "payment"),
        *("policies", "signals", "status", "totals", "ucp"),
    )
)
# Parameters of other programs that hold a secret or name a person are not passed on.
_PRIVATE = re.compile(r"token|secret|passw|session|auth|api_?key|credential|signature|jwt|e-?mail|phone|address", re.I)
_PLAIN = re.compile(r"[A-Za-z0-9._-]+")
_QUANTITY = re.compile(r"[1-9][0-9]{0,8}")
_ITEM = re.compile(r"p(?P<product>[0-9]{1,16})(?:-v(?P<variant>[0-9]{1,16}))?|v(?P<alone>[0-9]{1,16})")
_CODE = re.compile(r"discounts/codes/[0-9]{1,2}")
_CONTROL = re.compile(r"[\x00-\x20\x7f-\x9f\\\s]")

# Product id, variant id, quantity.
Item = tuple[int, int | None, int]


class Malformed(ValueError):
    """The items of the address cannot be read."""


@require_safe
@require_shop
def buy(request: Request, items: str = "") -> HttpResponse:
    """Redirect to `continue_to`, or to the basket; to a product's page if it needs a choice first."""
    intent: dict[str, Any] = {}
    fields, passed_on = _parameters(request)
    destination = _continue_to(request)
    try:
        wanted = _resolved(request, _items(items))
    except Malformed:
        intent["is_malformed"] = True
        destination = destination or reverse("website:home")
    else:
        intent["items"] = wanted
        destination = destination or _page_of_choice(request, wanted) or reverse("website:basket")
    intent["codes"] = [value for name, value in fields.items() if _CODE.fullmatch(name)]
    intent["place"] = [fields.get(f"context/{name}", "") for name in ("address_country", "postal_code")]
    response = SeeOther(_with_query(request, destination, _attribution(fields) + passed_on))
    if any(each if isinstance(each, bool) else any(each) for each in intent.values()):
        value = signing.dumps(intent, salt=_salt(request), compress=True)
        if len(value) < 3500:
            response.set_cookie(
                COOKIE, value, max_age=SECONDS, secure=request.is_secure(), httponly=True, samesite="Lax"
            )
    response["Cache-Control"] = "no-store"
    response["Referrer-Policy"] = "no-referrer"
    response["X-Robots-Tag"] = "noindex"
    return response


class FilledBasket(Middleware):
    """Middleware: fills the basket with what a permalink asked for, when the browser opens its next page."""

    def __call__(self, request: Request) -> HttpResponse:
        if COOKIE not in request.COOKIES:
            return self.get_response(request)
        response = self.get_response(request)
        if getattr(request, "permalink_is_done", False):
            response.delete_cookie(COOKIE, samesite="Lax")
        return response

    def process_view(self, request: Request, view: Any, args: Any, kwargs: Any) -> None:
        if COOKIE in request.COOKIES and _is_page(request):
            request.permalink_is_done = True  # type: ignore[attr-defined]
            try:
                intent = signing.loads(request.COOKIES[COOKIE], salt=_salt(request), max_age=SECONDS)
            except signing.BadSignature:
                return
            _apply(request, intent)


def _is_page(request: Request) -> bool:
    """Returns True if a person opens a page of the shop's own host in a window."""
    match = request.resolver_match
    is_own = match is not None and match.namespace == "website" and match.view_name not in _NOT_PAGES
    is_seen = request.method == "GET" and is_navigation(request) and "Sec-Purpose" not in request.headers
    return bool(is_own and is_seen and request.shop and (request.place == SHOP or not hosts_are_separate()))


# The page at closed doors shows nothing of the shop, and no message about its products.
_NOT_PAGES = {
    f"website:{name}" for name in ("buy", "buy_items", "colours", "door", "robots", "sitemap", "sitemap_part")
}


def _apply(request: Request, intent: dict[str, Any]) -> None:
    if intent.get("is_malformed"):
        messages.error(request, _("This link to fill your basket cannot be read. Please choose the products here."))
    problems = list(_fill(request, [tuple(each) for each in intent.get("items", ())]))
    cart = basket_of(request)
    if cart is not None:
        problems += _enter_codes(request, cart, intent["codes"])
        country, postal_code = intent["place"]
        if country:
            remember_place(request, country, postal_code)
    for problem in problems:
        messages.error(request, problem)


def _fill(request: Request, items: Sequence[Item]) -> Iterable[str]:
    """Bring each item to the basket. Yields why one was refused."""
    cart = basket_to_add_to(request) if items else None
    if items and cart is None:
        try:
            limits.count(request, "baskets")
        except Refusal as refusal:
            yield refusal.text
            return
    for product_id, variant_id, qty in items:
        try:
            cart = _at_least(request, cart, product_id, variant_id, min(qty, MAX_QTY))
        except Refusal as refusal:
            name = listing_queries.product_record(request.shop, str(product_id), now=request.now)
            yield f"{name['name']}: {refusal.text}" if name else refusal.text


class _Present(Exception):
    """The basket has a line of the item."""


def _at_least(request: Request, cart: Cart | None, product_id: int, variant_id: int | None, qty: int) -> Cart:
    """The basket with at least `qty` pieces of the item. Raises Refusal."""
    key, shop, now = line_key(product_id, variant_id), request.shop, request.now

    def is_new(_cart: Cart | None, lines: Sequence[CartLine]) -> None:
        had.update({line.key: line.qty for line in lines})
        if key in had:
            raise _Present

    had: dict[str, int] = {}
    chosen: Any = {"product_id": product_id, "variant_id": variant_id, "qty": qty}
    try:
        added = actions.add_line(shop=shop, now=now, cart=cart, with_token=False, precondition=is_new, **chosen)
    except _Present:
        assert cart is not None
        if had[key] < qty:
            actions.change_line(shop=shop, now=now, key=key, qty=qty, cart=cart)
        return cart
    remember_basket(request, added.cart)
    return added.cart


def _enter_codes(request: Request, cart: Cart, codes: Sequence[str]) -> Iterable[str]:
    for code in codes:
        try:
            with limited_tries_of_visitor(request, "discount_codes", UnknownDiscountCodes):
                add_discount_code(shop=request.shop, cart=cart, code=code[:100], now=request.now)
        except Refusal as refusal:
            yield refusal.text


def _items(text: str) -> list[tuple[str, int]]:
    """The items of the path: identifier and quantity. Raises Malformed."""
    found: Counter[str] = Counter()
    for pair in text.split(",") if text else ():
        token, colon, quantity = pair.partition(":")
        if not colon or not _QUANTITY.fullmatch(quantity):
            raise Malformed(pair)
        found[_identifier(token)] += int(quantity)
    if len(found) > MAX_ITEMS:
        raise Malformed(text)
    return list(found.items())


def _identifier(token: str) -> str:
    """The identifier that a token stands for: itself, or after `~` what it encodes. Raises Malformed."""
    if not token.startswith("~"):
        if not _PLAIN.fullmatch(token):
            raise Malformed(token)
        return token
    encoded = token[1:]
    try:
        raw = base64.b64decode(encoded + "=" * (-len(encoded) % 4), altchars=b"-_", validate=True)
        text = raw.decode()
    except ValueError:
        raise Malformed(token) from None
    # Another spelling of the same bytes is refused, so that one identifier has one token.
    is_canonical = base64.urlsafe_b64encode(raw).rstrip(b"=").decode() == encoded
    if not text or not is_canonical or any(ord(each) < 32 or 127 <= ord(each) < 160 for each in text):
        raise Malformed(token)
    return text


def _resolved(request: Request, items: Sequence[tuple[str, int]]) -> list[Item]:
    """The items as products and variants. Raises Malformed for an identifier that can be none."""
    found = []
    for identifier, qty in items:
        if not (match := _ITEM.fullmatch(identifier)):
            raise Malformed(identifier)
        found.append((as_id(match["product"] or "0") or 0, as_id(match["variant"] or match["alone"] or ""), qty))
    alone = {variant for product, variant, _ in found if not product and variant}
    owners = dict(Variant.objects.filter(shop=request.shop, pk__in=alone).values_list("pk", "product_id"))
    return [(product or owners.get(variant or 0, 0), variant, qty) for product, variant, qty in found]


def _page_of_choice(request: Request, items: Sequence[Item]) -> str:
    """The page of the only product, if the shopper has to choose something first; else empty."""
    if len(items) != 1 or items[0][1] is not None:
        return ""
    record = listing_queries.product_record(request.shop, str(items[0][0]), now=request.now, language=request.language)
    needs_choice = record and (
        record["type"] == "variable"
        or record["is_gift_card"]
        or any(option["required"] for option in record["options"])
    )
    return reverse("website:product", args=[record["slug"]]) if record and needs_choice else ""


def _parameters(request: Request) -> tuple[dict[str, str], list[tuple[str, str]]]:
    """The parameters that are fields of a cart, by name without a slash at its beginning, and those of others that are
    passed on. Two values for one field are none."""
    fields: dict[str, list[str]] = {}
    others = []
    for name, values in list(request.GET.lists())[:MAX_PARAMETERS]:
        plain = name.removeprefix("/")
        is_short = len(name) <= MAX_NAME and all(len(value) <= MAX_VALUE for value in values)
        if name == "continue_to" or not is_short or _has_control(name, *values):
            continue
        if plain.partition("/")[0] in FIELDS:
            fields.setdefault(plain, []).extend(values)
        elif not _PRIVATE.search(name):
            others += [(name, value) for value in values]
    return {name: values[0] for name, values in fields.items() if len(values) == 1}, others


def _attribution(fields: dict[str, str]) -> list[tuple[str, str]]:
    """The fields of attribution, under the names that programs on pages know."""
    names = {name: name.removeprefix("attribution/") for name in fields if name.startswith("attribution/")}
    return [(own, fields[name]) for name, own in names.items() if _PLAIN.fullmatch(own) and not _PRIVATE.search(own)]


def _continue_to(request: Request) -> str:
    """The path of `continue_to` in its canonical form; empty if it is missing, ambiguous, or leads elsewhere."""
    given = request.GET.getlist("continue_to")
    if len(given) != 1 or len(given[0]) > MAX_VALUE or not given[0].startswith("/") or given[0].startswith("//"):
        return ""
    if _CONTROL.search(given[0]) or "\\" in unquote(given[0]):
        return ""
    here = _origin(request)
    found = urlsplit(urljoin(f"{here}/", given[0]))
    is_own = f"{found.scheme}://{found.netloc}" == here
    path = quote(found.path, safe="/%:@!$&'()*+,;=~-._")
    if not is_own or "//" in unquote(path) or path.split("/")[1:2] == ["buy"]:
        return ""
    return f"{path}?{found.query}" if found.query else path


def _with_query(request: Request, path: str, parameters: Sequence[tuple[str, str]]) -> str:
    """The page's whole address, so that no path can be read as another host's."""
    mark = "&" if "?" in path else "?"
    query = f"{mark}{urlencode(parameters)}" if parameters else ""
    return iri_to_uri(f"{_origin(request)}{path}{query}")


def _origin(request: Request) -> str:
    return f"{request.scheme}://{request.get_host()}"


def _has_control(*texts: str) -> bool:
    return any(ord(each) < 32 or 127 <= ord(each) < 160 for text in texts for each in text)


def _salt(request: Request) -> str:
    return f"{settings.SESSION_COOKIE_NAME}:permalink:{request.shop.pk}"
