"""The pages of the signed-in customer's account: orders, addresses, details."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from django.views.decorators.http import require_http_methods, require_safe

from storefront.catalogue.rules import MAX_ID
from storefront.customers import actions, jobs, limits, queries
from storefront.customers import session as customers
from storefront.customers.models import Address, Customer
from storefront.customers.session import customer_of
from storefront.customers.signin import customer_with_password
from storefront.kit.api.http import SeeOther, posted_from
from storefront.kit.refusals import InvalidFields, NotFound, Refusal
from storefront.orders.history import order_of, orders_of
from storefront.payments.providers.base import ProviderUnavailable
from storefront.payments.providers.registry import PROVIDERS
from storefront.payments.saved_methods import remove_method, saved_methods
from storefront.shops.places import url_via_shop
from storefront.shops.request import Request
from storefront.shops.throttle import TooManyTries
from storefront.website.account_entry import redirect_to_sign_in
from storefront.website.account_forms import AccountAddressForm, ChangeEmailForm, ChangePasswordForm, DetailsForm
from storefront.website.pages import require_shop

PER_PAGE = 20
MAX_ORDERS = 3


def require_customer(page: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Passes the signed-in customer to a page; redirects other visitors to the sign-in page. The page is not cached."""

    @wraps(page)
    def guarded(request: Request, *args: Any, **kwargs: Any) -> HttpResponse:
        customer = customer_of(request)
        if customer is None:
            return redirect_to_sign_in(request)
        try:
            return page(request, customer, *args, **kwargs)
        except NotFound:
            raise Http404(_("This page does not exist in your account.")) from None

    return never_cache(require_shop(guarded))


@require_safe
@require_customer
def account(request: Request, customer: Customer) -> HttpResponse:
    orders = list(orders_of(request.shop, customer)[: MAX_ORDERS + 1])
    context = {
        "customer": customer,
        "orders": orders[:MAX_ORDERS],
        "has_more": len(orders) > MAX_ORDERS,
        "address": queries.default_address(request.shop, customer),
        "saved_methods": saved_methods(request.shop, customer),
    }
    return render(request, "website/account/account.html", context)


@posted_from("website:account")
@require_customer
def forget_payment_method(request: Request, customer: Customer, method_id: int) -> HttpResponse:
    """Remove a saved payment method, here and at its provider."""
    try:
        remove_method(shop=request.shop, customer=customer, method_id=min(method_id, MAX_ID))
    except ProviderUnavailable:
        messages.error(request, _("The payment method could not be removed at the moment. Please try again later."))
    else:
        messages.success(request, _("The payment method has been removed."))
    return SeeOther(reverse("website:account"))


