"""Drafts: the order is frozen and its stock taken when the shopper presses pay; it becomes the order, or ends."""

from collections import Counter
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.db import transaction

from storefront.carts import merging
from storefront.carts.merging import Ordered
from storefront.carts.models import Cart
from storefront.carts.purchasable import Stock
from storefront.catalogue.models import Product, Variant
from storefront.catalogue.stock import put_back_stock
from storefront.customers.models import Customer
from storefront.gift_cards import ledger
from storefront.kit.bulk_insert import allocate_ids
from storefront.orders import actions as orders
from storefront.orders.models import Order
from storefront.orders.rules import Sale
from storefront.payments.accounts import settings_of
from storefront.payments.card_payments import note_payments, spend_cards
from storefront.payments.frozen import freeze_sale, freeze_stock, thaw_sale, thaw_stock
from storefront.payments.models import OrderDraft, Payment, PaymentEntry
from storefront.payments.providers.base import Provider
from storefront.payments.providers.gift_card import GIFT_CARD
from storefront.payments.rules import STATUSES, YOUNG, State
from storefront.payments.saved_methods import NOTHING_KEPT, Keeping
from storefront.payments.unpaid import check_unpaid
from storefront.pricing.candidates import Shopper
from storefront.pricing.redeeming import keep_uses, redeem, release_uses
from storefront.shops.models import Shop


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


@transaction.atomic
def freeze_order(*, shop: Shop, press: Press, provider: Provider | None, now: datetime) -> OrderDraft:
    """Freeze the order, take its stock, the uses of its discounts and what its gift cards pay; with a provider, note
    the payment that is to be started.

    Call with the cart locked, and without an open draft of it. Raises InsufficientStock, whose message names the line
    that is short, DiscountUsedUp, GiftCardChanged and TooManyUnpaid.
    """
    sale = press.sale
    (pk,) = allocate_ids(OrderDraft, 1)
    taken = orders.take_stock_of(shop, sale.lines, now, _reference(pk))
    sale = _redeem(shop, sale, press.cart, now)
    spent = spend_cards(shop=shop, sale=sale, cart=press.cart, now=now)
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


def place_draft(*, shop: Shop, draft: OrderDraft, payments: list[Payment], now: datetime) -> Order:
    """Turn the draft into its order, paid for with these payments. The ordered pieces leave the carts.

    Call in a transaction with checkout, cart and draft locked (`settling.lock_payment`), and the draft's stock taken.
    The checkout is of a higher room, so its row is written through its relation.
    """
    sale = _without_deleted(shop, thaw_sale(draft.sale))
    sources = merging.remove_ordered_lines(shop=shop, cart=draft.cart, ordered=draft.basket, now=now)
    method = payments[0].gateway if payments else ""
    taken = thaw_stock(draft.stock_taken)
    order = orders.create_order(shop=shop, sale=sale, taken=taken, payment_method=method, now=now)
    keep_uses(shop=shop, sale=sale.redemption)
    ledger.keep(shop=shop, payments=[payment.key for payment in payments if payment.gateway == GIFT_CARD])
    for payment in payments:
        payment.order = order
        payment.save(update_fields=["order"])
        payment.refunds.update(order=order)
    number, placed_at = order.number, order.placed_at
    merging.record_order(shop=shop, cart_ids=sources, order_id=order.pk, number=number, placed_at=placed_at)
    orders.announce_order(shop=shop, order=order, sale=sale, now=now)
    draft.state, draft.order = OrderDraft.State.PLACED, order
    draft.save(update_fields=["state", "order"])
    draft.checkouts.update(order=order, shopper_note=sale.shopper_note, payment_method=method, updated_at=now)
    return order


