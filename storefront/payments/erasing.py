"""Takes a person out of payments and drafts. Amounts, the provider and its id of the payment stay: they prove what was
paid, and a refund needs them (docs/privacy.md).
"""

from collections.abc import Collection

from django.db.models import Q, QuerySet

from storefront.customers.models import Customer
from storefront.orders.models import Order
from storefront.payments.models import OrderDraft, Payment, Refund
from storefront.payments.rules import UNDECIDED
from storefront.shops.models import Shop

# What a payment was tried with, erased.
NOTHING = {"customer_reference": "", "method_reference": "", "method": "", "place": "", "saves_method": False}


def with_open_money(orders: QuerySet[Order]) -> dict[int, str]:
    """The orders among these with a payment or a refund whose outcome is not known: a description by the order's id."""
    payments = Payment.objects.filter(order__in=orders, state__in=UNDECIDED)
    refunds = Refund.objects.filter(order__in=orders, status=Refund.Status.PENDING)
    found = dict.fromkeys(payments.values_list("order", flat=True), "has a payment whose outcome is not known yet")
    return found | dict.fromkeys(refunds.values_list("order", flat=True), "has a refund that is being carried out")


def drafts_of(shop: Shop, email: str, customer: Customer | None) -> QuerySet[OrderDraft]:
    """What this person has pressed pay for lately."""
    own = Q(email__iexact=email)
    if customer is not None:
        own |= Q(cart__customer=customer) | Q(sale__customer_id=customer.pk)
    return OrderDraft.objects.filter(own, shop=shop)


def erase_payments(*, shop: Shop, order: Order) -> None:
    """Erase from the payments and refunds of a locked order what it was paid with, and what was written about it."""
    Payment.objects.filter(shop=shop, order=order).update(**NOTHING)
    Refund.objects.filter(shop=shop, order=order).update(reason="")


def delete_drafts(*, shop: Shop, drafts: Collection[int]) -> int:
    """Delete those of these drafts that are over, sooner than `jobs.delete_old_drafts` does. Their payments stay,
    without what they were tried with. Returns how many were deleted."""
    over = OrderDraft.objects.filter(shop=shop, pk__in=drafts).exclude(state=OrderDraft.State.OPEN)
    ids = list(over.values_list("pk", flat=True))
    Payment.objects.filter(shop=shop, draft__in=ids, order=None).update(**NOTHING)
    OrderDraft.objects.filter(shop=shop, pk__in=ids).delete()
    return len(ids)