@require_safe
@require_customer
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
@require_customer
def order(request: Request, customer: Customer, number: int) -> HttpResponse:
    found = order_of(request.shop, customer, number) if number < 2**63 else None
    if found is None:
        raise NotFound
    context = {"order": found, "gateway": PROVIDERS.get(found.payment_method)}
    return render(request, "website/account/order.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@require_customer
def details(request: Request, customer: Customer) -> HttpResponse:
    """Save name and phone. Email address and password have separate forms on this page."""
    form = DetailsForm(
        _post_data(request), country=request.shop.country, initial={"name": customer.name, "phone": customer.phone}
    )
    if form.is_valid():
        actions.update_customer(shop=request.shop, customer_id=customer.pk, now=request.now, changes=form.cleaned_data)
        messages.success(request, _("Your details have been saved."))
        return SeeOther(reverse("website:account_details"))
    return _details_page(request, customer, details_form=form)


@sensitive_post_parameters("password")
@posted_from("website:account_details")
@require_customer
def change_email(request: Request, customer: Customer) -> HttpResponse:
    """Email a confirmation link to the new address. The old one stays valid until the customer follows the link."""
    form = ChangeEmailForm(request.POST, prefix="mail")
    if form.is_valid() and _check_password(request, customer, form, "password", form.cleaned_data["password"]):
        try:
            _request_email_change(request, customer, form.cleaned_data["email"])
        except TooManyTries as refusal:
            form.add_error(None, refusal.text)
            return _details_page(request, customer, email_form=form)
        return SeeOther(reverse("website:account_details"))
    return _details_page(request, customer, email_form=form)


@posted_from("website:account_details")
@require_customer
def pending_email(request: Request, customer: Customer) -> HttpResponse:
    """Send the email to the pending address again, or cancel the change."""
    if customer.pending_email is not None:
        is_withdrawn = request.POST.get("do") == "withdraw"
        try:
            _request_email_change(request, customer, customer.email if is_withdrawn else customer.pending_email)
        except TooManyTries as refusal:
            messages.error(request, refusal.text)
    return SeeOther(reverse("website:account_details"))


@sensitive_post_parameters("current", "password")
@sensitive_variables("form")
@posted_from("website:account_details")
@require_customer
def change_password(request: Request, customer: Customer) -> HttpResponse:
    """Set a new password, and sign all other browsers out."""
    form = ChangePasswordForm(request.POST, prefix="word")
    if form.is_valid() and _check_password(request, customer, form, "current", form.cleaned_data["current"]):
        try:
            customer = actions.change_password(
                shop=request.shop, customer=customer, password=form.cleaned_data["password"], now=request.now
            )
        except InvalidFields as refusal:
            form.add_error("password", (refusal.errors or {})["password"])
            return _details_page(request, customer, password_form=form)
        customers.start_session(request, customer)
        jobs.send_notice.enqueue(request.shop.pk, customer.email, "password_changed", language=request.language)
        messages.success(request, _("Your password has been changed. Other browsers have been signed out."))
        return SeeOther(url_via_shop(request, reverse("website:account_details")))
    return _details_page(request, customer, password_form=form)


@require_safe
@require_customer
def addresses(request: Request, customer: Customer) -> HttpResponse:
    found = queries.addresses_of(request.shop, customer)
    return render(request, "website/account/addresses.html", {"addresses": found})


@require_http_methods(["GET", "HEAD", "POST"])
@require_customer
def new_address(request: Request, customer: Customer) -> HttpResponse:
    initial = {"name": customer.name, "phone": customer.phone}
    form = AccountAddressForm(_post_data(request), home=request.shop.country, initial=initial)
    return _address_page(request, customer, None, form)


@require_http_methods(["GET", "HEAD", "POST"])
@require_customer
def change_address(request: Request, customer: Customer, address_id: int) -> HttpResponse:
    address = _find_address(request, customer, address_id)
    initial = queries.address_record(address)
    form = AccountAddressForm(_post_data(request), home=request.shop.country, initial=initial)
    return _address_page(request, customer, address, form)


@posted_from("website:addresses")
@require_customer
def delete_address(request: Request, customer: Customer, address_id: int) -> HttpResponse:
    address = _find_address(request, customer, address_id)
    actions.delete_address(shop=request.shop, customer=customer, address_id=address.pk, now=request.now)
    messages.success(request, _("Address deleted."))
    return SeeOther(reverse("website:addresses"))


@posted_from("website:addresses")
@require_customer
def prefer_address(request: Request, customer: Customer, address_id: int) -> HttpResponse:
    """Make this the default address, which checkout fills in."""
    address = _find_address(request, customer, address_id)
    actions.save_address(
        shop=request.shop, customer=customer, address_id=address.pk, now=request.now, fields={"is_default": True}
    )
    return SeeOther(reverse("website:addresses"))


def _request_email_change(request: Request, customer: Customer, given: str) -> None:
    """Request a change to this address, or cancel the pending change if it is the current one. Raises TooManyTries."""
    email = queries.normal_email(given)
    if email != customer.email:
        limits.count(request, "accounts", email)
        limits.count_mail(request, email)
    actions.request_email_change(shop=request.shop, customer=customer, email=email, now=request.now)
    if email == customer.email:
        messages.success(request, _("Your email address is still %(email)s.") % {"email": email})
    else:
        sentence = _("We have sent an email to %(email)s. Follow the link in it to confirm your new address.")
        messages.success(request, sentence % {"email": email})


def _post_data(request: Request) -> Any:
    return request.POST if request.method == "POST" else None


def _find_address(request: Request, customer: Customer, address_id: int) -> Address:
    found = next((row for row in queries.addresses_of(request.shop, customer) if row.pk == address_id), None)
    if found is None:
        raise NotFound
    return found


def _address_page(
    request: Request, customer: Customer, address: Address | None, form: AccountAddressForm
) -> HttpResponse:
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
            form.add_error(None, _first_error(refusal))
        else:
            messages.success(request, _("Address saved."))
            return SeeOther(reverse("website:addresses"))
    context = {"form": form, "address": address}
    return render(request, "website/account/address.html", context, status=422 if form.is_bound else 200)


def _details_page(request: Request, customer: Customer, **forms: Any) -> HttpResponse:
    """The page with its three forms. The submitted one, passed by its name in the context, shows its errors."""
    is_bound = any(form.is_bound for form in forms.values())
    context = {
        "customer": customer,
        "details_form": DetailsForm(initial={"name": customer.name, "phone": customer.phone}),
        "email_form": ChangeEmailForm(prefix="mail"),
        "password_form": ChangePasswordForm(prefix="word"),
    }
    return render(request, "website/account/details.html", context | forms, status=422 if is_bound else 200)


@sensitive_variables("password")
def _check_password(request: Request, customer: Customer, form: Any, field: str, password: str) -> bool:
    """Returns False, with an error in the form, if this is not the customer's password. Attempts are limited as at
    sign-in."""
    try:
        verified = customer_with_password(request, email=customer.email, password=password)
    except TooManyTries as refusal:
        form.add_error(None, refusal.text)
        return False
    if verified is None:
        form.add_error(field, _("The password is incorrect."))
        return False
    return True


def _first_error(refusal: Refusal) -> str:
    return next(iter((refusal.errors or {}).values()), [refusal.text])[0]
