"""The part of an order that gift cards pay: spent when pay is pressed, kept by the order, or put back."""

from collections.abc import Iterator
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

from django.db.models import Exists, OuterRef, Subquery, Sum
from django.utils.translation import gettext as _

from storefront.carts.models import Cart
from storefront.gift_cards import ledger
from storefront.gift_cards.models import GiftCardEntry
from storefront.kit.deviations import Deviation, differing
from storefront.kit.money import ZERO
from storefront.orders.rules import Sale
from storefront.payments.models import OrderDraft, Payment
from storefront.payments.payment_ledger import move, open_payment
from storefront.payments.providers.base import Report, Standing
from storefront.payments.providers.gift_card import GIFT_CARD
from storefront.payments.rules import State
from storefront.shops.models import Shop


def spend_cards(*, shop: Shop, sale: Sale, cart: Cart | None, now: datetime) -> list[UUID]:
    """Take what the sale's gift cards pay off them. Returns the keys for `note_payments`. Raises GiftCardChanged."""
    keys = {each["card"]: uuid4() for each in sale.gift_cards}
    # In the order of their ids, so that two sales with the same cards cannot deadlock.
    for each in sorted(sale.gift_cards, key=lambda each: each["card"]):
        ledger.spend(
            shop=shop,
            card_id=each["card"],
            amount=Decimal(each["amount"]),
            currency=sale.currency,
            key=keys[each["card"]],
            cart_id=cart.pk if cart else None,
            now=now,
        )
    return list(keys.values())


def note_payments(*, draft: OrderDraft, sale: Sale, keys: list[UUID], now: datetime) -> None:
    """Note what was spent as payments of the draft. It is held until the draft becomes an order, or ends."""
    for each, key in zip(sale.gift_cards, keys, strict=True):
        open_payment(
            draft=draft,
            key=key,
            gateway=GIFT_CARD,
            state=State.AUTHORISED,
            amount=Decimal(each["amount"]),
            method=_("Gift card …%(last_four)s") % {"last_four": each["last_four"]},
            reference=str(each["card"]),
            now=now,
        )


def take_cards(*, shop: Shop, draft: OrderDraft, now: datetime) -> list[Payment]:
    """Take what a locked draft holds of gift cards: it is the order's. Returns its payments."""
    held = _held_cards(draft)
    for each in held:
        _move(each, Report(Standing.PAID, captured=each.amount), now)
    if held:
        ledger.keep(shop=shop, payments=[each.key for each in held])
    return held


def release_cards(*, shop: Shop, draft: OrderDraft, now: datetime) -> None:
    """Put back what a locked draft holds of gift cards. Cards come last in the order of locks, in that of their ids."""
    for each in sorted(_held_cards(draft), key=lambda each: int(each.reference)):
        ledger.release(shop=shop, payment=each.key, now=now)
        _move(each, Report(Standing.CANCELLED), now)


def deviations(shop: Shop) -> Iterator[Deviation]:
    """What payments by gift card hold, and was not taken off the card; and the other way round. One statement each, so
    that a sale meanwhile is no deviation."""
    entries: Any = GiftCardEntry.objects.filter(shop=shop).order_by()
    of_payment = entries.filter(payment=OuterRef("key")).values("payment").annotate(sum=Sum("amount")).values("sum")
    payments: Any = Payment.objects.filter(shop=shop, gateway=GIFT_CARD).order_by("pk")
    for payment in payments.annotate(taken=Subquery(of_payment)).iterator(chunk_size=2000):
        name = f"payment {payment.public_id}"
        yield from differing("gift card payment", name, -(payment.taken or ZERO), _held(payment))
    known = Payment.objects.filter(shop=shop, key=OuterRef("payment"))
    without = entries.filter(~Exists(known), payment__isnull=False).values("payment").annotate(sum=Sum("amount"))
    for each in without:
        yield from differing("gift card payment", f"payment with the key {each['payment']}", -each["sum"], ZERO)


def _held(payment: Payment) -> Decimal:
    """What the card has paid of it and not got back."""
    if payment.state == State.AUTHORISED:
        return payment.amount
    return payment.captured - payment.returned


def _held_cards(draft: OrderDraft) -> list[Payment]:
    held = draft.payments.filter(gateway=GIFT_CARD, state=State.AUTHORISED, order=None)
    return list(held.select_for_update(of=("self",), no_key=True))


def _move(payment: Payment, report: Report, now: datetime) -> None:
    move(payment, report, now=now)
    payment.version, payment.updated_at = payment.version + 1, now
    payment.save()
