"""The limit of unpaid orders. An unpaid order and an open draft take stock, so without a limit anybody could empty the
shop."""

from django.conf import settings
from django.db.models import Q, QuerySet, Value
from django.db.models.functions import Lower

from storefront.kit.refusals import Refusal
from storefront.orders.models import Order
from storefront.orders.rules import Sale
from storefront.payments.models import OrderDraft, Payment
from storefront.shops.models import Shop

_OF_DRAFT = Q(order=None, draft__state=OrderDraft.State.OPEN)
_OF_ORDER = Q(order__status=Order.Status.OPEN)


class TooManyUnpaid(Refusal):
    status, code = 429, "too_many_unpaid_orders"
    message = (
        "You have several orders that are not paid yet. Please pay for them first, choose another payment method, "
        "or try again in an hour."
    )

    @property
    def headers(self) -> dict[str, str]:
        return {"Retry-After": "3600"}


def check_unpaid(*, shop: Shop, sale: Sale, is_promise: bool) -> None:
    """Raises TooManyUnpaid if the visitor has reached the limit of pending payments: of open drafts and, where another
    one `is_promise`, of open orders too.

    Counts by account for a customer, by email address and by `place` for a guest.

    Call with the shop's order counter locked, so that each press sees those before it.
    """
    if not sale.place:
        return
    pending = Payment.objects.filter(shop=shop, status=Payment.Status.PENDING)
    unpaid = pending.filter(_OF_DRAFT | _OF_ORDER if is_promise else _OF_DRAFT)
    if sale.customer_id is not None:
        # An order that a guest placed under the account's address may be a stranger's: it does not count here.
        own = Q(order__customer=sale.customer_id, place="") | Q(draft__cart__customer=sale.customer_id, order=None)
        limits: list[tuple[QuerySet[Payment], int]] = [(unpaid.filter(own), settings.MAX_UNPAID)]
    else:
        email = Lower(Value(sale.email))
        # Orders of guests, also if they have joined an account.
        ordered = unpaid.alias(address=Lower("order__email")).filter(address=email).exclude(place="")
        drafted = unpaid.alias(address=Lower("draft__email")).filter(
            draft__cart__customer=None, address=email, order=None
        )
        limits = [
            (unpaid.filter(place=sale.place), settings.MAX_UNPAID),
            (
                unpaid.filter(Q(pk__in=ordered.values("pk")) | Q(pk__in=drafted.values("pk"))),
                settings.MAX_UNPAID_PER_EMAIL,
            ),
        ]
    if any(most and payments.count() >= most for payments, most in limits):
        raise TooManyUnpaid
