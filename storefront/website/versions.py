"""The versions of a page in the shop's languages: links between them, and the offer of the one a browser prefers."""

import re
from dataclasses import dataclass
from urllib.parse import unquote

from django.http import HttpResponse
from django.urls import get_script_prefix, reverse
from django.utils import translation
from django.utils.encoding import escape_uri_path
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.utils.translation.trans_real import parse_accept_lang_header
from django.views.decorators.http import require_safe

from storefront.kit.api.http import SeeOther
from storefront.shops.languages import OTHER, TEXTS, direction, language_of_texts, native_name
from storefront.shops.models import Shop
from storefront.shops.places import local_path, root_of
from storefront.shops.request import Request
from storefront.shops.spoken import path_of_language
from storefront.website.queries import Slugs

# The cookie of a visitor who has declined the offer, and how long it lasts.
DECLINED, DECLINED_SECONDS = "storefront_language", 365 * 24 * 3600
# Pages of links whose secret was removed from the request. Unless they name it, they have no versions to link to.
_SECRET = {
    *("website:account_link", "website:confirm_stock_alert", "website:stop_stock_alerts"),
    *("checkout:resume", "checkout:payment_return"),
}
# Pages that only take forms, each with the page that has the form.
_FORM_OF = {
    "website:basket_add": "website:basket",
    "website:basket_update": "website:basket",
    "website:basket_codes": "website:basket",
    "website:basket_delivery": "website:basket",
    "checkout:undo": "checkout:checkout",
    "checkout:discount_codes": "checkout:payment",
    "checkout:gift_cards": "checkout:payment",
    "checkout:order_email": "checkout:confirmation",
    "checkout:payment_another": "checkout:payment_step",
}
# The beginning of a path of a page, and such a link in cleaned HTML.
_OWN_PATH = re.compile(r"/(?![/\\]|(?:api|media|static|[a-z]{2})/)")
_LINK = re.compile(r'(<a\b[^>]*?\shref=")(/[^"]*)')


@dataclass(frozen=True)
class Version:
    """A page in one of the shop's languages. `code` is empty for one without a code."""

    code: str
    name: str
    direction: str
    url: str
    is_current: bool


def versions_of(request: Request, slugs: Slugs | None = None, *, secret_query: str = "") -> list[Version]:
    """This page in each of the shop's languages; empty if the shop has only one. `slugs` are the last part of its path
    in each, if that differs. `secret_query`: the query string that was removed, of a link that can be opened again."""
    shop, match = request.shop, request.resolver_match
    if not shop.further_languages or (match and match.view_name in _SECRET and not secret_query):
        return []
    root, rest = root_of(shop), _path_with_query(request) + (f"?{secret_query}" if secret_query else "")
    if match and match.view_name in _FORM_OF:
        # The page with the form is another one, without such a last part.
        slugs = None
    return [
        Version(
            code="" if code == OTHER else code,
            name=native_name(code) or shop.name,
            direction=direction(code),
            url=root[:-1] + path_of_language(shop, code) + _with_slug(rest, slugs, code),
            is_current=code == request.language,
        )
        for code in shop.languages
    ]


def alternates(shop: Shop, canonical: str, slugs: Slugs | None = None) -> list[tuple[str, str]]:
    """For search engines, by `hreflang`: the addresses of the page with this canonical address in all languages. Empty
    if it is elsewhere, or the shop has only one language. `slugs` are the last part of its path in each, if that
    differs."""
    base = shop.base_url + path_of_language(shop)
    if not shop.further_languages or not f"{canonical}/".startswith(f"{base}/"):
        return []
    rest = canonical.removeprefix(base)
    found = [
        (code, shop.base_url + path_of_language(shop, code) + _with_slug(rest, slugs, code)) for code in shop.languages
    ]
    return [(code, url) for code, url in found if code != OTHER] + [("x-default", found[0][1])]


def _with_slug(path: str, slugs: Slugs | None, code: str) -> str:
    """The path, with its query. If it ends in one of the slugs, it ends in that of this language."""
    before, mark, query = path.partition("?")
    above, _slash, last = before.rpartition("/")
    if not slugs or code not in slugs or unquote(last) not in slugs.values():
        return path
    return f"{above}/{escape_uri_path(slugs[code])}{mark}{query}"


@dataclass(frozen=True)
class Offer:
    """A page in the language that the browser prefers, offered in that language."""

    version: Version
    text: str
    decline: str
    decline_url: str


def offer_of(request: Request) -> Offer | None:
    """The offer of another of the shop's languages, if the browser prefers it and the visitor has not declined."""
    if DECLINED in request.COOKIES:
        return None
    preferred = preferred_language(request)
    if preferred in (None, request.language):
        return None
    version = next((each for each in versions_of(request) if each.code == preferred), None)
    if version is None:
        return None
    with translation.override(language_of_texts(version.code)):
        # Translators: say it in your own language, naming your own language instead of English.
        text = _("This page in English") if version.code in TEXTS else version.name
        decline = _("No thanks")
    return Offer(version, text, decline, f"{reverse('website:decline_language')}?{urlencode({'next': here(request)})}")


def here(request: Request) -> str:
    """The path of this page with its query, or of the page with the form that was sent."""
    return get_script_prefix()[:-1] + _path_with_query(request)


def preferred_language(request: Request) -> str | None:
    """The first of the browser's languages that the shop has; None if it has none of them."""
    if not request.shop.further_languages:
        return None
    known = {code for code in request.shop.languages if code != OTHER}
    for given, weight in parse_accept_lang_header(request.headers.get("Accept-Language", "")):
        code = given.partition("-")[0]
        # Norwegian has two written forms.
        code = "no" if code in ("nb", "nn") else code
        if code in known and weight > 0:
            return code
    return None


def own_link(shop: Shop, link: str) -> str:
    """A link that a merchant has entered. A path of the shop leads to its page in the language that is spoken."""
    return path_of_language(shop) + link if _OWN_PATH.match(link) else link


def own_links(shop: Shop, html: str) -> str:
    """The cleaned HTML, with its links as those of `own_link`."""
    if not path_of_language(shop):
        return html
    return _LINK.sub(lambda found: found[1] + own_link(shop, found[2]), html)


@require_safe
def decline_language(request: Request) -> HttpResponse:
    """Remember that the visitor stays with the page's language, and redirect back."""
    response = SeeOther(local_path(request.GET.get("next")) or get_script_prefix())
    response.set_cookie(
        DECLINED, "declined", max_age=DECLINED_SECONDS, secure=request.is_secure(), httponly=True, samesite="Lax"
    )
    return response


def _path_with_query(request: Request) -> str:
    """The path below the language, with the query: of the page itself, or of the one with the form that was sent."""
    match = request.resolver_match
    if match is None:
        # There is no page here, in any language.
        return "/"
    if match.view_name in _FORM_OF:
        form = reverse(_FORM_OF[match.view_name], kwargs=match.kwargs)
        return "/" + form.removeprefix(get_script_prefix())
    query = request.META.get("QUERY_STRING", "")
    return escape_uri_path(request.path_info) + (f"?{query}" if query and request.method != "POST" else "")
