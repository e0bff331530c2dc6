"""Checks who may upload a large file before a byte of it is read, so that strangers cannot fill the disk."""

from collections.abc import Callable
from io import BytesIO
from typing import Any

from storefront.server.gate.response import StartResponse
from storefront.server.gate.wsgi_environ import Environ

# Environ key in which Django's handler stores its request object, if the key exists.
REQUEST = "storefront.request"


def refusal_of_upload(application: Callable[..., Any], environ: Environ) -> tuple[StartResponse, bytes] | None:
    """None if the caller is signed in as staff and may see the page that the file is sent to; otherwise the response
    that refuses the upload. A GET of the page decides, so that its own permission checks apply to the upload too."""
    get_environ = environ | {"REQUEST_METHOD": "GET", "CONTENT_LENGTH": "", "wsgi.input": BytesIO(), REQUEST: None}
    start = StartResponse()
    response = application(get_environ, start)
    try:
        content = b"".join(response)
        user = getattr(get_environ[REQUEST], "user", None)
        if start.status == 200 and user is not None and user.is_staff:
            return None
        if start.status == 200:
            start.status = 403
        return start, content
    finally:
        response.close()
