"""The visitor's basket. A signed-in customer has one cart on all devices; for other visitors, the session stores the
public id of a cart for each shop."""

from uuid import UUID

from storefront.carts import actions, merging, queries
from storefront.carts.models import Cart
from storefront.customers import session as customers
from storefront.customers.actions import remember_language
from storefront.customers.models import Customer
from storefront.customers.session import customer_of
from storefront.shops.request import Request

_BASKETS = "baskets"


def basket_of(request: Request) -> Cart | None:
    """The visitor's live basket in this shop; None if there is none or if it has expired."""
    customer = customer_of(request)
    if customer is not None:
        return queries.cart_of_customer(request.shop, customer, request.now)
    return browser_basket(request)


def basket_to_add_to(request: Request) -> Cart | None:
    """The basket to add a line to. A customer's is created if needed. For a visitor without one it is None: `add_line`
    creates the cart."""
    customer = customer_of(request)
    if customer is not None:
        return actions.open_customer_cart(shop=request.shop, customer=customer, now=request.now)
    return browser_basket(request)


def browser_basket(request: Request) -> Cart | None:
    """The basket that belongs to the session, and neither to a customer nor to an integration."""
    public_id = request.session.get(_BASKETS, {}).get(str(request.shop.pk))
    found = queries.cart_by_public_id(request.shop, public_id, request.now) if public_id else None
    is_own = found is not None and found.customer_id is None and found.token_digest is None
    return found if is_own else None


def open_basket(request: Request, public_id: UUID) -> Cart:
    """The basket to copy lines into. A visitor without one gets a basket with this id; concurrent requests share it."""
    basket = basket_to_add_to(request)
    if basket is None:
        basket = actions.open_basket(shop=request.shop, public_id=public_id, now=request.now)
        remember_basket(request, basket)
    return basket


def adopt_basket(request: Request, public_id: str) -> None:
    """Merge the basket that this browser has at the shop's other place with the one that it has here.

    Ignores a customer's basket and an integration's cart, which the holder of its token can read and change.
    """
    shop, now = request.shop, request.now
    arriving = queries.cart_by_public_id(shop, public_id, now)
    if arriving is None or arriving.customer_id is not None or arriving.token_digest is not None:
        return
    own = basket_to_add_to(request)
    if own is None or own.pk == arriving.pk:
        remember_basket(request, arriving)
    elif own.customer_id is not None:
        merging.merge_carts(shop=shop, source=arriving, target=own, now=now)
    else:
        # Keep the arriving basket: the other place knows it already.
        remember_basket(request, merging.merge_carts(shop=shop, source=own, target=arriving, now=now))


def remember_basket(request: Request, cart: Cart) -> None:
    """Store this cart in the session as the visitor's basket in its shop.

    Does nothing for a customer's basket, which is found by the customer, and for an integration's cart, which the
    holder of its token can read and change.
    """
    baskets = request.session.get(_BASKETS, {})
    if cart.customer_id is None and cart.token_digest is None and baskets.get(str(cart.shop_id)) != str(cart.public_id):
        request.session[_BASKETS] = {**baskets, str(cart.shop_id): str(cart.public_id)}


def sign_in(request: Request, customer: Customer) -> None:
    """Sign the customer in and merge the browser's basket into theirs.

    Merging moves lines, so of two concurrent sign-ins the second finds nothing to move.
    """
    brought = browser_basket(request)
    customers.start_session(request, customer)
    remember_language(shop=request.shop, customer_id=customer.pk, language=request.language)
    _forget_basket(request)
    if brought is not None:
        own = actions.open_customer_cart(shop=request.shop, customer=customer, now=request.now)
        merging.merge_carts(shop=request.shop, source=brought, target=own, now=request.now)


def sign_out(request: Request) -> None:
    """Sign the customer out. The browser has no basket then; the customer's does not change."""
    customers.end_session(request)
    _forget_basket(request)


def _forget_basket(request: Request) -> None:
    baskets = request.session.get(_BASKETS, {})
    if str(request.shop.pk) in baskets:
        request.session[_BASKETS] = {shop: basket for shop, basket in baskets.items() if shop != str(request.shop.pk)}
