"""Signs links to documents for programs. They are valid without a token for an hour, so they are as secret as the
documents. Their query is removed before anything can log it. Responses that are a PDF are made here."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from urllib.parse import parse_qs

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse
from django.utils.http import content_disposition_header
from django.views.decorators.http import require_safe

from storefront.documents.models import Document
from storefront.documents.queries import document_of, fulfilment_of, packing_slip
from storefront.documents.records import Record
from storefront.kit.api.http import pop_query_string
from storefront.kit.ids import MAX_ID
from storefront.kit.signing import is_signed_url, sign_url
from storefront.orders.queries import order_by_id
from storefront.shops.models import Shop
from storefront.shops.private_pages import private_page
from storefront.shops.request import Request

LIFETIME = timedelta(hours=1)


def signed_link(shop: Shop, path: str, *, now: datetime) -> str:
    """The link to the document, or the packing slip, at this path below `/documents`."""
    return sign_url(f"{shop.base_url}/documents/{path}?expires={int(link_end(now).timestamp())}")


@require_safe
@private_page
def document_file(request: Request, document_id: int) -> HttpResponse:
    """The PDF. 403 for a link that was altered or has ended."""
    _check_link(request)
    document = document_of(request.shop, min(document_id, MAX_ID))
    if document is None:
        raise Http404
    return document_response(document)


@require_safe
@private_page
def packing_slip_file(request: Request, order_id: int, fulfilment_id: int = 0) -> HttpResponse:
    """The packing slip of the order as it is now, or of one of its fulfilments."""
    _check_link(request)
    order = order_by_id(request.shop, min(order_id, MAX_ID))
    fulfilment = fulfilment_of(order, min(fulfilment_id, MAX_ID)) if order and fulfilment_id else None
    if order is None or (fulfilment_id and fulfilment is None):
        raise Http404
    record = packing_slip(request.shop, order, fulfilment, request.now)
    return pdf_response([record], f"packing-slip-{order.number}.pdf")


def link_end(now: datetime) -> datetime:
    """The time when a link that is signed now expires."""
    return (now + LIFETIME).replace(microsecond=0)


def _check_link(request: Request) -> None:
    """Raises PermissionDenied unless the URL is signed and not expired."""
    query = pop_query_string(request)
    if not is_signed_url(f"{request.shop.base_url}{request.path_info}?{query}"):
        raise PermissionDenied
    if int(parse_qs(query)["expires"][0]) <= request.now.timestamp():
        raise PermissionDenied


def document_response(document: Document) -> HttpResponse:
    return pdf_response([document.record], document.file_name)


def pdf_response(records: Sequence[Record], name: str) -> HttpResponse:
    """One PDF of these documents, which the browser shows in its viewer and saves under this name."""
    # Importing it takes most of a second, and most processes never draw.
    from storefront.documents.drawing import pdf_of

    return pdf_file(pdf_of(records), name)


def pdf_file(content: bytes, name: str) -> HttpResponse:
    headers = {
        "Content-Type": "application/pdf",
        "Content-Disposition": content_disposition_header(False, name) or "inline",
        "X-Content-Type-Options": "nosniff",
        "Cache-Control": "no-store",
    }
    return HttpResponse(content, headers=headers)
