"""The checkout's pages: details, delivery, payment, confirmation."""

from collections.abc import Callable
from functools import partial, wraps
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from storefront.carts import merging
from storefront.carts.actions import reprice_cart
from storefront.carts.checking import LineCheck, price_change
from storefront.carts.code_entry import RefusedCode, change_codes, change_gift_cards, refused_code
from storefront.carts.models import Cart
from storefront.carts.session import basket_of
from storefront.catalogue.stock import InsufficientStock
from storefront.checkout import actions, queries
from storefront.checkout.forms import DeliveryForm, Details
from storefront.checkout.limits import order_limits
from storefront.checkout.link import way_back_from, way_back_of_basket
from storefront.checkout.link_pages import copy_followed_carts
from storefront.checkout.models import Checkout
from storefront.checkout.order_access import for_its_shopper
from storefront.checkout.order_summary import differences, seal, summarise, unseal
from storefront.checkout.owner import ensure_owner, owner_of
from storefront.checkout.payment_pages import allow_providers, next_page
from storefront.checkout.press_forms import PressForms
from storefront.checkout.queries import Quote
from storefront.checkout.vat_ids import UNAVAILABLE, checker_of, is_asked
from storefront.customers.session import customer_of
from storefront.kit import metrics
from storefront.kit.api.http import SeeOther
from storefront.kit.countries import countries
from storefront.kit.ids import as_id
from storefront.kit.refusals import Refusal
from storefront.orders.models import Order
from storefront.payments.asking import MethodUnavailable
from storefront.payments.drafts import held_stock, open_draft, payment_of
from storefront.payments.providers.base import PaymentDeclined
from storefront.payments.providers.registry import PROVIDERS
from storefront.shops.places import SECURE, page_url
from storefront.shops.private_pages import Page, private_page
from storefront.shops.request import Request


class ToBasket(Exception):
    """The basket is empty or has a line that cannot be bought as it is, so the shopper is redirected to the basket."""


class EmptyBasket(ToBasket):
    """The basket is empty."""


