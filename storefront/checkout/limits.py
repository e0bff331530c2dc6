"""Limits on how often visitors may place orders and try to pay."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress

from django.utils.crypto import salted_hmac

from storefront.checkout.models import Checkout
from storefront.customers import limits
from storefront.customers.queries import normal_email
from storefront.customers.session import customer_of
from storefront.kit.callers import client_network
from storefront.payments.providers.base import Provider
from storefront.shops.request import Request


@contextmanager
def order_limits(request: Request, checkout: Checkout, provider: Provider | None) -> Iterator[str]:
    """Context manager around placing this checkout's order. Raises LimitReached.

    A payment counts before it is tried. The order and its mail count once it is placed or its payment has begun, so
    that a refused order does not count. Yields a digest of the visitor's network address, by which unpaid orders are
    counted.
    """
    # Orders of a signed-in customer count for the customer, whatever email address they enter.
    email = "" if customer_of(request) else normal_email(checkout.email)
    limits.check(request, "orders", email)
    limits.check_mail(request, checkout.email)
    if provider is not None and not provider.is_promise:
        limits.count(request, "payments", checkout.public_id)
    yield salted_hmac(
        "storefront.place", f"{request.shop.pk}:{client_network(request)}", algorithm="sha256"
    ).hexdigest()[:32]
    # The press has succeeded, so ignore limits that concurrent orders have used up.
    for count in (lambda: limits.count(request, "orders", email), lambda: limits.count_mail(request, checkout.email)):
        with suppress(limits.LimitReached):
            count()
