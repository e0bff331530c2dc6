"""What browsers may load and run on the shop's pages."""

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from storefront.apps.scripts import PageScripts, page_scripts

POLICY = {
    "default-src": "'self'",
    "img-src": "'self' https: data:",
    "style-src": "'self'",
    "script-src": "'self'",
    "connect-src": "'self'",
    "object-src": "'none'",
    "base-uri": "'none'",
    "form-action": "'self'",
    "frame-ancestors": "'none'",
}
# A script of an allowed host may run, call its host, and take its style from there; pictures come from anywhere.
OF_ALLOWED_HOSTS = ("script-src", "connect-src", "style-src")
# The admin's own interface needs inline styles and scripts; the API answers no pages but its documentation.
OTHERS = ("/admin", "/api/", "/media/")
# Where people type passwords, or came by a link that is as good as one, no stranger's program looks on.
OF_SECRETS = {
    *("sign_in", "register", "forgot", "mailed", "account_link", "choose_password", "confirm_email"),
    *("account_details", "change_email", "change_password"),
}


class PageSecurity:
    """Gives every page its Content-Security-Policy, unless it set one of its own: a strict one or, where the page has
    room for apps' scripts, one that lets those of allowed hosts run, and has browsers report what it kept from it."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if not request.path_info.startswith(OTHERS) and "Content-Security-Policy" not in response.headers:
            scripts = getattr(request, "page_scripts", None)
            policy = POLICY if scripts is None else _with_hosts(scripts.hosts) | _reporting(request, response)
            response.headers["Content-Security-Policy"] = "; ".join(f"{name} {what}" for name, what in policy.items())
        return response


def scripts_of(request: Any) -> PageScripts | None:
    """What apps have on this page, read once for it; None on a page that their scripts have no place on: every one that
    is not the shopper's, such as the checkout's, and those where secrets are typed."""
    if not hasattr(request, "page_scripts"):
        match = request.resolver_match
        is_for_them = match is not None and match.namespace == "website" and match.url_name not in OF_SECRETS
        request.page_scripts = page_scripts(request.shop) if is_for_them and request.shop else None
    return request.page_scripts


def _with_hosts(hosts: list[str]) -> dict[str, str]:
    return POLICY | {name: " ".join([POLICY[name], *hosts]) for name in OF_ALLOWED_HOSTS}


def _reporting(request: HttpRequest, response: HttpResponse) -> dict[str, str]:
    """Where browsers report to. One that knows `report-to` looks at nothing else, but reports by it only over https, so
    that it is named only there."""
    url = reverse("website:script_reports")
    if not request.is_secure():
        return {"report-uri": url}
    response.headers["Reporting-Endpoints"] = f'shop="{url}"'
    return {"report-uri": url, "report-to": "shop"}
