"""Which customer is signed in. The session stores, per shop, the customer's id and the session mark at sign-in.

A browser may visit several shops of one deployment with one session, so each lookup is for one shop. A new password
gives the customer a new mark, which ends all sessions except the one in which it was chosen.
"""

from typing import Any

from storefront import audit
from storefront.customers.models import Customer
from storefront.shops.models import Shop
from storefront.shops.request import Request
from storefront.staff.staff_sessions import staff_session_of, update_session_key

_CUSTOMERS = "customers"
_REMEMBERED = "_customer"


def customer_of(request: Request) -> Customer | None:
    """The signed-in customer of this shop, read once per request; None for a visitor who is not signed in."""
    if not hasattr(request, _REMEMBERED):
        customer = _signed_in(request)
        setattr(request, _REMEMBERED, customer)
        audit.act_as(audit.Actor(audit.Kind.CUSTOMER, customer.pk if customer else None))
    return getattr(request, _REMEMBERED)


def start_session(request: Request, customer: Customer) -> None:
    """Sign the customer in, with a new session key, which nobody else can have known before."""
    _change_key(request)
    entries = request.session.get(_CUSTOMERS, {})
    request.session[_CUSTOMERS] = entries | {str(customer.shop_id): entry_of(customer)}
    setattr(request, _REMEMBERED, customer)


def end_session(request: Request) -> None:
    """Sign the customer of this shop out, and change the session key."""
    entries = request.session.get(_CUSTOMERS, {})
    # Without the check, a visitor who is not signed in would get a session.
    if str(request.shop.pk) in entries:
        request.session[_CUSTOMERS] = {shop: entry for shop, entry in entries.items() if shop != str(request.shop.pk)}
        _change_key(request)
    setattr(request, _REMEMBERED, None)


def entry_of(customer: Customer) -> dict[str, Any]:
    """Build the entry that a session stores for a customer: `id` and `mark`."""
    return {"id": customer.pk, "mark": str(customer.session_mark)}


def customer_of_entry(shop: Shop, entry: dict[str, Any] | None) -> Customer | None:
    """The customer of a session's entry; None if there is no entry, or a new password has ended the session."""
    if not entry:
        return None
    rows = Customer.objects.filter(shop=shop, pk=entry["id"], session_mark=entry["mark"])
    return rows.select_related("group").first()


def _change_key(request: Request) -> None:
    """Give the session a new key.

    If the admin is on the shop's own host, staff have the same session; `update_session_key` keeps them signed in.
    """
    row = staff_session_of(request)
    request.session.cycle_key()
    if row is not None:
        update_session_key(request, row)


def _signed_in(request: Request) -> Customer | None:
    return customer_of_entry(request.shop, request.session.get(_CUSTOMERS, {}).get(str(request.shop.pk)))
