"""Unlocks an order's page by the order's email address."""

from uuid import UUID

from django.http import HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_POST

from storefront.checkout.forms import OrderEmailForm
from storefront.checkout.order_access import ask_for_email, order_of_address, prove_email
from storefront.customers.limits import LimitReached
from storefront.kit.http import SeeOther
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
