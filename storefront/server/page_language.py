"""The language of a page: the main one of its shop at `/...`, each further one at `/de/...` and the like."""

from django.http import HttpResponse
from django.urls import get_script_prefix, set_script_prefix
from django.utils import translation

from storefront.kit.middleware import Middleware
from storefront.server.origins import OPEN
from storefront.shops.languages import language_of_texts
from storefront.shops.places import ADMIN
from storefront.shops.request import Request


class PageLanguage(Middleware):
    """Sets a shop page's language, and activates it for the texts of the page. The first segment of the path, if it is
    one of the shop's further languages, becomes part of the script prefix, so that all links on the page keep it."""

    def __call__(self, request: Request) -> HttpResponse:
        request.language = "en"
        if request.place == ADMIN or request.path_info.startswith((*OPEN, "/admin")) or not request.shop:
            return self.get_response(request)
        code, slash, rest = request.path_info[1:].partition("/")
        before = get_script_prefix()
        request.language = request.shop.language
        if slash and code in request.shop.further_languages:
            request.language = code
            prefix = f"{before}{code}/"
            request.path_info = request.META["PATH_INFO"] = f"/{rest}"
            request.META["SCRIPT_NAME"] = prefix[:-1]
            set_script_prefix(prefix)
        try:
            with translation.override(language_of_texts(request.language)):
                return self.get_response(request)
        finally:
            set_script_prefix(before)
