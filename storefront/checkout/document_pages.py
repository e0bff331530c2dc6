"""Shows an order's invoices and credit notes to its shopper, with the same access control as the order's page."""

from uuid import UUID

from django.http import Http404, HttpResponse
from django.views.decorators.http import require_safe

from storefront.checkout.forms import OrderEmailForm
from storefront.checkout.order_access import ask_for_email, may_see, order_of_address
from storefront.documents.queries import document_of
from storefront.documents.responses import document_response
from storefront.kit.ids import MAX_ID
from storefront.shops.private_pages import private_page
from storefront.shops.request import Request


@require_safe
@private_page
def document(request: Request, public_id: UUID, document_id: int) -> HttpResponse:
    order = order_of_address(request, public_id)
    if not may_see(request, order):
        return ask_for_email(request, order, OrderEmailForm(), status=403)
    found = document_of(request.shop, min(document_id, MAX_ID), order)
    if found is None:
        raise Http404
    return document_response(found)
