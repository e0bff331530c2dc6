"""Signs the link to an export's file. It works for an hour without a token, so it is as secret as the file. Its query
is removed before anything can log it."""

from datetime import datetime, timedelta
from urllib.parse import parse_qs
from uuid import UUID

import structlog
from django.core.exceptions import PermissionDenied
from django.http import FileResponse, Http404
from django.views.decorators.http import require_safe

from storefront.exports.jobs import KEPT
from storefront.exports.models import Export
from storefront.kit.api.http import pop_query_string
from storefront.kit.signing import is_signed_url, sign_url
from storefront.shops.private_pages import private_page
from storefront.shops.request import Request

log = structlog.get_logger(__name__)

MISSING = "The file of this export is no longer in the shop's file storage. Please start the export again."
LIFETIME = timedelta(hours=1)


def link_to(export: Export, *, now: datetime) -> tuple[str, datetime]:
    """The file's URL and when it ends."""
    assert export.finished_at is not None
    ends = min(now + LIFETIME, export.finished_at + KEPT).replace(microsecond=0)
    url = f"{_address(export.shop.base_url, export.public_id)}?expires={int(ends.timestamp())}"
    return sign_url(url), ends


@require_safe
@private_page
def export_file(request: Request, public_id: UUID) -> FileResponse:
    """The file. 403 for a link that was altered or has ended, 404 if the file is missing."""
    query = pop_query_string(request)
    if not is_signed_url(f"{_address(request.shop.base_url, public_id)}?{query}"):
        raise PermissionDenied
    if int(parse_qs(query)["expires"][0]) <= request.now.timestamp():
        raise PermissionDenied
    export = Export.objects.filter(shop=request.shop, public_id=public_id, state=Export.State.DONE).first()
    if export is None:
        raise Http404
    name = f"{export.kind}-{export.created_at:%Y-%m-%d}.jsonl.gz"
    try:
        file = export.file.open("rb")
    except FileNotFoundError:
        log.error("export_missing", export=export.pk, file=export.file.name)
        raise Http404(MISSING) from None
    return FileResponse(file, as_attachment=True, filename=name, content_type="application/gzip")


def _address(base_url: str, public_id: UUID) -> str:
    return f"{base_url}/exports/{public_id}"
