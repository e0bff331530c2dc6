"""The Content-Security-Policy of the admin's pages."""

from django.http import HttpResponse

from storefront.kit.middleware import Middleware
from storefront.shops.places import ADMIN, SINGLE
from storefront.shops.request import Request

# Our pages and their theme have no inline scripts or style elements, so the policy allows none, not even with a nonce:
# injected text stays text. Only pages with a text editor (`admin_editor.py`) allow the styles that it adds, by a nonce.
# `request.admin_policy` has what a page allows besides, by directive.
# `unsafe-eval` is for Alpine, which turns attributes into functions for the theme's menus and tabs. Style attributes
# are allowed: they set sizes and positions, and load nothing.
POLICY = {
    "default-src": "'none'",
    "script-src": "'self' 'unsafe-eval'",
    "style-src": "'self'",
    "style-src-attr": "'unsafe-inline'",
    "font-src": "'self'",
    "img-src": "'self' https: data:",
    "connect-src": "'self'",
    "object-src": "'none'",
    "base-uri": "'none'",
    "form-action": "'self'",
    "frame-ancestors": "'none'",
}


def _header(policy: dict[str, str]) -> str:
    return "; ".join(f"{name} {what}" for name, what in policy.items())


_HEADER = _header(POLICY)


class AdminSecurity(Middleware):
    """Adds the Content-Security-Policy to every response of the admin, refusals and errors included."""

    def __call__(self, request: Request) -> HttpResponse:
        response = self.get_response(request)
        has_admin = request.place in (SINGLE, ADMIN)
        if has_admin and (request.path_info.startswith("/admin/") or request.path_info == "/admin"):
            own = getattr(request, "admin_policy", None)
            response.headers["Content-Security-Policy"] = _header(POLICY | own) if own else _HEADER
        return response
