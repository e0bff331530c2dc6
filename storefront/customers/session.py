"""Who is signed in: the session keeps, for each shop, which customer, under the mark that the customer had then.

A browser may visit several shops of one deployment under one session, so nothing is asked without the shop. A new
password gives the customer a new mark, and so ends every session but the one that it is chosen in.
"""

from storefront.customers.models import Customer
from storefront.shops.request import Request

_CUSTOMERS = "customers"
_REMEMBERED = "_customer"


def customer_of(request: Request) -> Customer | None:
    """The signed-in customer of this shop, read once a request; None for a visitor."""
    if not hasattr(request, _REMEMBERED):
        setattr(request, _REMEMBERED, _signed_in(request))
    return getattr(request, _REMEMBERED)


def enter(request: Request, customer: Customer) -> None:
    """Let the customer in, under a session key that nobody can have known before."""
    request.session.cycle_key()
    kept = request.session.get(_CUSTOMERS, {})
    request.session[_CUSTOMERS] = {
        **kept,
        str(customer.shop_id): {"id": customer.pk, "mark": str(customer.session_mark)},
    }
    setattr(request, _REMEMBERED, customer)


def leave(request: Request) -> None:
    """Forget the customer of this shop, and the session key with them."""
    kept = request.session.get(_CUSTOMERS, {})
    request.session[_CUSTOMERS] = {shop: entry for shop, entry in kept.items() if shop != str(request.shop.pk)}
    request.session.cycle_key()
    setattr(request, _REMEMBERED, None)


def _signed_in(request: Request) -> Customer | None:
    entry = request.session.get(_CUSTOMERS, {}).get(str(request.shop.pk))
    if not entry:
        return None
    found = Customer.objects.filter(shop=request.shop, pk=entry["id"], session_mark=entry["mark"])
    return found.select_related("group").first()
