"""The language of a page: the main one of its shop at `/...`, each further one at `/de/...` and the like."""

from django.http import HttpResponse, HttpResponsePermanentRedirect
from django.urls import Resolver404, get_script_prefix, resolve, set_script_prefix
from django.utils.cache import patch_vary_headers

from storefront.content.addresses import with_query
from storefront.kit.api.http import SeeOther
from storefront.kit.middleware import Middleware
from storefront.server.origins import OPEN
from storefront.shops.languages import FURTHER_CHOICES, OTHER
from storefront.shops.places import ADMIN
from storefront.shops.request import Request
from storefront.shops.spoken import speaking

# Paths that have no language: what is there is no page of the shop, and is decided by its path before and after this.
WITHOUT = (*OPEN, "/admin/", "/api/", "/.well-known/")
# Pages to which mails and payment providers lead, also after the shop has given up the language of the link.
LASTING = {
    *("checkout:confirmation", "checkout:document", "checkout:download", "checkout:gift_card"),
    *("checkout:payment_step", "checkout:payment_return"),
    *("website:account_link", "website:confirm_stock_alert", "website:stop_stock_alerts"),
}
_CODES = {code for code, _ in FURTHER_CHOICES}


class PageLanguage(Middleware):
    """Sets a shop page's language, and activates it for the texts of the page. The first segment of the path, if it is
    one of the shop's further languages, becomes part of the script prefix, so that all links on the page keep it."""

    def __call__(self, request: Request) -> HttpResponse:
        request.language = "en"
        if request.place == ADMIN or _has_no_language(request.path_info) or not request.shop:
            return self.get_response(request)
        before = get_script_prefix()
        code, slash, rest = request.path_info[1:].partition("/")
        is_further = code in request.shop.further_languages and not _has_no_language(f"/{rest}")
        if is_further and not slash:
            return _home_of(f"{before}{code}/", request.META.get("QUERY_STRING", ""))
        if not is_further and code in _CODES and _is_lasting(request, f"/{rest}"):
            return SeeOther(with_query(before[:-1] + f"/{rest}", request.META.get("QUERY_STRING", "")))
        if is_further:
            prefix = f"{before}{code}/"
            request.path_info = request.META["PATH_INFO"] = f"/{rest}"
            request.META["SCRIPT_NAME"] = prefix[:-1]
            set_script_prefix(prefix)
        try:
            with speaking(request.shop, code if is_further else "") as request.language:
                return _named(request, self.get_response(request))
        finally:
            set_script_prefix(before)


def _has_no_language(path: str) -> bool:
    return f"{path}/".startswith(WITHOUT)


def _is_lasting(request: Request, path: str) -> bool:
    try:
        return request.method in ("GET", "HEAD") and resolve(path, request.urlconf).view_name in LASTING
    except Resolver404:
        return False


def _home_of(path: str, query: str) -> HttpResponse:
    """A redirect from `/de` to `/de/`, which browsers do not keep: the shop can give up the language."""
    return HttpResponsePermanentRedirect(with_query(path, query), headers={"Cache-Control": "no-cache"})


def _named(request: Request, response: HttpResponse) -> HttpResponse:
    """The page, with its language in a header. If it can have an offer of another one, it varies by what that depends
    on."""
    if response.get("Content-Type", "").startswith("text/html"):
        if request.language != OTHER:
            response.headers.setdefault("Content-Language", request.language)
        if request.shop.further_languages:
            patch_vary_headers(response, ("Accept-Language", "Cookie"))
    return response
