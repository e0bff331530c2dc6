"""Links sent by mail, which prove that an e-mail address is somebody's own.

Threats: a link that was altered or made up must open nothing, so it is a signed URL (`kit.signing`) that names its
shop. One that was kept must not open anything later, so it ends after an hour, and at once when what it was sent for
is done: it holds a mark that a new password or a new e-mail address changes. One that a mail scanner follows must
change nothing, so following it only lets the browser that did choose a password, or agree to the new address.
"""

import hashlib
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import parse_qs, urlencode

from django.views.decorators.debug import sensitive_variables

from storefront.customers import queries
from storefront.customers.models import Customer
from storefront.kit.refusals import Refusal
from storefront.kit.signing import is_signed_url, sign_url
from storefront.shops.models import Shop

PATH = "/account/link"
LIFETIME = 3600
# The mark of an address that no customer has.
NOBODY = "new"


class LinkRefused(Refusal):
    """Not a link that the shop sent, or its hour is over, or it has done what it was sent for."""

    status, code = 403, "link_refused"
    message = "This link has expired, was used before, or is not complete."


@dataclass(frozen=True, slots=True)
class Proof:
    """What somebody who followed a link may do until it expires (Unix seconds): choose the password of whoever has
    this e-mail address or, where a customer is named, make it that customer's address."""

    email: str
    mark: str
    expires: int
    customer_id: int | None = None


def password_link(*, shop: Shop, email: str, now: datetime) -> str:
    """Lets its receiver choose a password, and so become a customer where nobody has the address yet."""
    customer = queries.customer_by_email(shop, email)
    return _link(shop, now, email=queries.normal_email(email), mark=mark_of(customer))


def email_link(*, shop: Shop, customer: Customer, email: str, now: datetime) -> str:
    """Lets its receiver make this address the customer's."""
    return _link(shop, now, email=queries.normal_email(email), mark=mark_of(customer), customer=customer.pk)


@sensitive_variables()
def proof_of_link(*, shop: Shop, query: str, now: datetime) -> Proof:
    """What a followed link proves. `query` is the query string exactly as it arrived. Raises LinkRefused."""
    if not is_signed_url(f"{shop.base_url}{PATH}?{query}"):
        raise LinkRefused
    # Only `_link` made this, so its parts are there and have their form.
    parts = {name: values[0] for name, values in parse_qs(query).items()}
    customer_id = int(parts["customer"]) if "customer" in parts else None
    proof = Proof(parts["email"], parts["mark"], int(parts["expires"]), customer_id)
    if not still_proves(shop=shop, proof=proof, now=now):
        raise LinkRefused
    return proof


def still_proves(*, shop: Shop, proof: Proof, now: datetime) -> bool:
    if proof.customer_id is None:
        customer = queries.customer_by_email(shop, proof.email)
    else:
        customer = queries.customer_by_id(shop, proof.customer_id)
    return proof.expires >= now.timestamp() and mark_of(customer) == proof.mark


def mark_of(customer: Customer | None) -> str:
    """Changes with the customer's password and with the e-mail address; tells nothing of either."""
    if customer is None:
        return NOBODY
    return hashlib.sha256(f"storefront.account-link:{customer.session_mark}:{customer.email}".encode()).hexdigest()[:32]


def _link(shop: Shop, now: datetime, **parts: str | int) -> str:
    query = urlencode(parts | {"expires": int(now.timestamp()) + LIFETIME})
    return sign_url(f"{shop.base_url}{PATH}?{query}")
