"""The shopper's way from a basket to an order: details, delivery, payment, confirmation."""

from collections.abc import Callable
from functools import wraps
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpResponse, HttpResponseRedirect, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from django.views.decorators.http import require_http_methods, require_safe

from storefront.carts.actions import LineChange, merge_carts, reprice_cart
from storefront.carts.models import Cart
from storefront.carts.session import basket_of, basket_to_fill, keep_basket
from storefront.catalogue.stock import InsufficientStock
from storefront.checkout import actions, queries
from storefront.checkout.forms import CardForm, DeliveryForm, Details, PaymentForm
from storefront.checkout.gateways import GATEWAYS, Card, Demo, PaymentDeclined, offered_gateways
from storefront.checkout.link import LinkRefused, cart_of_link
from storefront.checkout.models import Checkout
from storefront.checkout.queries import Quote
from storefront.customers.session import customer_of
from storefront.kit.countries import countries
from storefront.kit.format import format_money
from storefront.kit.refusals import Refusal
from storefront.orders.queries import order_by_public_id
from storefront.shops.request import Request

Page = Callable[..., HttpResponse]


class SeeOther(HttpResponseRedirect):
    """Go there with a GET, whatever came here."""

    status_code = 303


class ToBasket(Exception):
    """There is nothing to check out, or a line that cannot be bought: the shopper goes on from the basket."""


def private(page: Page) -> Page:
    """A page of one shopper: of a shop, kept by nobody, and telling no other site where it was."""

    @wraps(page)
    def answer(request: Request, *args: Any, **kwargs: Any) -> HttpResponse:
        if not request.shop:
            raise Http404
        try:
            response = page(request, *args, **kwargs)
        except ToBasket:
            response = SeeOther(reverse("website:basket"))
        response["Referrer-Policy"] = "no-referrer"
        response["Cache-Control"] = "no-store"
        return response

    return answer


@require_safe
@private
@sensitive_variables()
def resume(request: Request) -> HttpResponse:
    """Load the cart of a checkout link into the visitor's basket, and lead them away from the link at once."""
    query = take_query(request)
    try:
        cart = cart_of_link(shop=request.shop, query=query, now=request.now)
    except LinkRefused as refusal:
        return render(request, "checkout/link_refused.html", {"refusal": refusal}, status=refusal.status)
    # A program that only looks at the link, as previews do, moves nothing.
    if request.method == "GET":
        _load_into_basket(request, cart)
    return SeeOther(reverse("checkout:checkout"))


@require_http_methods(["GET", "HEAD", "POST"])
@private
def details(request: Request) -> HttpResponse:
    """Who buys, and where it goes."""
    cart, checkout, quote = _on_the_way(request)
    customer = customer_of(request)
    form = Details(
        request.POST if request.method == "POST" else None,
        checkout=checkout or (queries.begun_checkout(request.shop, customer) if customer else None),
        needs_delivery=quote.needs_delivery,
        delivery_countries=queries.delivery_countries(request.shop),
        countries=countries(),
        home=request.shop.country,
    )
    if request.method != "POST":
        return _page(request, "details", quote, form=form, customer=customer)
    if not form.is_valid():
        return _page(request, "details", quote, form=form, customer=customer, has_errors=True)
    actions.save_details(shop=request.shop, cart=cart, now=request.now, **form.cleaned())
    return SeeOther(reverse("checkout:delivery" if quote.needs_delivery else "checkout:payment"))


@require_http_methods(["GET", "HEAD", "POST"])
@private
def delivery(request: Request) -> HttpResponse:
    """How it gets there, and what that costs."""
    cart, checkout, quote = _on_the_way(request)
    if checkout is None or not _has_address(checkout, quote):
        return SeeOther(reverse("checkout:checkout"))
    if not quote.needs_delivery:
        return SeeOther(reverse("checkout:payment"))
    chosen = {"delivery": DeliveryForm.name_of(quote.delivery)} if quote.delivery else None
    submitted = request.POST if request.method == "POST" else None
    form = DeliveryForm(submitted, deliveries=quote.deliveries, initial=chosen)
    if submitted is None or not form.is_valid():
        ways = [(DeliveryForm.name_of(way), way) for way in quote.deliveries]
        return _page(request, "delivery", quote, form=form, ways=ways, checkout=checkout, has_errors=form.is_bound)
    actions.choose_delivery(shop=request.shop, cart=cart, checkout=checkout, rate_id=form.rate_id, now=request.now)
    return SeeOther(reverse("checkout:payment"))


