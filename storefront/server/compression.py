"""Compresses pages for browsers that accept that, also where no proxy does.

A page can hold a secret, such as its form's CSRF token, beside text from its address. An attacker who makes a browser
open such a page again and again, and sees how long the responses are, could guess the secret (BREACH). Django's
middleware adds a random number of bytes to each response, so that the lengths say nothing for a long time.

Not here: the API, which `api/frame.py` and the edge compress; static files, which WhiteNoise serves from files that
were compressed once; and what is streamed.
"""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware
from django.utils.cache import patch_vary_headers

from storefront.server.edge.representation import MIN_GZIP_BYTES, accepts_gzip

# Pictures, documents and archives are compressed already.
TYPES = {
    "application/javascript",
    "application/json",
    "application/xml",
    "image/svg+xml",
    "text/css",
    "text/html",
    "text/javascript",
    "text/plain",
    "text/xml",
}


class PageCompression(GZipMiddleware):
    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> Any:
        kind = response.get("Content-Type", "").partition(";")[0].strip().lower()
        is_whole = isinstance(response, HttpResponse) and len(response.content) >= MIN_GZIP_BYTES
        if not is_whole or kind not in TYPES or response.has_header("Content-Encoding"):
            return response
        if not accepts_gzip(request.META.get("HTTP_ACCEPT_ENCODING", "")):
            patch_vary_headers(response, ("Accept-Encoding",))
            return response
        return super().process_response(request, response)