def redirects_to_basket(page: Page) -> Page:
    """Decorates a page of the checkout: ToBasket becomes a redirect to the basket."""

    @wraps(page)
    def redirecting(request: Request, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            return page(request, *args, **kwargs)
        except ToBasket:
            return _to_own_payment(request) or _to_basket(request)

    return redirecting


@require_http_methods(["GET", "HEAD", "POST"])
@private_page
@redirects_to_basket
def details(request: Request) -> HttpResponse:
    """Contact and addresses. A GET first copies the carts of followed checkout links into the basket."""
    if request.method == "GET":
        copy_followed_carts(request)
    cart, checkout, quote = _current_checkout(request)
    customer = customer_of(request)
    form = Details(
        request.POST if request.method == "POST" else None,
        checkout=checkout or (queries.prefilled_checkout(request.shop, customer) if customer else None),
        needs_delivery=quote.needs_delivery,
        ways=queries.ways_of_delivery(request.shop, request.language),
        countries=countries(),
        home=request.shop.country,
        check_vat_id=checker_of(request, checkout) if is_asked(request.shop) else None,
    )
    if request.method != "POST" or not form.is_valid():
        arrivals = merging.arrival_summaries(request.shop, cart, quote.lines)
        brought = [arrival for arrival in arrivals if arrival.was_merged or arrival.missing]
        has_errors = request.method == "POST"
        context: dict[str, Any] = {"form": form, "customer": customer, "brought": brought}
        return _page(request, "details", cart, quote, has_errors=has_errors, **context)
    owner = ensure_owner(request)
    saved = actions.save_details(shop=request.shop, cart=cart, owner=owner, now=request.now, **form.cleaned())
    if saved.vat_check and saved.vat_check["result"] == UNAVAILABLE:
        messages.warning(
            request,
            _("Your VAT ID could not be checked just now, so tax is charged. To try again, save your details again."),
        )
    return SeeOther(reverse("checkout:delivery" if form.is_shipped else "checkout:payment"))


@require_POST
@private_page
def undo(request: Request) -> HttpResponse:
    """Remove what a link brought from the basket. Does nothing if it was ordered or undone before."""
    cart, known = basket_of(request), as_id(request.POST.get("arrival", ""))
    if cart and known and merging.undo_arrival(shop=request.shop, cart=cart, arrival_id=known, now=request.now):
        messages.success(request, _("The items from the link were removed from your basket."))
    return SeeOther(reverse("checkout:checkout"))


@require_POST
@private_page
@redirects_to_basket
def discount_codes(request: Request) -> HttpResponse:
    """Enter a discount code, or remove one, and return to the payment page."""
    return _after_change(request, change_codes, "code")


@require_POST
@sensitive_post_parameters("gift_card")
@private_page
@redirects_to_basket
def gift_cards(request: Request) -> HttpResponse:
    """Enter a gift card, or take one out, and return to the payment page."""
    return _after_change(request, change_gift_cards, "gift_card")


def _after_change(request: Request, change: Callable[[Request, Cart], str], field: str) -> HttpResponse:
    """The payment page, with what was entered and why, if it was refused."""
    cart = basket_of(request)
    refusal = change(request, cart) if cart else ""
    return _pay(request, refused_code(request, field, refusal)) if refusal else SeeOther(reverse("checkout:payment"))


@require_http_methods(["GET", "HEAD", "POST"])
@private_page
@redirects_to_basket
def delivery(request: Request) -> HttpResponse:
    """The choice of a delivery method."""
    cart, checkout, quote = _current_checkout(request)
    if checkout is None or quote.address is None:
        return SeeOther(reverse("checkout:checkout"))
    if not quote.is_shipped:
        return SeeOther(reverse("checkout:payment"))
    chosen = {"delivery": DeliveryForm.value_of(quote.delivery)} if quote.delivery else None
    submitted = request.POST if request.method == "POST" else None
    form = DeliveryForm(submitted, deliveries=quote.deliveries, initial=chosen)
    if submitted is None or not form.is_valid():
        ways = [(DeliveryForm.value_of(each), each) for each in quote.deliveries]
        context: dict[str, Any] = {"form": form, "ways": ways, "checkout": checkout}
        return _page(request, "delivery", cart, quote, has_errors=form.is_bound, **context)
    actions.choose_delivery(
        shop=request.shop, checkout=checkout, offered=quote.deliveries, rate_id=form.rate_id, now=request.now
    )
    return SeeOther(reverse("checkout:payment"))


@sensitive_post_parameters("number", "expiry", "cvc")
@require_http_methods(["GET", "HEAD", "POST"])
@private_page
@redirects_to_basket
def payment(request: Request) -> HttpResponse:
    """The whole order for review, the payment method, and the button that places the order."""
    if request.method != "POST":
        return _pay(request)
    placed = _redirect_if_placed(request)
    if placed:
        return placed
    try:
        return _pay(request)
    except ToBasket as to_basket:
        # Another click or tab may have placed the order meanwhile, and emptied the basket by that; or be paying for the
        # last pieces.
        placed = _redirect_if_placed(request) or _to_own_payment(request)
        if not placed and isinstance(to_basket, EmptyBasket):
            messages.warning(
                request, _("Your basket is empty, so no order was placed. You may have placed it in another window.")
            )
        return placed or _to_basket(request)


@require_safe
@private_page
@for_its_shopper
def confirmation(request: Request, order: Order) -> HttpResponse:
    gateway = PROVIDERS.get(order.payment_method)
    context = {
        "order": order,
        "gateway": gateway,
        "way_back": way_back_from(order),
        # Does not reveal whether the order's address has an account, since anybody can enter any address.
        "offers_account": customer_of(request) is None and order.status != Order.Status.CANCELLED,
    }
    return render(request, "checkout/confirmation.html", context)


def _to_own_payment(request: Request) -> HttpResponse | None:
    """A redirect to the payment that this session has begun for its basket, if there is one. Its draft holds pieces
    that are sold out for everybody else."""
    cart = basket_of(request)
    draft = open_draft(request.shop, cart) if cart else None
    payment = payment_of(draft) if draft and draft.owner == owner_of(request) else None
    if payment is None:
        return None
    list(messages.get_messages(request))
    return SeeOther(reverse("checkout:payment_return", args=[payment.public_id]))


def _to_basket(request: Request) -> HttpResponse:
    if request.place == SECURE:
        # The basket's page is on the other host and shows what is wrong itself. Without this, the messages would appear
        # on a later page of this host.
        list(messages.get_messages(request))
    return SeeOther(page_url(request, "website:basket"))


def _current_checkout(request: Request, *, is_press: bool = False) -> tuple[Cart, Checkout | None, Quote]:
    """The visitor's basket at current prices, its open checkout if any, and the quote. Raises ToBasket.

    With `is_press`, changed prices and short lines are not reported, since the payment page itself names them."""
    cart = basket_of(request)
    if cart is None:
        raise EmptyBasket
    held = partial(held_stock, request.shop, cart)
    repriced = reprice_cart(shop=request.shop, cart=cart, held=held, now=request.now)
    _report_changes(request, repriced.checks, is_press=is_press)
    checkout = queries.open_checkout(request.shop, cart, owner_of(request))
    quote = queries.quote(request.shop, cart, checkout, request.now, request.language, lines=repriced.lines)
    if not quote.lines:
        for each in merging.arrival_summaries(request.shop, cart, []):
            for missed in each.missing:
                messages.warning(request, _("%(name)s is no longer available.") % {"name": missed["name"]})
        raise EmptyBasket
    return cart, checkout, quote


def _report_changes(request: Request, checks: list[LineCheck], *, is_press: bool) -> None:
    """Add messages about changes since the lines were added. Raises ToBasket if a line cannot be bought as it is."""
    currency, is_blocked = request.shop.currency, False
    for check in checks:
        if check.is_unavailable or (check.is_short and not is_press):
            is_blocked = True
            messages.error(request, f"{check.sentence} {_('Please change your basket to continue.')}")
        elif check.is_price_changed and not is_press:
            messages.warning(request, price_change(check, currency))
    if is_blocked:
        raise ToBasket


def _redirect_if_placed(request: Request) -> HttpResponse | None:
    """A redirect to the order if this form was submitted before, as by a double click, a reload or a second tab."""
    cart = basket_of(request)
    try:
        public_id = UUID(request.POST.get("checkout", ""))
    except ValueError:
        return None
    found = queries.checkout_of_cart(request.shop, cart, owner_of(request), public_id) if cart else None
    if found is None or found.order is None:
        return None
    return SeeOther(reverse("checkout:confirmation", args=[found.order.public_id]))


def _pay(request: Request, refused: RefusedCode | None = None) -> HttpResponse:
    is_press = request.method == "POST" and refused is None
    cart, checkout, quote = _current_checkout(request, is_press=is_press)
    if checkout is None or quote.address is None:
        return SeeOther(reverse("checkout:checkout"))
    if not quote.is_deliverable:
        return SeeOther(reverse("checkout:delivery"))
    if is_press:
        return _place(request, cart, checkout, quote)
    forms = PressForms(request, quote, is_press=False)
    return _payment_page(request, cart, checkout, quote, forms, has_errors=bool(refused), refused=refused)


def _place(request: Request, cart: Cart, checkout: Checkout, quote: Quote) -> HttpResponse:
    forms = PressForms(request, quote, is_press=True)
    agreed = unseal(request.POST.get("shown", ""), checkout)
    if agreed is None or agreed != summarise(request.shop, checkout, quote):
        return _payment_page(request, cart, checkout, quote, forms, refusal=actions.NotAsShown())
    if not forms.are_valid():
        return _payment_page(request, cart, checkout, quote, forms, has_errors=True)
    provider = forms.chosen
    try:
        with order_limits(request, checkout, provider) as place:
            pressed = actions.press_pay(
                shop=request.shop,
                checkout=checkout,
                quote=quote,
                provider=provider,
                given=forms.given,
                agreed=agreed,
                shopper_note=forms.choice.cleaned_data["note"],
                place=place,
                keeping=forms.keeping,
                now=request.now,
            )
    except Refusal as refusal:
        metrics.REFUSALS.labels(refusal.code).inc()
        # Anything may have changed meanwhile, so show the page with the current quote.
        cart, checkout_now, quote = _current_checkout(request, is_press=True)
        forms.follow(request.shop, quote)
        return _payment_page(request, cart, checkout_now or checkout, quote, forms, refusal=refusal)
    return next_page(pressed)


def _payment_page(
    request: Request,
    cart: Cart,
    checkout: Checkout,
    quote: Quote,
    forms: PressForms,
    *,
    refusal: Refusal | None = None,
    has_errors: bool = False,
    refused: RefusedCode | None = None,
) -> HttpResponse:
    forms.forget()
    is_declined = isinstance(refusal, PaymentDeclined | MethodUnavailable)
    allow_providers(request, forms.offered)
    shown = summarise(request.shop, checkout, quote)
    agreed = unseal(request.POST.get("shown", ""), checkout) if request.method == "POST" else None
    response = _page(
        request,
        "payment",
        cart,
        quote,
        status=refusal.status if refusal else 200,
        has_errors=has_errors,
        form=forms.choice,
        methods=forms.by_method,
        can_pay=bool(forms.offered) or not quote.totals.amount_due,
        amount=forms.amount,
        saved_methods=forms.shown_saved,
        saves=forms.saves,
        can_save=forms.customer is not None,
        checkout=checkout,
        billing_address=queries.billing_address(checkout),
        shown=seal(shown, checkout),
        changes=differences(agreed, shown) if agreed else [],
        refusal=refusal,
        is_declined=is_declined,
        declined_form=forms.focus_own() if is_declined else None,
        refused=refused,
        is_short=isinstance(refusal, InsufficientStock),
    )
    for name, value in (refusal.headers if refusal else {}).items():
        response[name] = value
    return response


def _page(
    request: Request,
    step: str,
    cart: Cart,
    quote: Quote,
    *,
    status: int = 200,
    has_errors: bool = False,
    **context: Any,
) -> HttpResponse:
    names = {"details": _("Your details"), "delivery": _("Delivery"), "payment": _("Payment")}
    if not quote.is_shipped:
        del names["delivery"]
    # The page's header shows the basket that was just read.
    request.shown_basket = cart  # type: ignore[attr-defined]
    context |= {
        "basket_pieces": sum(line.qty for line in quote.lines),
        "step": step,
        "steps": _steps(names, step),
        "quote": quote,
        "rows": [(line, line.price_snapshot * line.qty) for line in quote.lines],
        "has_errors": has_errors,
        "way_back": way_back_of_basket(request.shop, cart, quote.lines),
    }
    return render(request, f"checkout/{step}.html", context, status=422 if has_errors else status)


def _steps(names: dict[str, str], step: str) -> list[dict[str, Any]]:
    place = list(names).index(step)
    urls = {"details": "checkout:checkout", "delivery": "checkout:delivery"}
    return [
        {"name": label, "is_done": i < place, "is_current": i == place, "url": reverse(urls[name]) if i < place else ""}
        for i, (name, label) in enumerate(names.items())
    ]