@sensitive_post_parameters("number", "expiry", "cvc")
@require_http_methods(["GET", "HEAD", "POST"])
@private
def payment(request: Request) -> HttpResponse:
    """Everything once more, how to pay, and the button that places the order."""
    if request.method != "POST":
        return _pay(request)
    placed = _placed_before(request)
    if placed:
        return placed
    try:
        answer = _pay(request)
    except ToBasket:
        answer = SeeOther(reverse("website:basket"))
    # Another click or tab may have placed it while this one was looked at: the basket is then empty because it is sold.
    return _placed_before(request) or answer


@require_safe
@private
def confirmation(request: Request, public_id: UUID) -> HttpResponse:
    """What was ordered, for whoever knows the order's unguessable address."""
    order = order_by_public_id(request.shop, public_id)
    if order is None:
        raise Http404
    gateway = GATEWAYS.get(order.payment_method)
    return render(request, "checkout/confirmation.html", {"order": order, "gateway": gateway})


def take_query(request: Request) -> str:
    """The query string, taken out of the request so that no log or error report finds it there later."""
    query = request.META.get("QUERY_STRING", "")
    request.META["QUERY_STRING"] = ""
    for name in ("REQUEST_URI", "RAW_URI"):
        if name in request.META:
            request.META[name] = request.META[name].partition("?")[0]
    request.GET = QueryDict()
    return query


def _load_into_basket(request: Request, cart: Cart) -> None:
    """Merge into the basket that the visitor has, or make the cart their basket.

    Merging moves lines and so leaves nothing to move a second time. It goes into the visitor's own basket: whoever
    built the cart holds a token for it, and must not read there what the visitor had chosen before.
    """
    basket = basket_to_fill(request)
    if basket is not None:
        cart = merge_carts(shop=request.shop, source=cart, target=basket, now=request.now)
    keep_basket(request, cart)


def _on_the_way(request: Request) -> tuple[Cart, Checkout | None, Quote]:
    """The visitor's basket at today's prices, and how far its checkout is. Raises ToBasket."""
    cart = basket_of(request)
    if cart is None:
        raise ToBasket
    _tell(request, reprice_cart(shop=request.shop, cart=cart, now=request.now))
    checkout = queries.open_checkout(request.shop, cart)
    quote = queries.quote(request.shop, cart, checkout, request.now)
    if not quote.lines:
        raise ToBasket
    return cart, checkout, quote


def _tell(request: Request, changes: list[LineChange]) -> None:
    """Say what changed since the lines were added. Raises ToBasket for a line that cannot be bought any more."""
    currency = request.shop.currency
    for change in changes:
        name = change.line.name_snapshot
        if change.is_unavailable:
            messages.error(request, f"{name} is no longer available. Please take it out of your basket to go on.")
        else:
            old, new = format_money(change.old_price, currency), format_money(change.line.price_snapshot, currency)
            messages.warning(request, f"The price of {name} changed from {old} to {new}.")
    if any(change.is_unavailable for change in changes):
        raise ToBasket


def _has_address(checkout: Checkout, quote: Quote) -> bool:
    return queries.tax_address(checkout, needs_delivery=quote.needs_delivery) is not None


def _placed_before(request: Request) -> HttpResponse | None:
    """The way to the order where this very form was sent before, as by a double click, a reload or a second tab."""
    cart = basket_of(request)
    try:
        public_id = UUID(request.POST.get("checkout", ""))
    except ValueError:
        return None
    found = queries.checkout_of_cart(request.shop, cart, public_id) if cart else None
    return _to_confirmation(found.order.public_id) if found and found.order else None


