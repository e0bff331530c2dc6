"""Access to an order's page.

Its URL cannot be guessed, but it is in mails and in the history of shared browsers. So the URL is enough for one day;
after that, the page requires the order's email address, or a sign-in as its customer.
"""

from collections.abc import Callable
from datetime import timedelta
from functools import wraps
from typing import Any
from uuid import UUID

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.crypto import constant_time_compare
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from storefront.checkout.forms import OrderEmailForm
from storefront.customers import limits
from storefront.customers.limits import LimitReached
from storefront.customers.queries import normal_email
from storefront.customers.session import customer_of
from storefront.documents.links import document_response
from storefront.documents.queries import document_of
from storefront.kit.api.http import SeeOther
from storefront.kit.ids import MAX_ID
from storefront.orders.models import Order
from storefront.orders.queries import order_by_public_id
from storefront.shops.private_pages import private_page
from storefront.shops.request import Request

OPEN_FOR = timedelta(days=1)

_SHOWN = "orders"
# How many orders a session can unlock by email address. The oldest are dropped.
MAX_SHOWN = 20


def for_its_shopper(page: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Decorates a page of one order: without access, it asks for the order's email address instead."""

    @wraps(page)
    def guarded(request: Request, public_id: UUID, **kwargs: Any) -> HttpResponse:
        order = order_of_address(request, public_id)
        if not may_see(request, order):
            return ask_for_email(request, order, OrderEmailForm(), status=403)
        return page(request, order, **kwargs)

    return guarded


def order_of_address(request: Request, public_id: UUID) -> Order:
    """The order with this public id. Raises Http404."""
    order = order_by_public_id(request.shop, public_id)
    if order is None:
        raise Http404
    return order


def may_see(request: Request, order: Order) -> bool:
    """Returns True if the order is recent, unlocked in this session, or the signed-in customer's."""
    if request.now - order.placed_at < OPEN_FOR or str(order.public_id) in request.session.get(_SHOWN, ()):
        return True
    customer = customer_of(request)
    return customer is not None and customer.pk == order.customer_id


def prove_email(request: Request, order: Order, email: str) -> bool:
    """Unlock the order in this session if this is its email address. Returns False if it is not.

    Each call counts. Raises LimitReached.
    """
    limits.count(request, "order_pages", order.public_id)
    if not constant_time_compare(normal_email(email), normal_email(order.email)):
        return False
    unlocked = [each for each in request.session.get(_SHOWN, ()) if each != str(order.public_id)]
    request.session[_SHOWN] = [*unlocked, str(order.public_id)][-MAX_SHOWN:]
    return True


def ask_for_email(request: Request, order: Order, form: OrderEmailForm, *, status: int) -> HttpResponse:
    """The page that asks for the order's email address. It shows nothing of the order."""
    context = {"form": form, "public_id": order.public_id, "customer": customer_of(request)}
    return render(request, "checkout/whose_order.html", context, status=status)


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
    form.add_error("email", _("This is not the email address of this order."))
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
