"""Pages to view, fill and change the visitor's basket. The forms work without JavaScript; htmx avoids page reloads."""

from decimal import Decimal
from functools import partial
from typing import Any
from urllib.parse import quote, urlencode

from django.contrib import messages
from django.http import Http404, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from storefront.carts import actions
from storefront.carts import queries as carts
from storefront.carts.adding import ProductUnavailable, VariantRequired
from storefront.carts.checking import LineCheck
from storefront.carts.code_entry import change_codes, refused_code
from storefront.carts.gift_card_lines import ENTERED
from storefront.carts.models import CartLine
from storefront.carts.session import basket_of, basket_to_add_to, remember_basket
from storefront.carts.translated_lines import lines_in
from storefront.catalogue.models import RelatedProduct
from storefront.catalogue.stock import InsufficientStock
from storefront.checkout.link import way_back_of_basket
from storefront.customers import limits
from storefront.customers.session import customer_of
from storefront.kit import money
from storefront.kit.api.http import SeeOther
from storefront.kit.refusals import InvalidFields, Refusal
from storefront.listing import queries as listing_queries
from storefront.payments.drafts import held_stock
from storefront.pricing.queries import tax_terms
from storefront.shops.places import SHOP, page_url
from storefront.shops.request import Request
from storefront.website import choices, pictures, queries
from storefront.website.cards import ProductCard, product_cards
from storefront.website.delivery_estimates import estimate, remember_place, remembered_place
from storefront.website.details import product_detail, takes_text
from storefront.website.pages import RELATED_PRODUCTS, form_page, posted_page, product_page, require_shop
from storefront.website.pictures import Picture

# Form fields that the URL of a chosen variant keeps, besides axes and options. None of them is free text.
_SHOWN = ("variant", "qty", "damaged", "custom_price", "send_on")


@require_safe
@never_cache
@require_shop
def basket(request: Request) -> HttpResponse:
    return render(request, "website/basket.html", _basket_context(request))


@posted_page
def add(request: Request) -> HttpResponse:
    """Add a product to the basket. A refusal shows the product page again, with the visitor's input and the error."""
    record = _find_product(request, request.POST)
    if record is None:
        messages.error(request, _("This product is no longer available."))
        return _redirect_to(request, "website:basket")
    if "show" in request.POST:
        return _shown(record, request.POST)
    if request.place == SHOP and takes_text(record):
        return _redirect_to_texts(request, record)
    try:
        line = _add_posted(request, record)
    except Refusal as refusal:
        return _refusal_response(request, record, refusal)
    if _is_htmx(request):
        return render(request, "website/added.html", {"line": line, "swap": True})
    messages.success(request, _("%(name)s is in your basket.") % {"name": line.name_snapshot})
    return redirect("website:basket")


@form_page
def texts(request: Request) -> HttpResponse:
    """The last step before the basket, for what the shopper types: the texts of options, a gift card's recipient and
    message. Where there is a secure host, it is there alone: apps' scripts read the forms of the shop's own host."""
    given = request.POST if request.method == "POST" else request.GET
    record = _find_product(request, given)
    if record is None or not takes_text(record):
        raise Http404(_("This product is no longer available."))
    if request.method != "POST":
        return _texts_page(request, record, given)
    try:
        _add_posted(request, record)
    except Refusal as refusal:
        sentence = _refused_addition(request, record, refusal)
        return _texts_page(request, record, given, sentence=sentence, status=refusal.status)
    return SeeOther(page_url(request, "website:basket"))


def _add_posted(request: Request, record: dict[str, Any]) -> CartLine:
    """Add the posted choice to the basket. Raises Refusal."""
    variant, custom_fields = _variant(record, request.POST)
    cart = basket_to_add_to(request)
    if cart is None:
        limits.count(request, "baskets")
    added = actions.add_line(
        shop=request.shop,
        now=request.now,
        product_id=record["id"],
        qty=_qty(request.POST),
        cart=cart,
        variant_id=variant["id"] if variant else None,
        options=_options(record, request.POST),
        custom_fields=custom_fields,
        custom_price=_custom_price(record, request.POST),
        is_damaged=bool(request.POST.get("damaged")),
        gift_card=_gift_card(record, request.POST),
        with_token=False,
    )
    remember_basket(request, added.cart)
    return lines_in(request.shop, [added.line], request.language)[0]


def _redirect_to_texts(request: Request, record: dict[str, Any]) -> HttpResponse:
    query = urlencode({"product": record["id"], **_chosen(record, request.POST)})
    url = f"{page_url(request, 'website:texts')}{quote(f'?{query}')}"
    return HttpResponse(headers={"HX-Redirect": url}) if _is_htmx(request) else SeeOther(url)