def _pay(request: Request) -> HttpResponse:
    _, checkout, quote = _on_the_way(request)
    if checkout is None or not _has_address(checkout, quote):
        return SeeOther(reverse("checkout:checkout"))
    if not quote.is_deliverable:
        return SeeOther(reverse("checkout:delivery"))
    if request.method == "POST":
        return _place(request, checkout, quote)
    return _payment_page(request, checkout, quote, *_payment_forms(request, quote))


def _payment_forms(request: Request, quote: Quote) -> tuple[PaymentForm, CardForm]:
    gateways = offered_gateways(request.shop)
    submitted = request.POST if request.method == "POST" else None
    form = PaymentForm(
        submitted,
        gateways=gateways,
        is_free=not quote.totals.total,
        initial={"method": gateways[0].name if gateways else ""},
    )
    chosen = GATEWAYS.get(request.POST.get("method", ""))
    needs_card = chosen is not None and chosen.takes_card and bool(quote.totals.total)
    return form, CardForm(submitted if needs_card else None, now=request.now)


@sensitive_variables("card_form", "card")
def _place(request: Request, checkout: Checkout, quote: Quote) -> HttpResponse:
    form, card_form = _payment_forms(request, quote)
    # Both are asked, so that everything that is wrong is said at once.
    if not all([form.is_valid(), card_form.is_valid() or not card_form.is_bound]):
        return _payment_page(request, checkout, quote, form, card_form, has_errors=True)
    card: Card | None = card_form.card if card_form.is_bound else None
    try:
        order = actions.pay_and_place(
            shop=request.shop,
            checkout=checkout,
            gateway=GATEWAYS[form.cleaned_data["method"]] if quote.totals.total else None,
            card=card,
            agreed_total=form.cleaned_data["total"],
            shopper_note=form.cleaned_data["note"],
            now=request.now,
        )
    except Refusal as refusal:
        # Prices may have moved meanwhile; the page that says so shows what holds now.
        _, checkout_now, quote = _on_the_way(request)
        return _payment_page(request, checkout_now or checkout, quote, form, card_form, refusal=refusal)
    return _to_confirmation(order.public_id)


def _to_confirmation(public_id: UUID) -> HttpResponse:
    return SeeOther(reverse("checkout:confirmation", args=[public_id]))


def _payment_page(
    request: Request,
    checkout: Checkout,
    quote: Quote,
    form: PaymentForm,
    card_form: CardForm,
    *,
    refusal: Refusal | None = None,
    has_errors: bool = False,
) -> HttpResponse:
    card_form.forget()
    return _page(
        request,
        "payment",
        quote,
        status=refusal.status if refusal else 200,
        has_errors=has_errors,
        form=form,
        card_form=card_form,
        checkout=checkout,
        billing_address=queries.billing_address(checkout),
        gateways=offered_gateways(request.shop),
        refusal=refusal,
        is_declined=isinstance(refusal, PaymentDeclined),
        is_short=isinstance(refusal, InsufficientStock),
        test_cards={Demo.PAYS: "pays", **dict(zip(Demo.DECLINES, ("is declined", "has no funds"), strict=True))},
    )


def _page(
    request: Request, step: str, quote: Quote, *, status: int = 200, has_errors: bool = False, **context: Any
) -> HttpResponse:
    names = {"details": "Your details", "delivery": "Delivery", "payment": "Payment"}
    if not quote.needs_delivery:
        del names["delivery"]
    context |= {
        "step": step,
        "steps": _marked(names, step),
        "quote": quote,
        "rows": [(line, line.price_snapshot * line.qty) for line in quote.lines],
        "has_errors": has_errors,
    }
    return render(request, f"checkout/{step}.html", context, status=422 if has_errors else status)


def _marked(names: dict[str, str], step: str) -> list[dict[str, Any]]:
    place = list(names).index(step)
    urls = {"details": "checkout:checkout", "delivery": "checkout:delivery"}
    return [
        {"name": label, "is_done": i < place, "is_current": i == place, "url": reverse(urls[name]) if i < place else ""}
        for i, (name, label) in enumerate(names.items())
    ]
