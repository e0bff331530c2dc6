"""The WSGI application that Granian serves: the edge in front of Django."""

import os
from typing import Any

import django
from django.conf import settings
from django.core.handlers.wsgi import WSGIHandler, WSGIRequest
from django.http.response import HttpResponseBase
from django.utils.http import parse_header_parameters


class Utf8Request(WSGIRequest):
    """A request whose query and forms are always UTF-8. Django would decode them with the charset of the Content-Type,
    and some of Python's codecs then raise before any of our code can respond."""

    def _set_content_type_params(self, meta: dict[str, Any]) -> None:
        try:
            self.content_type, self.content_params = parse_header_parameters(meta.get("CONTENT_TYPE", ""))
        except (LookupError, ValueError):
            self.content_type, self.content_params = "", {}


class Application(WSGIHandler):
    request_class = Utf8Request

    def get_response(self, request: Any) -> HttpResponseBase:
        token_use.start()
        load.start()
        missing.start()
        warming.start()
        if REQUEST in request.environ:
            # `upload_permission.py` reads the signed-in user from it.
            request.environ[REQUEST] = request
        return super().get_response(request)


os.environ.setdefault("DJANGO_SETTINGS_MODULE", "storefront.server.settings")
django.setup(set_prefix=False)

from storefront.content import missing  # noqa: E402
from storefront.deployment import load  # noqa: E402
from storefront.listing import warming  # noqa: E402
from storefront.server.edge.edge import Edge  # noqa: E402, imports models, which need Django set up
from storefront.server.gate.upload_permission import REQUEST  # noqa: E402
from storefront.server.waits import bound_web_process  # noqa: E402
from storefront.shops import token_use  # noqa: E402

bound_web_process()
application = Edge(Application(), settings.EDGE_CACHE_BYTES)
