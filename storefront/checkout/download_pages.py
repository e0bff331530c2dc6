"""The page behind a download's link: it checks access, counts the download and sends the file, or a part of it.

A file is always sent as an attachment, so that browsers do not run its content. A local file is sent by the server
without occupying a thread; for a file in a bucket, the browser is redirected to a URL that is valid for URL_SECONDS.
"""

from mimetypes import guess_type
from typing import Any, BinaryIO

import structlog
from django.http import FileResponse, Http404, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils.http import content_disposition_header
from django.views.decorators.http import require_safe

from storefront.catalogue.models import StoredFile
from storefront.checkout.forms import OrderEmailForm
from storefront.checkout.order_access import ask_for_email, may_see
from storefront.kit.api.ranges import FilePart, Span, Unsatisfiable, requested_span
from storefront.orders.download_links import Availability, availability, download_of_token
from storefront.orders.downloads import begin_download
from storefront.orders.models import Download
from storefront.shops.private_pages import private_page
from storefront.shops.request import Request

log = structlog.get_logger(__name__)

# Time to follow a redirect to the bucket. A download that has begun there is not cut off.
URL_SECONDS = 60
# Content types that are sent as they are, since browsers do not run them. All others are sent as plain bytes.
TYPES = ("application/pdf", "application/zip", "application/epub+zip", "audio/", "video/")
STATUSES = {
    Availability.UNPAID: 403,
    Availability.WITHDRAWN: 410,
    Availability.EXPIRED: 410,
    Availability.USED_UP: 410,
}


@require_safe
@private_page
def download(request: Request, token: str) -> HttpResponseBase:
    found = download_of_token(request.shop, token)
    if found is None:
        raise Http404
    if not may_see(request, found.order):
        return ask_for_email(request, found.order, OrderEmailForm(), status=403)
    whole = Span(0, found.file.size)
    if request.method == "HEAD":
        state = availability(found, request.now)
        if state is not Availability.READY:
            return _refused(request, found, state)
        return HttpResponse(headers=_headers(found.file) | {"Content-Length": str(found.file.size)})
    try:
        part = requested_span(request.headers, size=found.file.size, etag=_etag(found.file))
    except Unsatisfiable:
        return HttpResponse(status=416, headers={"Content-Range": f"bytes */{found.file.size}"})
    return _begin(request, found, part or whole, is_part=part is not None)


def _begin(request: Request, found: Download, span: Span, *, is_part: bool) -> HttpResponseBase:
    """Return the file, or the page with the reason why it cannot be downloaded. The file is opened before the download
    is counted, so that a missing file is not counted."""
    stored = found.file
    try:
        source = _source(stored)
    except OSError as error:
        log.error("download_missing", file=stored.pk, error=type(error).__name__)
        return _refused(request, found, None)
    state = begin_download(download=found, span=span, now=request.now)
    if isinstance(source, str):
        return HttpResponseRedirect(source) if state is Availability.READY else _refused(request, found, state)
    if state is not Availability.READY:
        source.close()
        return _refused(request, found, state)
    response = FileResponse(FilePart(source, source.name, span), status=206 if is_part else 200)
    headers = _headers(stored) | {"Content-Length": str(span.length)}
    if is_part:
        headers["Content-Range"] = f"bytes {span.start}-{span.stop - 1}/{stored.size}"
    # Set afterwards, since the constructor would replace the content type by a guess.
    for name, value in headers.items():
        response[name] = value
    return response


def _source(stored: StoredFile) -> BinaryIO | str:
    """The open file, or the URL of one in a bucket. Raises OSError."""
    storage: Any = stored.file.storage
    try:
        path = storage.path(stored.file.name)
    except NotImplementedError:
        return storage.signed_url(stored.file.name, headers=_shown_as(stored), seconds=URL_SECONDS)
    return open(path, "rb")


def _headers(stored: StoredFile) -> dict[str, str]:
    return {
        **_shown_as(stored),
        "Accept-Ranges": "bytes",
        "ETag": _etag(stored),
        "X-Content-Type-Options": "nosniff",
        "Content-Security-Policy": "default-src 'none'; sandbox",
    }


def _shown_as(stored: StoredFile) -> dict[str, str]:
    kind = guess_type(stored.name)[0] or ""
    return {
        "Content-Type": kind if kind.startswith(TYPES) else "application/octet-stream",
        "Content-Disposition": content_disposition_header(True, stored.name) or "attachment",
    }


def _etag(stored: StoredFile) -> str:
    """A stored file never changes, so its id and time are enough."""
    return f'"{stored.pk:x}-{int(stored.created_at.timestamp()):x}"'


def _refused(request: Request, found: Download, state: Availability | None) -> HttpResponse:
    """The page with the reason why the file cannot be downloaded. Without a state, the shop does not have the file."""
    status = STATUSES[state] if state else 503
    context = {"download": found, "order": found.order, "state": state.value if state else "missing"}
    return render(request, "checkout/download_refused.html", context, status=status)
