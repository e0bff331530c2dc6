"""The pages between pressing the pay button and the order: the provider's step, and the return page.

Both belong to the session that pressed the button. Other sessions, also of the same shopper, only see that the payment
exists; the order's confirmation is mailed.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from storefront.checkout.actions import Pressed
from storefront.checkout.owner import owner_of
from storefront.kit.api.http import SeeOther
from storefront.payments.asking import ask, claim_question, continue_payment, due_call, end_payment
from storefront.payments.frozen import thaw_sale
from storefront.payments.models import Payment
from storefront.payments.providers.base import ClientStep, Provider, Redirect, failure_words
from storefront.payments.providers.registry import PROVIDERS
from storefront.payments.rules import SECURED, UNDECIDED, Call, State
from storefront.shops.places import page_url
from storefront.shops.private_pages import private_page
from storefront.shops.request import Request

REFRESH_SECONDS = 5


def for_its_payer(page: Callable[[Request, Payment], HttpResponse]) -> Callable[[Request, UUID], HttpResponse]:
    """Decorates a page of one payment: other sessions than the payer's see a page without data."""

    @wraps(page)
    def guarded(request: Request, public_id: UUID) -> HttpResponse:
        payments = Payment.objects.filter(shop=request.shop, public_id=public_id)
        payment = payments.select_related("draft", "order").first()
        if payment is None or payment.draft is None:
            raise Http404
        owner = owner_of(request)
        if owner is None or payment.draft.owner != owner:
            return render(request, "checkout/payment_elsewhere.html")
        return page(request, payment)

    return guarded


@require_safe
@private_page
@for_its_payer
def payment_step(request: Request, payment: Payment) -> HttpResponse:
    """Show the provider's form on the shop's page, or redirect to the provider's own page."""
    if payment.state not in UNDECIDED:
        return _outcome(request, payment)
    payment, step = continue_payment(shop=request.shop, payment=payment, now=request.now)
    if not isinstance(step, ClientStep) or payment.state not in UNDECIDED:
        return next_page(Pressed(order=payment.order, payment=payment, step=step))
    assert payment.draft is not None
    allow_providers(request, [PROVIDERS[payment.gateway]])
    sale = thaw_sale(payment.draft.sale)
    context = {"payment": payment, "sale": sale, "step": step.data, "return_url": _return_url(payment)}
    return render(request, step.template, context)


@require_safe
@private_page
@for_its_payer
def payment_return(request: Request, payment: Payment) -> HttpResponse:
    """The return page: asks the provider, at most once in some seconds, and redirects. If the provider does not answer,
    the page shows that and reloads itself."""
    if request.META["QUERY_STRING"]:
        # Removes secrets that providers add to the URL, such as Stripe's client secret.
        return SeeOther(_return_url(payment))
    is_known = payment.state not in UNDECIDED
    is_settled = is_known and due_call(payment, request.now) != Call.CAPTURE
    if not is_settled and claim_question(shop=request.shop, payment=payment, now=request.now):
        if not is_known:
            asked = ask(shop=request.shop, payment=payment, now=request.now)
            payment, is_known = asked or payment, asked is not None
        if due_call(payment, request.now) == Call.CAPTURE:
            payment = ask(shop=request.shop, payment=payment, now=request.now) or payment
    return _outcome(request, payment, is_known=is_known)


@require_POST
@private_page
@for_its_payer
def choose_another(request: Request, payment: Payment) -> HttpResponse:
    """Ends a payment that is not finished, so that the shopper can choose another method. If the provider was too late,
    or does not answer, the payment goes on."""
    if payment.state in UNDECIDED:
        payment = end_payment(shop=request.shop, payment=payment, now=request.now) or payment
    if payment.state == State.CANCELLED:
        return SeeOther(reverse("checkout:payment"))
    return SeeOther(_return_url(payment))


def next_page(pressed: Pressed) -> HttpResponse:
    """The page to open after the pay button was pressed."""
    payment = pressed.payment
    if pressed.order is not None or payment is None:
        assert pressed.order is not None
        return SeeOther(reverse("checkout:confirmation", args=[pressed.order.public_id]))
    if payment.state in UNDECIDED and isinstance(pressed.step, Redirect):
        return SeeOther(pressed.step.url)
    if payment.state in UNDECIDED and isinstance(pressed.step, ClientStep):
        return SeeOther(reverse("checkout:payment_step", args=[payment.public_id]))
    return SeeOther(_return_url(payment))


def allow_providers(request: Request, providers: Iterable[Provider]) -> None:
    """Let this page load, and send forms to, what these providers need."""
    sources: dict[str, tuple[str, ...]] = {}
    permissions: dict[str, tuple[str, ...]] = {}
    for provider in providers:
        _add(sources, provider.csp)
        _add(permissions, provider.permissions)
    request.page_sources, request.page_permissions = sources, permissions  # type: ignore[attr-defined]


def _add(sources: dict[str, tuple[str, ...]], more: Mapping[str, tuple[str, ...]]) -> None:
    for name, origins in more.items():
        sources[name] = tuple(dict.fromkeys([*sources.get(name, ()), *origins]))


def _outcome(request: Request, payment: Payment, *, is_known: bool = True) -> HttpResponse:
    """The page for the state of the payment. `is_known` is False if the provider did not answer."""
    if payment.order is not None:
        return SeeOther(reverse("checkout:confirmation", args=[payment.order.public_id]))
    if payment.state in SECURED:
        # The order could no longer be placed; the money goes back.
        return render(request, "checkout/payment_late.html", {"payment": payment})
    failure = failure_words(payment.failure)
    if payment.state == State.CANCELLED:
        messages.error(request, failure or _("The payment was not completed. Nothing was charged."))
        return SeeOther(page_url(request, "checkout:payment"))
    is_open = is_known and payment.state == State.OPEN and not payment.alert
    context = {"payment": payment, "failure": failure, "is_open": is_open, "refresh": REFRESH_SECONDS}
    return render(request, "checkout/payment_checked.html", context)


def _return_url(payment: Payment) -> str:
    return reverse("checkout:payment_return", args=[payment.public_id])
