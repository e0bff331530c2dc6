"""The visitor's basket: the session keeps, for each shop, the public id of a cart."""

from django.http import HttpRequest

from storefront.carts import queries
from storefront.carts.models import Cart
from storefront.shops.request import Request

_BASKETS = "baskets"


def basket_of(request: Request) -> Cart | None:
    """The visitor's live basket in this shop; None for a visitor who has none yet, or whose basket expired."""
    public_id = request.session.get(_BASKETS, {}).get(str(request.shop.pk))
    return queries.cart_by_public_id(request.shop, public_id, request.now) if public_id else None


def keep_basket(request: HttpRequest, cart: Cart) -> None:
    """Make this cart the visitor's basket in its shop."""
    baskets = request.session.get(_BASKETS, {})
    if baskets.get(str(cart.shop_id)) != str(cart.public_id):
        request.session[_BASKETS] = {**baskets, str(cart.shop_id): str(cart.public_id)}
