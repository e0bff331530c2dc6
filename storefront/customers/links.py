"""Emailed links, which prove that the person who follows them owns an email address.

Threats: a forged or altered link must have no effect, so a link is a signed URL (`kit.signing`) that names its shop. An
old link must have no effect, so it expires after an hour, and as soon as it was used: it contains a mark that changes
with the password and the email address, and a link to a new address is valid only while that address is pending. A mail
scanner that follows a link must change nothing, so following it only allows that browser to choose a password, or to
confirm the new address. An app may have entered the address of its own mailbox, so confirming a new address also
requires the customer's sign-in.
"""

import hashlib
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import parse_qs, urlencode

from django.utils.translation import gettext_lazy
from django.views.decorators.debug import sensitive_variables

from storefront.customers import queries
from storefront.customers.models import Customer
from storefront.kit.refusals import Refusal
from storefront.kit.signing import is_signed_url, sign_url
from storefront.shops.models import Shop
from storefront.shops.places import in_spoken_language, secure_base

PATH = "/account/link"
LIFETIME_SECONDS = 3600
# Mark in links to an address that no customer has.
NOBODY = "new"


class LinkRefused(Refusal):
    """The link is not from the shop, has expired, or has been used."""

    status, code = 403, "link_refused"
    message = gettext_lazy("This link has expired, has already been used, or is incomplete.")


@dataclass(frozen=True, slots=True)
class Proof:
    """What a followed link allows until it expires (Unix seconds).

    Without `customer_id`: choose the password of the customer with this email address. With it: make the address that
    customer's email address.
    """

    email: str
    mark: str
    expires: int
    customer_id: int | None = None


def password_link(*, shop: Shop, email: str, now: datetime) -> str:
    """A link with which the receiver chooses a password; creates the customer if nobody has the address yet."""
    customer = queries.customer_by_email(shop, email)
    return _link(shop, now, email=queries.normal_email(email), mark=mark_of(customer))


def email_link(*, shop: Shop, customer: Customer, email: str, now: datetime) -> str:
    """A link that confirms this address as the customer's new one."""
    return _link(shop, now, email=queries.normal_email(email), mark=mark_of(customer), customer=customer.pk)


@sensitive_variables()
def proof_of_link(*, shop: Shop, query: str, now: datetime) -> Proof:
    """The proof in a followed link. `query` is the query string exactly as received. Raises LinkRefused."""
    if not is_signed_url(f"{secure_base(shop)}{PATH}?{query}"):
        raise LinkRefused
    # The signature shows that `_link` created the query, so its parameters exist and are well-formed.
    parameters = {name: values[0] for name, values in parse_qs(query).items()}
    customer_id = int(parameters["customer"]) if "customer" in parameters else None
    proof = Proof(parameters["email"], parameters["mark"], int(parameters["expires"]), customer_id)
    if not is_valid_proof(shop=shop, proof=proof, now=now):
        raise LinkRefused
    return proof


def is_valid_proof(*, shop: Shop, proof: Proof, now: datetime) -> bool:
    """Returns False if the proof has expired or has been used."""
    if proof.customer_id is None:
        customer = queries.customer_by_email(shop, proof.email)
    else:
        customer = queries.customer_by_id(shop, proof.customer_id)
    return is_valid_proof_for(customer, proof, now)


def is_valid_proof_for(customer: Customer | None, proof: Proof, now: datetime) -> bool:
    """Like `is_valid_proof`, for a caller that has already read the customer whom the proof is about."""
    is_pending = proof.customer_id is None or (customer is not None and customer.pending_email == proof.email)
    return is_pending and proof.expires >= now.timestamp() and mark_of(customer) == proof.mark


def mark_of(customer: Customer | None) -> str:
    """A hash that changes with the customer's password and email address, and reveals neither."""
    if customer is None:
        return NOBODY
    return hashlib.sha256(f"storefront.account-link:{customer.session_mark}:{customer.email}".encode()).hexdigest()[:32]


def _link(shop: Shop, now: datetime, **parameters: str | int) -> str:
    query = urlencode(parameters | {"expires": int(now.timestamp()) + LIFETIME_SECONDS})
    base = secure_base(shop)
    return in_spoken_language(sign_url(f"{base}{PATH}?{query}"), base, shop)
