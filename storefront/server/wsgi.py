"""The WSGI application that Granian serves: the edge, and Django behind it."""

import os
from typing import Any

import django
from django.conf import settings
from django.core.handlers.wsgi import WSGIHandler, WSGIRequest
from django.http.response import HttpResponseBase
from django.utils.http import parse_header_parameters


class Utf8Request(WSGIRequest):
    """A request whose query and forms are UTF-8. Django decodes them by whatever charset the caller's Content-Type
    names, which for some codecs of Python's raises before anything of ours could answer."""

    def _set_content_type_params(self, meta: dict[str, Any]) -> None:
        try:
            self.content_type, self.content_params = parse_header_parameters(meta.get("CONTENT_TYPE", ""))
        except (LookupError, ValueError):
            self.content_type, self.content_params = "", {}


class Application(WSGIHandler):
    request_class = Utf8Request

    def get_response(self, request: Any) -> HttpResponseBase:
        if REQUEST in request.environ:
            # For the edge, which learns from it who called.
            request.environ[REQUEST] = request
        return super().get_response(request)


os.environ.setdefault("DJANGO_SETTINGS_MODULE", "storefront.server.settings")
django.setup(set_prefix=False)

from storefront.server.edge import REQUEST, Edge  # noqa: E402, its rooms' tables need Django set up

application = Edge(Application(), settings.EDGE_CACHE_BYTES)
