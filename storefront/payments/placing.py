"""What becomes of a draft as its payments are reported: its order, or its end. Then its stock goes back."""

from dataclasses import replace
from datetime import datetime
from decimal import Decimal

from django.db import transaction

from storefront.carts import merging
from storefront.carts.models import Cart
from storefront.catalogue.models import Product, Variant
from storefront.catalogue.stock import InsufficientStock, put_back_stock
from storefront.customers.models import Customer
from storefront.gift_cards.ledger import GiftCardChanged
from storefront.kit.money import ZERO
from storefront.orders import actions as orders
from storefront.orders.models import Order
from storefront.orders.rules import Sale
from storefront.payments.card_payments import note_payments, release_cards, spend_cards, take_cards
from storefront.payments.drafts import redeem_uses, stock_reference
from storefront.payments.frozen import freeze_stock, thaw_sale, thaw_stock
from storefront.payments.models import OrderDraft, Payment
from storefront.payments.providers.gift_card import GIFT_CARD
from storefront.payments.refund_ledger import return_money
from storefront.payments.rules import SECURED, UNDECIDED, State
from storefront.pricing.redeeming import DiscountUsedUp, keep_uses, release_uses
from storefront.shops.models import Shop

Drafted = OrderDraft.State


def lock_draft(shop: Shop, draft_id: int) -> OrderDraft:
    """The draft, locked after its checkout and its cart."""
    draft = OrderDraft.objects.get(shop=shop, pk=draft_id)
    list(draft.checkouts.select_for_update(of=("self",)).values_list("pk"))
    Cart.objects.select_for_update(of=("self",)).filter(shop=shop, drafts=draft).first()
    return OrderDraft.objects.select_for_update(of=("self",), no_key=True).get(shop=shop, pk=draft_id)


def follow_payment(*, shop: Shop, payment: Payment, draft: OrderDraft, now: datetime) -> None:
    """Place the order of a locked draft once its payments cover what is due, end it once they have ended without money,
    and return money that came too late. What gift cards pay is spent as long as the draft is open, and can be spent
    again after that."""
    others = draft.payments.exclude(pk=payment.pk).select_for_update(of=("self",), no_key=True)
    payments = [each for each in (payment, *others) if each.gateway != GIFT_CARD]
    secured = [each for each in payments if each.state in SECURED and each.order_id is None]
    sale = thaw_sale(draft.sale)
    is_covered = sum(map(_secured_amount, secured), ZERO) >= sale.amount_due
    if draft.state == Drafted.PLACED or draft.is_replaced:
        return_money(payment, now)
    elif is_covered and (held := _held_sale(shop, draft, sale, now)):
        payment.order = place_order(shop=shop, draft=draft, sale=held, payments=secured, now=now)
    elif draft.state == Drafted.ENDED:
        for each in secured:
            return_money(each, now)
    elif not secured and not any(each.state in UNDECIDED for each in payments):
        end_draft(shop=shop, draft=draft, now=now)


def place_order(*, shop: Shop, draft: OrderDraft, sale: Sale, payments: list[Payment], now: datetime) -> Order:
    """Turn a draft into its order, paid for with these payments and its gift cards. Without `payments`, gift cards pay
    for all of it, or it is free. The ordered pieces leave the carts.

    Call in a transaction with checkout, cart and draft locked (`settling.lock_payment`), and the draft's stock taken.
    The checkout is of a higher room, so its row is written through its relation.
    """
    if sale.gift_cards:
        payments = [*payments, *take_cards(shop=shop, draft=draft, now=now)]
    sale = _without_deleted(shop, sale)
    sources = merging.remove_ordered_lines(shop=shop, cart=draft.cart, ordered=draft.basket, now=now)
    method = payments[0].gateway if payments else ""
    taken = thaw_stock(draft.stock_taken)
    order = orders.create_order(shop=shop, sale=sale, taken=taken, payment_method=method, now=now)
    if sale.redemption:
        keep_uses(shop=shop, sale=sale.redemption)
    for payment in payments:
        payment.order = order
        payment.save(update_fields=["order"])
        payment.refunds.update(order=order)
    number, placed_at = order.number, order.placed_at
    merging.record_order(shop=shop, cart_ids=sources, order_id=order.pk, number=number, placed_at=placed_at)
    is_paid = bool(payments) and sum((payment.captured for payment in payments), ZERO) >= order.total
    orders.announce_order(shop=shop, order=order, sale=sale, is_paid=is_paid, now=now)
    draft.state, draft.order = Drafted.PLACED, order
    draft.save(update_fields=["state", "order"])
    draft.checkouts.update(order=order, shopper_note=sale.shopper_note, payment_method=method, updated_at=now)
    return order


def end_draft(*, shop: Shop, draft: OrderDraft, payments: list[Payment] | None = None, now: datetime) -> None:
    """End a locked, open draft without an order: its stock, the uses of its discounts and what it holds of gift cards
    go back, and what these payments have taken."""
    reference = stock_reference(draft.pk)
    put_back_stock(shop=shop, uses=thaw_stock(draft.stock_taken), reference=reference, now=now)
    release_uses(shop=shop, sale=thaw_sale(draft.sale).redemption)
    draft.state, draft.stock_taken = Drafted.ENDED, []
    draft.save(update_fields=["state", "stock_taken"])
    for each in payments or ():
        if each.gateway != GIFT_CARD:
            return_money(each, now)
    release_cards(shop=shop, draft=draft, now=now)


@transaction.atomic
def end_if_over(*, shop: Shop, draft: OrderDraft, now: datetime) -> None:
    """End an expired draft whose payments have all ended, or have taken only part of its total."""
    locked = lock_draft(shop, draft.pk)
    payments = list(locked.payments.select_for_update(of=("self",), no_key=True))
    is_open = locked.state == Drafted.OPEN and locked.expires_at <= now
    # A provider's reports may be contradictory for ever: nothing waits for these payments.
    if is_open and not any(each.state in UNDECIDED and not each.alert for each in payments):
        end_draft(shop=shop, draft=locked, payments=payments, now=now)


def _secured_amount(payment: Payment) -> Decimal:
    return payment.captured - payment.refunded if payment.state == State.PAID else payment.amount


def _held_sale(shop: Shop, draft: OrderDraft, sale: Sale, now: datetime) -> Sale | None:
    """The draft's sale. If the draft has ended, its stock, the uses of its discounts and what its gift cards pay are
    taken again; None if something of that is no longer there, and then nothing has changed."""
    if draft.state == Drafted.OPEN:
        return sale
    try:
        with transaction.atomic():
            taken = orders.take_stock_of(shop, sale.lines, now, stock_reference(draft.pk))
            redeemed = redeem_uses(shop, _without_deleted(shop, sale), draft.cart, now)
            spent = spend_cards(shop=shop, sale=sale, cart=draft.cart, now=now)
            note_payments(draft=draft, sale=sale, keys=spent, now=now)
    except (InsufficientStock, DiscountUsedUp, GiftCardChanged):
        return None
    draft.stock_taken = freeze_stock(taken)
    return redeemed


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
