"""A customer's account: what they bought, where it goes, and who they are. Each page is the signed-in customer's."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from storefront.checkout.gateways import GATEWAYS
from storefront.checkout.pages import SeeOther
from storefront.customers import actions, jobs, queries
from storefront.customers import session as customers
from storefront.customers.models import Address, Customer
from storefront.customers.session import customer_of
from storefront.customers.throttle import TooManyTries, count_try, place_of
from storefront.kit.refusals import InvalidFields, NotFound, Refusal
from storefront.orders.history import order_of, orders_of
from storefront.shops.request import Request
from storefront.website.account_entry import to_sign_in
from storefront.website.account_forms import BookForm, ChangeEmailForm, ChangePasswordForm, DetailsForm
from storefront.website.pages import of_a_shop

PER_PAGE = 20
LATEST = 3


def of_customer(page: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """A page for who is signed in to this shop; anybody else is asked to sign in first. Kept by nobody."""

    @wraps(page)
    def guarded(request: Request, *args: Any, **kwargs: Any) -> HttpResponse:
        customer = customer_of(request)
        if customer is None:
            return to_sign_in(request)
        try:
            return page(request, customer, *args, **kwargs)
        except NotFound:
            raise Http404("There is no such page in your account.") from None

    return never_cache(of_a_shop(guarded))


@require_safe
@of_customer
def account(request: Request, customer: Customer) -> HttpResponse:
    orders = list(orders_of(request.shop, customer)[: LATEST + 1])
    context = {
        "customer": customer,
        "orders": orders[:LATEST],
        "has_more": len(orders) > LATEST,
        "address": queries.default_address(request.shop, customer),
    }
    return render(request, "website/account/account.html", context)


@require_safe
@of_customer
def orders(request: Request, customer: Customer) -> HttpResponse:
    text = request.GET.get("page", "1")
    page = int(text) if text.isascii() and text.isdigit() and len(text) < 7 else 0
    start = (page - 1) * PER_PAGE
    found = list(orders_of(request.shop, customer)[start : start + PER_PAGE + 1]) if page > 0 else []
    if not found and page != 1:
        raise NotFound
    context = {"orders": found[:PER_PAGE], "page": page, "has_more": len(found) > PER_PAGE}
    return render(request, "website/account/orders.html", context)


@require_safe
@of_customer
def order(request: Request, customer: Customer, number: int) -> HttpResponse:
    found = order_of(request.shop, customer, number) if number < 2**63 else None
    if found is None:
        raise NotFound
    context = {"order": found, "gateway": GATEWAYS.get(found.payment_method)}
    return render(request, "website/account/order.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@of_customer
def details(request: Request, customer: Customer) -> HttpResponse:
    """Name and phone. The e-mail address and the password have forms of their own on this page."""
    form = DetailsForm(_sent(request), initial={"name": customer.name, "phone": customer.phone})
    if form.is_valid():
        actions.update_customer(shop=request.shop, customer_id=customer.pk, now=request.now, changes=form.cleaned_data)
        messages.success(request, "Your details are saved.")
        return SeeOther(reverse("website:account_details"))
    return _details_page(request, customer, details=form)


@sensitive_post_parameters("password")
@require_POST
@of_customer
def change_email(request: Request, customer: Customer) -> HttpResponse:
    """Ask the new address whether it is the customer's; nothing changes before it says so."""
    form = ChangeEmailForm(request.POST, prefix="mail")
    if form.is_valid() and _knows_password(request, customer, form, "password", form.cleaned_data["password"]):
        email = queries.normal_email(form.cleaned_data["email"])
        try:
            count_try("mail", shop=request.shop, email=email, place=place_of(request))
        except TooManyTries as refusal:
            form.add_error(None, refusal.text)
            return _details_page(request, customer, mail=form)
        jobs.send_email_link.enqueue(request.shop.pk, customer.pk, email)
        messages.success(request, f"We have sent a mail to {email}. Follow its link to use this address.")
        return SeeOther(reverse("website:account_details"))
    return _details_page(request, customer, mail=form)


