"""The limit of unpaid orders. An unpaid order takes stock, so without a limit anybody could empty the shop."""

from django.conf import settings
from django.db.models import QuerySet, Value
from django.db.models.functions import Lower

from storefront.kit.refusals import Refusal
from storefront.orders.models import Order, Payment
from storefront.orders.rules import Sale
from storefront.shops.models import Shop


class TooManyUnpaid(Refusal):
    status, code = 429, "too_many_unpaid_orders"
    message = (
        "You have several orders that are not paid yet. Please pay for them first, choose another payment method, "
        "or try again in an hour."
    )

    @property
    def headers(self) -> dict[str, str]:
        return {"Retry-After": "3600"}


def check_unpaid(*, shop: Shop, sale: Sale) -> None:
    """Raises TooManyUnpaid if the visitor has reached the limit of open orders with a pending payment.

    Counts by account for a customer, by email address and by `place` for a guest.

    Call with the shop's order counter locked, so that each sale sees those before it.
    """
    if not sale.place:
        return
    unpaid = Order.objects.filter(shop=shop, status=Order.Status.OPEN, payments__status=Payment.Status.PENDING)
    if sale.customer_id is not None:
        limits: list[tuple[QuerySet[Order], int]] = [(unpaid.filter(customer=sale.customer_id), settings.MOST_UNPAID)]
    else:
        guests = unpaid.alias(address=Lower("email")).filter(customer=None)
        limits = [
            (unpaid.filter(payments__place=sale.place), settings.MOST_UNPAID),
            (guests.filter(address=Lower(Value(sale.email))), settings.MOST_UNPAID_EACH),
        ]
    if any(most and orders.count() >= most for orders, most in limits):
        raise TooManyUnpaid
