"""Serves uploaded_file files so that none of them can run scripts on the shop's pages."""

from django.conf import settings
from django.core.exceptions import SuspiciousFileOperation
from django.http import FileResponse, Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.views.decorators.http import require_safe
from django.views.static import serve

PICTURES = ("image/jpeg", "image/png", "image/gif", "image/webp", "image/avif")


@require_safe
def uploaded_file(request: HttpRequest, path: str) -> HttpResponseBase:
    """Serve a file: pictures to be shown, all others, such as SVG and HTML, as downloads that cannot run scripts."""
    try:
        response = serve(request, path, document_root=str(settings.MEDIA_ROOT))
    except SuspiciousFileOperation:
        raise Http404 from None
    response["X-Content-Type-Options"] = "nosniff"
    response["Content-Security-Policy"] = "default-src 'none'; sandbox"
    response["Cache-Control"] = "public, max-age=86400"
    if isinstance(response, FileResponse) and response["Content-Type"] not in PICTURES:
        response["Content-Disposition"] = "attachment"
    return response
