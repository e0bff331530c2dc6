"""A check of every page that any test opens: its forms can be sent by a browser.

Browsers send a form of a page without a referrer with `Origin: null`, which the protection against forged forms
refuses. Django's test client sends no origin, so a test that posts by itself does not notice.
"""

import re
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

_FORM = re.compile(rb"<form\b[^>]*\bmethod=[\"']?post\b", re.IGNORECASE)
# It takes the header's place.
_META = re.compile(rb"<meta name=\"referrer\" content=\"([a-z-]+)\">")


class FormsCanBeSent:
    """Middleware that fails the test for a page whose forms a browser could not send."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        assert not has_dead_form(response), f"a browser cannot send the form of {request.path}"
        return response


def has_dead_form(response: HttpResponse) -> bool:
    if response.streaming or not response.get("Content-Type", "").startswith("text/html"):
        return False
    meta = _META.search(response.content)
    policy = meta[1].decode() if meta else response.get("Referrer-Policy", "")
    return policy == "no-referrer" and _FORM.search(response.content) is not None
