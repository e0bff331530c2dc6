"""Drafts: the order is frozen and its stock taken when the shopper presses pay; `placing` follows them."""

from collections import Counter
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import Q, QuerySet, Value
from django.db.models.functions import Lower
from django.utils.translation import gettext_lazy as _

from storefront.carts.merging import Ordered
from storefront.carts.models import Cart
from storefront.carts.purchasable import Stock
from storefront.kit.bulk_insert import allocate_ids
from storefront.kit.refusals import Refusal
from storefront.orders import actions as orders
from storefront.orders.models import Order
from storefront.orders.rules import Sale
from storefront.payments.accounts import settings_of
from storefront.payments.card_payments import note_payments, spend_cards
from storefront.payments.frozen import freeze_sale, freeze_stock, thaw_stock
from storefront.payments.models import OrderDraft, Payment
from storefront.payments.payment_ledger import open_payment
from storefront.payments.providers.base import Provider
from storefront.payments.providers.gift_card import GIFT_CARD
from storefront.payments.rules import YOUNG, State
from storefront.payments.saved_methods import NOTHING_KEPT, Keeping
from storefront.pricing.candidates import Shopper
from storefront.pricing.redeeming import redeem
from storefront.shops import quotas
from storefront.shops.models import Shop

_OF_DRAFT = Q(order=None, draft__state=OrderDraft.State.OPEN)
_OF_ORDER = Q(order__status=Order.Status.OPEN)


@dataclass(frozen=True)
class Press:
    """What the shopper pressed pay for. `digest` is of everything that tells this press from another one of the same
    basket; `owner` is the secret of the session."""

    cart: Cart
    owner: UUID | None
    digest: str
    sale: Sale
    basket: Ordered
    keeping: Keeping = NOTHING_KEPT


def open_draft(shop: Shop, cart: Cart) -> OrderDraft | None:
    """The draft of this cart that holds stock."""
    return OrderDraft.objects.filter(shop=shop, cart=cart, state=OrderDraft.State.OPEN).first()


@transaction.atomic(savepoint=False)
def freeze_order(*, shop: Shop, press: Press, provider: Provider | None, now: datetime) -> OrderDraft:
    """Freeze the order, take its stock, the uses of its discounts and what its gift cards pay; with a provider, note
    the payment that is to be started.

    Call with the cart locked, and without an open draft of it. Raises InsufficientStock, whose message names the line
    that is short, DiscountUsedUp, GiftCardChanged, QuotaReached and TooManyUnpaid.
    """
    sale = press.sale
    (pk,) = allocate_ids(OrderDraft, 1)
    taken = orders.take_stock_of(shop, sale.lines, now, stock_reference(pk))
    sale = redeem_uses(shop, sale, press.cart, now)
    spent = spend_cards(shop=shop, sale=sale, cart=press.cart, now=now)
    # Late, and before the counter, since all other sales of the shop wait for this row.
    quotas.use("orders", shop_id=shop.pk, now=now)
    if provider and sale.place:
        # Late, since all other sales of the shop wait for this row.
        orders.lock_counter(shop)
        check_unpaid(shop=shop, sale=sale, is_promise=provider.is_promise)
    # Money that still comes for an earlier press is given back.
    OrderDraft.objects.filter(shop=shop, cart=press.cart, state=OrderDraft.State.ENDED).update(is_replaced=True)
    draft = OrderDraft.objects.create(
        pk=pk,
        shop=shop,
        cart=press.cart,
        owner=press.owner,
        digest=press.digest,
        email=sale.email,
        sale=freeze_sale(sale),
        basket=press.basket,
        stock_taken=freeze_stock(taken),
        total=sale.total,
        currency=sale.currency,
        created_at=now,
        expires_at=now + timedelta(minutes=settings.PAYMENT_MINUTES),
    )
    note_payments(draft=draft, sale=sale, keys=spent, now=now)
    if provider:
        _create_payment(draft, press, provider, now)
    return draft


def held_stock(shop: Shop, cart: Cart) -> Counter[Stock]:
    """The pieces that this cart's open draft has taken from the stock: for the cart itself they are not sold out."""
    draft = open_draft(shop, cart)
    return Counter({(use.kind, use.id): use.qty for use in thaw_stock(draft.stock_taken)} if draft else {})


def payment_of(draft: OrderDraft) -> Payment | None:
    """The draft's payment through a provider that the shopper chose; None if gift cards pay for all of it."""
    payments = draft.payments.select_related("draft", "order").exclude(gateway=GIFT_CARD)
    return payments.order_by("pk").last()


def stock_reference(pk: int) -> str:
    """What the stock ledger calls the draft. Its order has no number yet; the admin finds it by this
    (`catalogue.admin_pages.adjustments.with_orders`)."""
    return f"draft {pk}"


def redeem_uses(shop: Shop, sale: Sale, cart: Cart | None, now: datetime) -> Sale:
    """The sale, with the uses of its discounts counted. Raises DiscountUsedUp."""
    shopper = Shopper(cart.pk if cart else None, sale.customer_id, sale.email)
    return replace(sale, redemption=redeem(shop=shop, uses=sale.discount_uses, shopper=shopper, now=now))


def _create_payment(draft: OrderDraft, press: Press, provider: Provider, now: datetime) -> Payment:
    sale, saved = press.sale, press.keeping.saved
    if saved and (saved.shop_id, saved.customer_id, saved.provider) != (draft.shop_id, sale.customer_id, provider.name):
        # Only its customer is charged by it. Anybody else pays as without it.
        saved = None
    waits = provider.can_hold and settings_of(draft.shop, provider.name).get("capture") == "on_fulfilment"
    return open_payment(
        draft=draft,
        gateway=provider.name,
        state=State.STARTED,
        amount=sale.amount_due,
        is_held=waits,
        saves_method=press.keeping.saves and provider.can_save and sale.customer_id is not None,
        customer_reference=saved.customer_reference if saved else "",
        method_reference=saved.method_reference if saved else "",
        place="" if sale.customer_id is not None else sale.place,
        due_at=now + YOUNG,
        now=now,
    )


class TooManyUnpaid(Refusal):
    status, code = 429, "too_many_unpaid_orders"
    message = _(
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
