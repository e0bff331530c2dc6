"""Serves uploaded files so that none of them can run scripts on the shop's pages."""

import errno

from django.conf import settings
from django.core.exceptions import SuspiciousOperation
from django.core.files.storage import default_storage
from django.http import FileResponse, Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.views.decorators.http import require_safe
from django.views.static import serve

from storefront.kit.storage import MAX_AGE_SECONDS, SHOWN_TYPES, content_type, is_remote

# Errors of a file system for a name that no file can have: too long, below a file, or in a ring of links.
NO_SUCH_NAME = {errno.ENAMETOOLONG, errno.ENOTDIR, errno.ELOOP, errno.EINVAL}


@require_safe
def uploaded_file(request: HttpRequest, path: str) -> HttpResponseBase:
    """Serve a file: pictures to be shown, all others, such as SVG and HTML, as downloads that cannot run scripts."""
    try:
        response = _from_bucket(path) if is_remote() else serve(request, path, document_root=str(settings.MEDIA_ROOT))
    except (SuspiciousOperation, FileNotFoundError):
        raise Http404 from None
    except OSError as error:
        if error.errno not in NO_SUCH_NAME:
            raise
        raise Http404 from None
    response["X-Content-Type-Options"] = "nosniff"
    response["Content-Security-Policy"] = "default-src 'none'; sandbox"
    response["Cache-Control"] = f"public, max-age={MAX_AGE_SECONDS}"
    if isinstance(response, FileResponse) and response["Content-Type"] not in SHOWN_TYPES:
        response["Content-Disposition"] = "attachment"
    return response


def _from_bucket(path: str) -> FileResponse:
    return FileResponse(default_storage.open(path), content_type=content_type(path))