def retake_stock(*, shop: Shop, draft: OrderDraft, now: datetime) -> None:
    """Take the stock of an ended draft again, the uses of its discounts, and what its gift cards pay. Raises
    InsufficientStock, DiscountUsedUp and GiftCardChanged; then nothing has changed."""
    with transaction.atomic():
        sale = thaw_sale(draft.sale)
        taken = orders.take_stock_of(shop, sale.lines, now, _reference(draft.pk))
        redeemed = _redeem(shop, _without_deleted(shop, sale), draft.cart, now)
        spent = spend_cards(shop=shop, sale=sale, cart=draft.cart, now=now)
        note_payments(draft=draft, sale=sale, keys=spent, now=now)
    draft.sale, draft.stock_taken = freeze_sale(redeemed), freeze_stock(taken)


def end_draft(*, shop: Shop, draft: OrderDraft, now: datetime) -> None:
    """End a locked, open draft without an order, and put back its stock and the uses of its discounts."""
    put_back_stock(shop=shop, uses=thaw_stock(draft.stock_taken), reference=_reference(draft.pk), now=now)
    release_uses(shop=shop, sale=thaw_sale(draft.sale).redemption)
    draft.state, draft.stock_taken = OrderDraft.State.ENDED, []
    draft.save(update_fields=["state", "stock_taken"])


def _reference(pk: int) -> str:
    """What the stock ledger calls the draft. Its order has no number yet; the admin finds it by this
    (`catalogue.admin_adjustments.with_orders`)."""
    return f"draft {pk}"


def _redeem(shop: Shop, sale: Sale, cart: Cart | None, now: datetime) -> Sale:
    """The sale, with the uses of its discounts counted. Raises DiscountUsedUp."""
    shopper = Shopper(cart.pk if cart else None, sale.customer_id, sale.email)
    return replace(sale, redemption=redeem(shop=shop, uses=sale.discount_uses, shopper=shopper, now=now))


def _create_payment(draft: OrderDraft, press: Press, provider: Provider, now: datetime) -> Payment:
    sale, saved = press.sale, press.keeping.saved
    if saved and (saved.shop_id, saved.customer_id, saved.provider) != (draft.shop_id, sale.customer_id, provider.name):
        # Only its customer is charged by it. Anybody else pays as without it.
        saved = None
    waits = provider.can_hold and settings_of(draft.shop, provider.name).get("capture") == "on_fulfilment"
    payment = Payment.objects.create(
        shop=draft.shop,
        draft=draft,
        gateway=provider.name,
        state=State.STARTED,
        status=STATUSES[State.STARTED],
        amount=sale.amount_due,
        currency=draft.currency,
        is_held=waits,
        saves_method=press.keeping.saves and provider.can_save and sale.customer_id is not None,
        customer_reference=saved.customer_reference if saved else "",
        method_reference=saved.method_reference if saved else "",
        place="" if sale.customer_id is not None else sale.place,
        due_at=now + YOUNG,
        created_at=now,
        updated_at=now,
    )
    PaymentEntry.objects.create(
        shop=draft.shop,
        payment=payment,
        at=now,
        kind=PaymentEntry.Kind.STATE,
        from_state="",
        to_state=State.STARTED,
        source="call",
    )
    return payment


def _without_deleted(shop: Shop, sale: Sale) -> Sale:
    """The sale without references to rows that were deleted since it was frozen."""
    products = Product.objects.filter(shop=shop, pk__in={line.product_id for line in sale.lines})
    variants = Variant.objects.filter(shop=shop, pk__in={line.variant_id for line in sale.lines})
    known, known_variants = set(products.values_list("pk", flat=True)), set(variants.values_list("pk", flat=True))
    lines = [
        replace(
            line,
            product_id=line.product_id if line.product_id in known else None,
            variant_id=line.variant_id if line.variant_id in known_variants else None,
        )
        for line in sale.lines
    ]
    # Locked, so that the account is not erased before its order is there.
    accounts = Customer.objects.select_for_update(no_key=True).filter(shop=shop)
    is_known = bool(sale.customer_id and accounts.filter(pk=sale.customer_id).values_list("pk").first())
    return replace(sale, lines=lines, customer_id=sale.customer_id if is_known else None)
