"""Pages of an order besides its confirmation: what unlocks it by its email address, and its invoices."""

from uuid import UUID

from django.http import Http404, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from storefront.checkout.forms import OrderEmailForm
from storefront.checkout.order_access import ask_for_email, for_its_shopper, order_of_address, prove_email
from storefront.customers.limits import LimitReached
from storefront.documents.queries import document_of
from storefront.documents.responses import document_response
from storefront.kit.api.http import SeeOther
from storefront.kit.ids import MAX_ID
from storefront.orders.models import Order
from storefront.shops.private_pages import private_page
from storefront.shops.request import Request


@require_POST
@private_page
def order_email(request: Request, public_id: UUID) -> HttpResponse:
    order = order_of_address(request, public_id)
    form = OrderEmailForm(request.POST)
    if not form.is_valid():
        return ask_for_email(request, order, form, status=422)
    try:
        if prove_email(request, order, form.cleaned_data["email"]):
            return SeeOther(reverse("checkout:confirmation", args=[public_id]))
    except LimitReached as refusal:
        form.add_error(None, refusal.text)
        response = ask_for_email(request, order, form, status=refusal.status)
        response["Retry-After"] = str(refusal.retry_after)
        return response
    form.add_error("email", "This is not the email address of this order.")
    return ask_for_email(request, order, form, status=422)


@require_safe
@private_page
@for_its_shopper
def document(request: Request, order: Order, document_id: int) -> HttpResponse:
    """An invoice or credit note."""
    found = document_of(request.shop, min(document_id, MAX_ID), order)
    if found is None:
        raise Http404
    return document_response(found)
