"""The owner of a checkout: a secret that the session stores for each shop. Without it nobody can read the checkout, not
even another device with the same basket (R-LINK-15)."""

from uuid import UUID, uuid4

from storefront.customers.session import customer_of
from storefront.shops.request import Request

_CHECKOUTS = "checkouts"


def owner_of(request: Request) -> UUID | None:
    """The owner secret of this session in this shop; None if it has none.

    The secret is valid only for the customer, or the visitor, for whom it was created: after a sign-in or sign-out, the
    checkout starts empty.
    """
    stored = request.session.get(_CHECKOUTS, {}).get(str(request.shop.pk))
    return UUID(stored["owner"]) if stored and stored["customer"] == _customer_id(request) else None


def ensure_owner(request: Request) -> UUID:
    """The owner secret, created if there is none."""
    owner = owner_of(request)
    if owner is None:
        owner = uuid4()
        stored = {"owner": str(owner), "customer": _customer_id(request)}
        request.session[_CHECKOUTS] = {**request.session.get(_CHECKOUTS, {}), str(request.shop.pk): stored}
    return owner


def _customer_id(request: Request) -> int | None:
    customer = customer_of(request)
    return customer.pk if customer else None
