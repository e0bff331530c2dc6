"""What browsers may load and run on the shop's pages."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

POLICY = "; ".join(
    (
        "default-src 'self'",
        "img-src 'self' https: data:",
        "style-src 'self'",
        "script-src 'self'",
        "connect-src 'self'",
        "object-src 'none'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    )
)
# The admin's own interface needs inline styles and scripts; the API answers no pages but its documentation.
OTHERS = ("/admin", "/api/", "/media/")


class PageSecurity:
    """Gives every shopper page a strict Content-Security-Policy, unless the page set one of its own."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if not request.path_info.startswith(OTHERS):
            response.headers.setdefault("Content-Security-Policy", POLICY)
        return response
