"""Asking for a mail when something is back in stock, confirming it, and stopping it."""

from typing import Any

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _

from storefront.catalogue.rules import full_name
from storefront.customers import limits
from storefront.customers.session import customer_of
from storefront.kit.api.http import SeeOther, pop_query_string
from storefront.kit.refusals import InvalidFields, NotFound, Refusal
from storefront.listing import queries as listing_queries
from storefront.shops.places import SECURE, page_url
from storefront.shops.request import Request
from storefront.shops.throttle import TooManyTries
from storefront.stock_alerts import actions, links
from storefront.website.details import product_detail
from storefront.website.pages import form_page, product_page


@form_page
def ask(request: Request) -> HttpResponse:
    """Request a stock alert for a product or a variant. The response does not reveal whether the address is known.

    Where there is a secure host, the form is there alone: apps' scripts read the forms of the shop's own host.
    """
    shop, now = request.shop, request.now
    given = request.POST if request.method == "POST" else request.GET
    product, variant = (given.get(name, "") for name in ("product", "variant"))
    is_id, language = product.isascii() and product.isdigit(), request.language
    record = listing_queries.product_record(shop, product, now=now, language=language) if is_id else None
    if record is None:
        messages.error(request, _("This product is no longer available."))
        return redirect(page_url(request, "website:home"))
    if request.method != "POST":
        return _ask_page(request, record)
    email = request.POST.get("email", "").strip()
    try:
        validate_email(email)
        limits.count(request, "stock_alerts")
        limits.count_mail(request, email)
        actions.ask_for_alert(
            shop=shop,
            product_id=record["id"],
            variant_id=int(variant) if variant.isascii() and variant.isdigit() and len(variant) < 16 else None,
            email=email,
            now=now,
        )
    except (ValidationError, TooManyTries, NotFound, InvalidFields) as refusal:
        return _refused(request, record, email, refusal)
    sentence = _("We have written to %(email)s. Please follow the link in that email to confirm it.") % {"email": email}
    if request.place == SECURE:
        return _page(request, _("Please confirm"), sentence)
    messages.success(request, sentence)
    query = f"?variant={variant}" if variant.isascii() and variant.isdigit() else ""
    return SeeOther(reverse("website:product", args=[record["slug"]]) + query)


def _refused(request: Request, record: dict[str, Any], email: str, refusal: ValidationError | Refusal) -> HttpResponse:
    """The product's page again, with the entered address and the error."""
    message, status = _("Please enter a valid email address, such as ada@example.com."), 422
    if isinstance(refusal, NotFound):
        message, status = _("This choice is no longer available."), 404
    elif isinstance(refusal, InvalidFields):
        message = next(iter((refusal.errors or {}).values()))[0]
    elif isinstance(refusal, TooManyTries):
        message, status = refusal.text, refusal.status
    shown: dict[str, Any] = {"status": status, "alert_error": message, "alert_email": email[:254]}
    if request.place == SECURE:
        return _ask_page(request, record, **shown)
    return product_page(request, record, given={"variant": request.POST.get("variant", "")}, **shown)


def _ask_page(request: Request, record: dict[str, Any], *, status: int = 200, **more: Any) -> HttpResponse:
    given = request.POST if request.method == "POST" else request.GET
    chosen = {"variant": given.get("variant", "")}
    detail = product_detail(request.shop, record, chosen, customer_of(request), request.now)
    variant = detail.choice.variant
    name = full_name(record["name"], variant["name"] if variant else None)
    context = {"product": record, "detail": detail, "name": name, "is_asking": True, **more}
    return render(request, "website/stock_alert_ask.html", context, status=status)


@form_page
def confirm(request: Request) -> HttpResponse:
    """The page of the link that confirms an address. Only its button confirms: mail scanners follow links, too."""
    action = request.get_full_path()
    query = pop_query_string(request)
    try:
        alert = links.alert_of_link(shop=request.shop, query=query, now=request.now)
    except links.AlertLinkRefused as refusal:
        return _page(request, _("This link does not work"), refusal.text, status=refusal.status)
    name = full_name(alert.product.name, alert.variant.name if alert.variant else None)
    what = {"email": alert.email, "product": name}
    sentence = _("We will write to %(email)s once %(product)s is back in stock.") % what
    if request.method == "POST":
        actions.confirm_alert(shop=request.shop, alert=alert, now=request.now)
        return _page(request, _("Thank you"), sentence)
    return _page(
        request, _("Tell me when it is back"), sentence, button=_("Tell me"), action=action, secret_query=query
    )


@form_page
def stop(request: Request) -> HttpResponse:
    """The page of the link that deletes all alerts of an address."""
    action = request.get_full_path()
    query = pop_query_string(request)
    try:
        email = links.email_of_link(shop=request.shop, query=query)
    except links.AlertLinkRefused as refusal:
        return _page(request, _("This link does not work"), refusal.text, status=refusal.status)
    if request.method == "POST":
        actions.stop_alerts(shop=request.shop, email=email)
        sentence = _("We will no longer write to %(email)s about stock, and have deleted your requests.") % {
            "email": email
        }
        return _page(request, _("Done"), sentence)
    sentence = _("Stop all emails from us to %(email)s about products that are back in stock?") % {"email": email}
    return _page(
        request, _("Stop these emails"), sentence, button=_("Stop these emails"), action=action, secret_query=query
    )


def _page(request: Request, title: str, sentence: str, *, status: int = 200, **more: str) -> HttpResponse:
    """A page about stock alerts; `more`: its `button`, the `action` of that, and the link's `secret_query`."""
    return render(
        request, "website/stock_alert_link.html", {"title": title, "sentence": sentence, **more}, status=status
    )