def _texts_page(
    request: Request, record: dict[str, Any], given: QueryDict, *, sentence: str = "", status: int = 200
) -> HttpResponse:
    detail = product_detail(
        request.shop,
        record,
        {name: given.get(name, "") for name in given},
        customer_of(request),
        request.now,
        language=request.language,
    )
    context = {
        "product": detail.record,
        "detail": detail,
        "kept": [("product", record["id"]), *_chosen(record, given).items()],
        "sentence": sentence,
    }
    return render(request, "website/texts.html", context, status=status)


@posted_page
def update(request: Request) -> HttpResponse:
    """Change the quantity of a line; 0 removes it."""
    cart = basket_of(request)
    key = request.POST.get("key", "")[:80]
    if cart is not None:
        try:
            qty = _qty(request.POST)
            actions.change_line(shop=request.shop, now=request.now, key=key, qty=qty, cart=cart)
        except actions.LineNotFound:
            # The line was removed in another window.
            pass
        except Refusal as refusal:
            messages.error(request, _message(refusal))
    return _changed_basket(request)


@posted_page
def discount_codes(request: Request) -> HttpResponse:
    """Enter a discount code, or remove one."""
    cart = basket_of(request)
    refusal = change_codes(request, cart) if cart is not None else ""
    if not refusal:
        return _changed_basket(request)
    if request.place == SHOP:
        # The page of this host has no form for codes, since apps' scripts run on it.
        messages.error(request, refusal)
        return _changed_basket(request)
    context = _basket_context(request) | {"refused": refused_code(request, "code", refusal)}
    if _is_htmx(request):
        return render(request, "website/basket_lines.html", context | {"swap": True})
    return render(request, "website/basket.html", context, status=422)


@posted_page
def delivery(request: Request) -> HttpResponse:
    """Estimate the delivery for a country and postal code, which the session remembers."""
    given = request.POST.get("country", ""), request.POST.get("postal_code", "")
    # Without a basket there is nothing to estimate, and no session is started.
    if basket_of(request) is not None and not remember_place(request, *given):
        messages.error(request, _("We do not deliver to this country. Please choose another one."))
    return _changed_basket(request)


def _changed_basket(request: Request) -> HttpResponse:
    if not _is_htmx(request):
        return redirect("website:basket")
    return render(request, "website/basket_lines.html", _basket_context(request) | {"swap": True})


def _basket_context(request: Request) -> dict[str, Any]:
    """The basket at current prices, with the problems of its lines."""
    shop, cart = request.shop, basket_of(request)
    checks, lines = [], []
    if cart is not None:
        held = partial(held_stock, shop, cart)
        repriced = actions.reprice_cart(shop=shop, cart=cart, held=held, now=request.now)
        checks, lines = repriced.checks, repriced.lines
    terms, language = tax_terms(shop, is_net=carts.sees_net_prices(shop, cart)), request.language
    totals = carts.cart_totals(shop, lines, request.now, cart=cart, terms=terms, language=language) if lines else None
    entered, lines = lines, lines_in(shop, carts.shown_lines(lines, totals), language) if totals else []
    checked = {check.line.key: check for check in checks}
    slugs = dict(
        listing_queries.published_products(shop, request.now)
        .filter(pk__in={line.product_id for line in lines})
        .values_list("pk", "slug")
        if lines
        else ()
    )
    found = pictures.line_pictures(shop, [(line.product_id, line.image_snapshot) for line in lines])
    return {
        "cart_lines": lines,
        # Apps' scripts run on the page, so it shows nothing that was typed.
        "is_open": request.place == SHOP,
        "lines": [_line_context(line, slugs, found, checked) for line in lines],
        "related": _cross_sells(request, lines),
        "totals": totals,
        "delivery": totals
        and estimate(
            shop,
            entered,
            remembered_place(request),
            is_delivery_free=totals.is_delivery_free,
            part=totals.delivery_part,
            language=language,
        ),
        "way_back": way_back_of_basket(shop, cart, lines) if cart and lines else None,
        "blocked": any(not check.is_available for check in checks),
    }


def _cross_sells(request: Request, lines: list[CartLine]) -> list[ProductCard]:
    rows = queries.related_records(
        request.shop,
        {line.product_id for line in lines},
        RelatedProduct.Kind.CROSS_SELL,
        count=RELATED_PRODUCTS,
        now=request.now,
        language=request.language,
    )
    return product_cards(request.shop, rows, customer_of(request), request.now)


def _line_context(
    line: CartLine, slugs: dict[int, str], found: dict[Any, Picture | None], checked: dict[str, LineCheck]
) -> dict[str, Any]:
    return {
        "line": line,
        "slug": slugs.get(line.product_id),
        "picture": found[line.product_id, line.image_snapshot],
        "amount": line.price_snapshot * line.qty,
        "check": checked.get(line.key),
    }


