"""The visitor's basket: a signed-in customer's own cart, on every device; else the cart that the session keeps the
public id of, for each shop."""

from storefront.carts import actions, queries
from storefront.carts.models import Cart
from storefront.customers import session as customers
from storefront.customers.models import Customer
from storefront.customers.session import customer_of
from storefront.shops.request import Request

_BASKETS = "baskets"


def basket_of(request: Request) -> Cart | None:
    """The visitor's live basket in this shop; None for a visitor who has none yet, or whose basket expired."""
    customer = customer_of(request)
    if customer is not None:
        return queries.cart_of_customer(request.shop, customer, request.now)
    return _basket_of_browser(request)


def basket_to_fill(request: Request) -> Cart | None:
    """The basket to put something into: a customer's is made where there is none, a visitor's first by the adding."""
    customer = customer_of(request)
    if customer is not None:
        return actions.open_customer_cart(shop=request.shop, customer=customer, now=request.now)
    return _basket_of_browser(request)


def keep_basket(request: Request, cart: Cart) -> None:
    """Make this cart the visitor's basket in its shop. A customer's is found without."""
    baskets = request.session.get(_BASKETS, {})
    if cart.customer_id is None and baskets.get(str(cart.shop_id)) != str(cart.public_id):
        request.session[_BASKETS] = {**baskets, str(cart.shop_id): str(cart.public_id)}


def sign_in(request: Request, customer: Customer) -> None:
    """Let the customer in, and put what the browser's basket holds into theirs.

    Merging moves lines, so of two sign-ins at once the second finds nothing left to move.
    """
    brought = _basket_of_browser(request)
    customers.enter(request, customer)
    _forget_basket(request)
    if brought is not None:
        own = actions.open_customer_cart(shop=request.shop, customer=customer, now=request.now)
        actions.merge_carts(shop=request.shop, source=brought, target=own, now=request.now)


def sign_out(request: Request) -> None:
    """Let the customer go. The browser's basket is empty then; the customer's stays as it is."""
    customers.leave(request)
    _forget_basket(request)


def _basket_of_browser(request: Request) -> Cart | None:
    public_id = request.session.get(_BASKETS, {}).get(str(request.shop.pk))
    found = queries.cart_by_public_id(request.shop, public_id, request.now) if public_id else None
    return found if found and found.customer_id is None else None


def _forget_basket(request: Request) -> None:
    baskets = request.session.get(_BASKETS, {})
    if str(request.shop.pk) in baskets:
        request.session[_BASKETS] = {shop: basket for shop, basket in baskets.items() if shop != str(request.shop.pk)}