@sensitive_post_parameters("current", "password")
@sensitive_variables("form")
@require_POST
@of_customer
def change_password(request: Request, customer: Customer) -> HttpResponse:
    """A new password, which signs every other browser out."""
    form = ChangePasswordForm(request.POST, prefix="word")
    if form.is_valid() and _knows_password(request, customer, form, "current", form.cleaned_data["current"]):
        try:
            customer = actions.change_password(
                shop=request.shop, customer=customer, password=form.cleaned_data["password"], now=request.now
            )
        except InvalidFields as refusal:
            form.add_error("password", (refusal.errors or {})["password"])
            return _details_page(request, customer, word=form)
        customers.enter(request, customer)
        jobs.send_notice.enqueue(request.shop.pk, customer.email, "password_changed")
        messages.success(request, "Your password is changed. Other browsers are signed out.")
        return SeeOther(reverse("website:account_details"))
    return _details_page(request, customer, word=form)


@require_safe
@of_customer
def addresses(request: Request, customer: Customer) -> HttpResponse:
    found = queries.addresses_of(request.shop, customer)
    return render(request, "website/account/addresses.html", {"addresses": found})


@require_http_methods(["GET", "HEAD", "POST"])
@of_customer
def new_address(request: Request, customer: Customer) -> HttpResponse:
    initial = {"name": customer.name, "phone": customer.phone}
    return _address_page(request, customer, None, BookForm(_sent(request), home=request.shop.country, initial=initial))


@require_http_methods(["GET", "HEAD", "POST"])
@of_customer
def change_address(request: Request, customer: Customer, address_id: int) -> HttpResponse:
    address = _address(request, customer, address_id)
    initial = queries.address_record(address)
    form = BookForm(_sent(request), home=request.shop.country, initial=initial)
    return _address_page(request, customer, address, form)


@require_POST
@of_customer
def delete_address(request: Request, customer: Customer, address_id: int) -> HttpResponse:
    address = _address(request, customer, address_id)
    actions.delete_address(shop=request.shop, customer=customer, address_id=address.pk, now=request.now)
    messages.success(request, "The address is deleted.")
    return SeeOther(reverse("website:addresses"))


@require_POST
@of_customer
def prefer_address(request: Request, customer: Customer, address_id: int) -> HttpResponse:
    """Let checkout begin with this address."""
    address = _address(request, customer, address_id)
    actions.save_address(
        shop=request.shop, customer=customer, address_id=address.pk, now=request.now, fields={"is_default": True}
    )
    return SeeOther(reverse("website:addresses"))


def _sent(request: Request) -> Any:
    return request.POST if request.method == "POST" else None


def _address(request: Request, customer: Customer, address_id: int) -> Address:
    found = next((row for row in queries.addresses_of(request.shop, customer) if row.pk == address_id), None)
    if found is None:
        raise NotFound
    return found


def _address_page(request: Request, customer: Customer, address: Address | None, form: BookForm) -> HttpResponse:
    if form.is_valid():
        try:
            actions.save_address(
                shop=request.shop,
                customer=customer,
                address_id=address.pk if address else None,
                now=request.now,
                fields=form.cleaned_data,
            )
        except InvalidFields as refusal:
            form.add_error(None, _sentence(refusal))
        else:
            messages.success(request, "The address is saved.")
            return SeeOther(reverse("website:addresses"))
    context = {"form": form, "address": address}
    return render(request, "website/account/address.html", context, status=422 if form.is_bound else 200)


def _details_page(request: Request, customer: Customer, **forms: Any) -> HttpResponse:
    """The page with its three forms; the one that was sent shows what is wrong with it."""
    known = {"name": customer.name, "phone": customer.phone}
    is_bound = any(form.is_bound for form in forms.values())
    shown = {
        "customer": customer,
        "details": DetailsForm(initial=known),
        "mail": ChangeEmailForm(prefix="mail"),
        "word": ChangePasswordForm(prefix="word"),
    }
    return render(request, "website/account/details.html", shown | forms, status=422 if is_bound else 200)


@sensitive_variables("password")
def _knows_password(request: Request, customer: Customer, form: Any, field: str, password: str) -> bool:
    """Whether this is the customer's password; guessing it here is as slow as at the door."""
    try:
        count_try("sign-in", shop=request.shop, email=customer.email, place=place_of(request))
    except TooManyTries as refusal:
        form.add_error(None, refusal.text)
        return False
    if actions.authenticate(shop=request.shop, email=customer.email, password=password) is None:
        form.add_error(field, "This is not your password.")
        return False
    return True


def _sentence(refusal: Refusal) -> str:
    return next(iter((refusal.errors or {}).values()), [refusal.text])[0]