def _shown(record: dict[str, Any], given: QueryDict) -> HttpResponse:
    """Redirect to the product page with the chosen variant, for visitors without JavaScript."""
    return SeeOther(f"{reverse('website:product', args=[record['slug']])}?{urlencode(_chosen(record, given))}")


def _chosen(record: dict[str, Any], given: QueryDict) -> dict[str, str]:
    """What was chosen, by form field, for a URL: without texts of options, and a gift card's message and recipient."""
    typed = {f"option-{option['id']}" for option in record["options"] if option["type"] == "text"}
    names = [name for name in given if name.startswith(("axis-", "option-")) or name in _SHOWN]
    return {name: given.get(name, "") for name in names if given.get(name) and name not in typed}


def _find_product(request: Request, given: QueryDict) -> dict[str, Any] | None:
    product_id = given.get("product", "")
    if not (product_id.isascii() and product_id.isdigit()):
        return None
    return listing_queries.product_record(request.shop, product_id, now=request.now, language=request.language)


def _variant(record: dict[str, Any], given: QueryDict) -> tuple[dict[str, Any] | None, list[dict[str, str]]]:
    if record["type"] != "variable":
        return None, []
    chosen = {name: given.get(name, "") for name in given}
    variant, custom_fields = choices.chosen_variant(record, chosen)
    names = choices.axis_names(record)
    missing = [name for number, name in enumerate(names) if not chosen.get(f"axis-{number}")]
    if variant is None and (missing or not names) and not chosen.get("variant"):
        raise VariantRequired(choices.wanted(missing))
    if variant is None:
        raise ProductUnavailable(_("This combination is not available. Please choose another one."))
    return variant, custom_fields


def _qty(given: QueryDict) -> int:
    text = given.get("qty", "1").strip()
    if not (text.isascii() and text.isdigit()) or len(text) > 6:
        errors = {"qty": [_("Enter a whole number.")]}
        raise InvalidFields(_("Enter the quantity as a whole number."), errors=errors)
    return int(text)


def _options(record: dict[str, Any], given: QueryDict) -> dict[str, str]:
    return {str(option["id"]): given.get(f"option-{option['id']}", "") for option in record["options"]}


def _custom_price(record: dict[str, Any], given: QueryDict) -> Decimal | None:
    """The price that the visitor entered, with a decimal comma or point; None without one. Raises InvalidFields."""
    text = given.get("custom_price", "").strip().replace(",", ".")
    if not record["allow_custom_price"] or not text:
        return None
    try:
        return money.parse(text)
    except ValueError:
        message = _("Enter an amount such as 12.50.")
        raise InvalidFields(message, errors={"custom_price": [message]}) from None


def _gift_card(record: dict[str, Any], given: QueryDict) -> dict[str, str] | None:
    """The recipient, message and date of a gift card."""
    return {name: given.get(name, "") for name in ENTERED} if record["is_gift_card"] else None


def _refusal_response(request: Request, record: dict[str, Any], refusal: Refusal) -> HttpResponse:
    message = _refused_addition(request, record, refusal)
    if _is_htmx(request):
        response = render(request, "website/refused.html", {"sentence": message}, status=refusal.status)
    else:
        given = {name: request.POST.get(name, "") for name in request.POST if name != "csrfmiddlewaretoken"}
        response = product_page(request, record, given=given, status=refusal.status, sentence=message)
    for name, value in refusal.headers.items():
        response[name] = value
    return response


def _refused_addition(request: Request, record: dict[str, Any], refusal: Refusal) -> str:
    """The message, and how many are in the basket already if there are not enough: the page shows all that are left."""
    cart = basket_of(request)
    if not isinstance(refusal, InsufficientStock) or cart is None:
        return _message(refusal)
    variant, _fields = _variant(record, request.POST)
    lines = carts.cart_lines(request.shop, cart)
    wanted = record["id"], variant["id"] if variant else None
    count = sum(line.qty for line in lines if (line.product_id, line.variant_id) == wanted)
    if not count:
        return _message(refusal)
    already = ngettext("%(count)s is in your basket already.", "%(count)s are in your basket already.", count)
    return f"{_message(refusal)} {already % {'count': count}}"


def _message(refusal: Refusal) -> str:
    """The refusal's own message, or else its first field error."""
    if type(refusal).message == refusal.text and refusal.errors:
        return next(iter(refusal.errors.values()))[0]
    return refusal.text


def _is_htmx(request: Request) -> bool:
    return request.headers.get("HX-Request") == "true"


def _redirect_to(request: Request, name: str) -> HttpResponse:
    """Redirect the browser. htmx needs a header, since it would load a redirect's target into the current page."""
    response = redirect(name)
    if _is_htmx(request):
        return HttpResponse(headers={"HX-Redirect": response["Location"]})
    return response
