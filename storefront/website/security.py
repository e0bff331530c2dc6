"""The Content-Security-Policy of the shop's pages."""

from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from storefront.apps.scripts import PageScripts, page_scripts
from storefront.kit.middleware import Middleware
from storefront.shops.places import ADMIN, SECURE, SHOP, SINGLE, origin_of

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
# Directives that include the allowed hosts: their scripts may run, call the host, and load styles from it.
OF_ALLOWED_HOSTS = ("script-src", "connect-src", "style-src")
# Path prefixes without this policy. The admin has its own (staff/admin_security.py); the API has no pages except its
# documentation.
OTHERS = {SINGLE: ("/admin/", "/api/", "/media/"), ADMIN: ("/admin/", "/media/")}


class PageSecurity(Middleware):
    """Middleware that adds a Content-Security-Policy to every page that does not set one itself.

    The policy is strict. On pages that include apps' scripts, it permits scripts of the allowed hosts (R-APP-29), and
    browsers report what it blocks.
    """

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        other_paths = OTHERS.get(getattr(request, "place", SINGLE), ("/media/",))
        if not request.path_info.startswith(other_paths) and "Content-Security-Policy" not in response.headers:
            scripts = getattr(request, "page_scripts", None)
            policy = (
                _strict_policy(request)
                if scripts is None
                else _policy_for_hosts(scripts.hosts) | _reporting(request, response)
            )
            policy = _with_sources(policy, getattr(request, "page_sources", {}))
            response.headers["Content-Security-Policy"] = "; ".join(f"{name} {what}" for name, what in policy.items())
        return response


def scripts_of(request: Any) -> PageScripts | None:
    """The apps' scripts of this page, read once per request; None on pages without apps' scripts.

    Apps' scripts run only on the shopper's pages, and only if account and checkout are on another host.
    """
    if not hasattr(request, "page_scripts"):
        match = request.resolver_match
        allows_scripts = getattr(request, "place", None) == SHOP and match is not None and match.namespace == "website"
        request.page_scripts = page_scripts(request.shop) if allows_scripts and request.shop else None
    return request.page_scripts


def _strict_policy(request: Any) -> dict[str, str]:
    """The strict policy. Forms on the secure host may also lead to the shop's host, directly or by a redirect."""
    if getattr(request, "place", None) == SECURE and request.shop:
        return POLICY | {"form-action": f"{POLICY['form-action']} {origin_of(request.shop.base_url)}"}
    return POLICY


def _with_sources(policy: dict[str, str], sources: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    """The policy with additional sources of this page: `request.page_sources`, by directive."""
    return policy | {name: " ".join([policy.get(name, "'self'"), *more]) for name, more in sources.items() if more}


def _policy_for_hosts(hosts: list[str]) -> dict[str, str]:
    return POLICY | {name: " ".join([POLICY[name], *hosts]) for name in OF_ALLOWED_HOSTS}


def _reporting(request: HttpRequest, response: HttpResponse) -> dict[str, str]:
    """The directives that make browsers report violations; adds the header that `report-to` needs.

    Browsers that support `report-to` ignore `report-uri`, but report only over https. So `report-to` is set only there.
    """
    url = reverse("website:script_reports")
    if not request.is_secure():
        return {"report-uri": url}
    response.headers["Reporting-Endpoints"] = f'shop="{url}"'
    return {"report-uri": url, "report-to": "shop"}
