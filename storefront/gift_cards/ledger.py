"""The one place where balances change: each change is a conditional update of the card's row, with an entry in its log.

Rows of cards are locked after checkouts, carts, drafts, orders, payments, stock and discounts, in the order of their
ids, and before the shop's order counter. Every call is made in a transaction.
"""

from collections.abc import Iterable
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db.models import F, Q, Sum, Value
from django.utils.translation import gettext as _

from storefront.gift_cards.models import GiftCard, GiftCardEntry
from storefront.kit.format import format_money
from storefront.kit.money import ZERO
from storefront.kit.money_field import MoneyField
from storefront.kit.refusals import Refusal
from storefront.shops.models import Shop

Kind = GiftCardEntry.Kind


class GiftCardChanged(Refusal):
    """The card can no longer pay this amount: it was spent elsewhere, disabled, or has expired."""

    code = "gift_card_changed"


def spend(
    *, shop: Shop, card_id: int, amount: Decimal, currency: str, key: UUID, cart_id: int | None, now: datetime
) -> GiftCard:
    """Take this amount off the card for the payment with this key. Stores the basket until `keep` or `release`.

    Raises GiftCardChanged; the caller's transaction must then end.
    """
    card = GiftCard.objects.filter(shop=shop, pk=card_id)
    usable = card.filter(currency=currency, disabled_at=None, digest__isnull=False, balance__gte=amount)
    # A concurrent call waits here, and then finds the balance that the first one left.
    rest = F("balance") - Value(amount, MoneyField())
    if not usable.filter(Q(expires_at=None) | Q(expires_at__gt=now)).update(balance=rest):
        last_four = card.values_list("last_four", flat=True).first() or ""
        given = {"last_four": last_four, "amount": format_money(amount, currency)}
        raise GiftCardChanged(_("The gift card …%(last_four)s can no longer pay %(amount)s.") % given)
    return write_entry(card, Kind.SPENT, -amount, now, key=key, payment=key, cart_id=cart_id)


def keep(*, shop: Shop, payments: Iterable[UUID]) -> None:
    """Record that these payments belong to an order now, and no longer to a basket."""
    GiftCardEntry.objects.filter(shop=shop, payment__in=list(payments), kind=Kind.SPENT).update(cart_id=None)


def release(*, shop: Shop, payment: UUID, now: datetime) -> None:
    """Return what the payment has spent to its card, since it ended without an order. Does nothing the second time."""
    spent = GiftCardEntry.objects.get(shop=shop, key=payment, kind=Kind.SPENT)
    keep(shop=shop, payments=[payment])
    _put_back(spent, Kind.RELEASED, -spent.amount, payment, now)


def refund(*, shop: Shop, payment: UUID, key: UUID, amount: Decimal, now: datetime) -> None:
    """Return this much of what the payment has spent to its card, once for each refund key. A disabled or expired card
    gets it, too."""
    spent = GiftCardEntry.objects.get(shop=shop, key=payment, kind=Kind.SPENT)
    _put_back(spent, Kind.REFUNDED, amount, key, now)


def amounts(shop: Shop, payment: UUID) -> tuple[Decimal, Decimal, list[tuple[UUID | None, Decimal]]]:
    """The payment's spent amount, its released amount, and its refunds by key and amount."""
    rows = GiftCardEntry.objects.filter(shop=shop, payment=payment).order_by("pk")
    found: dict[str, list[GiftCardEntry]] = {kind: [row for row in rows if row.kind == kind] for kind in Kind}
    spent, released = (sum((row.amount for row in found[kind]), ZERO) for kind in (Kind.SPENT, Kind.RELEASED))
    return -spent, released, [(row.key, row.amount) for row in found[Kind.REFUNDED]]


def held_by(shop: Shop, cart_id: int | None) -> dict[int, Decimal]:
    """The amounts, by card, that the basket's own open payment has taken. The basket can still be paid with them."""
    if cart_id is None:
        return {}
    rows = GiftCardEntry.objects.filter(shop=shop, cart_id=cart_id, kind=Kind.SPENT)
    return {row["card_id"]: -row["sum"] for row in rows.values("card_id").annotate(sum=Sum("amount")).order_by()}


def write_entry(rows: Any, kind: Kind, amount: Decimal, now: datetime, **given: Any) -> GiftCard:
    """Append an entry to the log of the card of `rows`, which the caller has changed or locked. Returns the card."""
    card = rows.select_related("shop").get()
    given |= {"shop": card.shop, "card": card, "balance": card.balance}
    GiftCardEntry.objects.create(at=now, kind=kind, amount=amount, **given)
    return card


def _put_back(spent: GiftCardEntry, kind: Kind, amount: Decimal, key: UUID, now: datetime) -> None:
    cards = GiftCard.objects.filter(shop=spent.shop_id, pk=spent.card_id)
    # Locked before the log is read: of two calls with one key, the second finds the first one's entry.
    cards.select_for_update(of=("self",), no_key=True).get()
    if GiftCardEntry.objects.filter(shop=spent.shop_id, kind=kind, key=key).exists():
        return
    cards.update(balance=F("balance") + Value(amount, MoneyField()))
    write_entry(cards, kind, amount, now, key=key, payment=spent.payment)
