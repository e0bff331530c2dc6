"""The visitor's basket: seen, filled, changed. Each form works by itself; htmx only saves the page from reloading."""

from decimal import Decimal
from typing import Any

from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from storefront.carts import actions
from storefront.carts import queries as carts
from storefront.carts.models import Cart, CartLine
from storefront.carts.session import basket_of, basket_to_fill, keep_basket
from storefront.catalogue import queries as catalogue
from storefront.kit import money
from storefront.kit.refusals import InvalidFields, Refusal
from storefront.shops.request import Request
from storefront.website import details, pictures
from storefront.website.pages import of_a_shop, product_page


@require_safe
@never_cache
@of_a_shop
def basket(request: Request) -> HttpResponse:
    cart = basket_of(request)
    changes = actions.reprice_cart(shop=request.shop, cart=cart, now=request.now) if cart else []
    return render(request, "website/basket.html", _basket(request, cart, changes))


@require_POST
@never_cache
@of_a_shop
def add(request: Request) -> HttpResponse:
    """Put a product into the basket. A refusal shows the product again, with what was chosen and what is wrong."""
    record = _product(request)
    if record is None:
        messages.error(request, "This product is not available any more.")
        return _elsewhere(request, "website:basket")
    try:
        variant, left_open = _variant(record, request.POST)
        added = actions.add_line(
            shop=request.shop,
            now=request.now,
            product_id=record["id"],
            qty=_qty(request.POST),
            cart=basket_to_fill(request),
            variant_id=variant["id"] if variant else None,
            options=_options(record, request.POST),
            custom_fields=left_open,
            custom_price=_custom_price(record, request.POST),
            with_token=False,
        )
    except Refusal as refusal:
        return _refused(request, record, refusal)
    keep_basket(request, added.cart)
    if _is_htmx(request):
        context = {"line": added.line, "swap": True}
        return render(request, "website/added.html", context)
    messages.success(request, f"{added.line.name_snapshot} is in your basket.")
    return redirect("website:basket")


@require_POST
@never_cache
@of_a_shop
def update(request: Request) -> HttpResponse:
    """Give one line another quantity; 0 removes it."""
    cart = basket_of(request)
    key = request.POST.get("key", "")[:80]
    if cart is not None:
        try:
            qty = _qty(request.POST)
            actions.change_line(shop=request.shop, now=request.now, key=key, qty=qty, cart=cart)
        except actions.LineNotFound:
            # Removed in another window: what the visitor wants is so already, or is said by the basket itself.
            pass
        except Refusal as refusal:
            messages.error(request, _sentence(refusal))
    if not _is_htmx(request):
        return redirect("website:basket")
    return render(request, "website/basket_lines.html", _basket(request, cart, []) | {"swap": True})


def _basket(request: Request, cart: Cart | None, changes: list[actions.LineChange]) -> dict[str, Any]:
    shop = request.shop
    lines = carts.cart_lines(shop, cart) if cart else []
    changed = {change.line.key: change for change in changes}
    slugs = dict(
        catalogue.published_products(shop, request.now)
        .filter(pk__in={line.product_id for line in lines})
        .values_list("pk", "slug")
        if lines
        else ()
    )
    return {
        "lines": [_shown(request, line, slugs, changed) for line in lines],
        "totals": carts.cart_totals(shop, lines, request.now) if lines else None,
        "blocked": any(change.is_unavailable for change in changes),
    }


def _shown(
    request: Request, line: CartLine, slugs: dict[int, str], changed: dict[str, actions.LineChange]
) -> dict[str, Any]:
    return {
        "line": line,
        "slug": slugs.get(line.product_id),
        "picture": pictures.picture(request.shop, line.image_snapshot, pictures.SMALL),
        "amount": line.price_snapshot * line.qty,
        "change": changed.get(line.key),
    }


def _product(request: Request) -> dict[str, Any] | None:
    product_id = request.POST.get("product", "")
    if not (product_id.isascii() and product_id.isdigit()):
        return None
    return catalogue.product_record(request.shop, product_id, now=request.now)


def _variant(record: dict[str, Any], given: QueryDict) -> tuple[dict[str, Any] | None, list[dict[str, str]]]:
    if record["type"] != "variable":
        return None, []
    chosen = {name: given.get(name, "") for name in given}
    variant, left_open = details.chosen_variant(record, chosen)
    names = details.axis_names(record)
    missing = [name for number, name in enumerate(names) if not chosen.get(f"axis-{number}")]
    if variant is None and (missing or not names) and not chosen.get("variant"):
        raise actions.VariantRequired(f"Please choose {' and '.join(missing) or 'a variant'}.")
    if variant is None:
        raise actions.ProductUnavailable("This combination is not available. Please choose another one.")
    return variant, left_open


def _qty(given: QueryDict) -> int:
    text = given.get("qty", "1").strip()
    if not (text.isascii() and text.isdigit()) or len(text) > 6:
        raise InvalidFields("Please give the quantity as a whole number.", errors={"qty": ["Not a whole number."]})
    return int(text)


def _options(record: dict[str, Any], given: QueryDict) -> dict[str, str]:
    return {str(option["id"]): given.get(f"option-{option['id']}", "") for option in record["options"]}


def _custom_price(record: dict[str, Any], given: QueryDict) -> Decimal | None:
    """What the visitor offers, with a comma or a point. Raises InvalidFields."""
    text = given.get("custom_price", "").strip().replace(",", ".")
    if not record["allow_custom_price"] or not text:
        return None
    try:
        return money.parse(text)
    except ValueError:
        message = "Please give an amount such as 12.50."
        raise InvalidFields(message, errors={"custom_price": [message]}) from None


def _refused(request: Request, record: dict[str, Any], refusal: Refusal) -> HttpResponse:
    sentence = _sentence(refusal)
    if _is_htmx(request):
        return render(request, "website/refused.html", {"sentence": sentence}, status=422)
    given = {name: request.POST.get(name, "") for name in request.POST if name != "csrfmiddlewaretoken"}
    return product_page(request, record, given=given, status=422, sentence=sentence)


def _sentence(refusal: Refusal) -> str:
    """What to tell the visitor: the message, or the first thing that is wrong with a field."""
    if type(refusal).message == refusal.text and refusal.errors:
        return next(iter(refusal.errors.values()))[0]
    return refusal.text


def _is_htmx(request: Request) -> bool:
    return request.headers.get("HX-Request") == "true"


def _elsewhere(request: Request, name: str) -> HttpResponse:
    """Send the visitor on; htmx needs to be told, since it follows redirects by itself."""
    answer = redirect(name)
    if _is_htmx(request):
        return HttpResponse(headers={"HX-Redirect": answer["Location"]})
    return answer
