"""The gift cards that an order sells: issued when it is paid for, and not valid while it is cancelled, refunded in
full, or disputed."""

from datetime import date, datetime
from decimal import Decimal
from typing import Any

from django.utils.translation import gettext as _

from storefront.gift_cards.issuing import (
    cards_of_order,
    disable_card,
    issue_card,
    morning_of,
    restore_cards,
    withdraw_cards,
)
from storefront.gift_cards.models import GiftCard
from storefront.kit.money import ZERO
from storefront.kit.refusals import Refusal
from storefront.orders.models import Order, OrderLine


def issue_gift_cards(*, order: Order, now: datetime) -> None:
    """Issue a card for each piece of the order's gift cards. Call it in the transaction in which the order becomes
    paid, with the order locked. A constraint keeps a piece from being issued twice."""
    if order.status == Order.Status.CANCELLED:
        return
    for line in order.lines.all():
        chosen, value = line.gift_card, card_value(line)
        if chosen is None:
            continue
        send_on = chosen["send_on"]
        send_at = morning_of(order.shop, date.fromisoformat(send_on)) if send_on else None
        for number in range(1, line.qty + 1 if value else 1):
            issue_card(
                shop=order.shop,
                value=value,
                currency=order.currency,
                email=chosen["recipient_email"] or order.email,
                message=chosen["message"],
                giver=chosen.get("giver", ""),
                language=order.language,
                send_at=send_at,
                order_id=order.pk,
                line_id=line.pk,
                number=number,
                now=now,
            )


def withdraw_gift_cards(*, order: Order, now: datetime) -> None:
    """Disable the cards that the order sold. Earlier payments with them stay."""
    reason = "cancelled" if order.status == Order.Status.CANCELLED else "refunded"
    withdraw_cards(shop=order.shop, order_id=order.pk, detail=f"Order {order.number} was {reason}.", now=now)


def follow_payments(*, order: Order, is_disputed: bool, now: datetime) -> None:
    """Disable or enable the cards that the locked order sold, after its payments changed. `is_disputed`: a bank has
    taken some of the money back, for now or for good; then spent cards are not changed."""
    given: Any = {"shop": order.shop, "order_id": order.pk, "now": now}
    statuses = Order.PaymentStatus
    if order.status == Order.Status.CANCELLED or order.payment_status == statuses.REFUNDED:
        withdraw_gift_cards(order=order, now=now)
    elif is_disputed:
        withdraw_cards(detail=f"A bank disputes the payment of order {order.number}.", only_unspent=True, **given)
    elif order.payment_status != statuses.PENDING:
        restore_cards(detail=f"Order {order.number} stands again.", **given)


class GiftCardSpent(Refusal):
    """Somebody has paid with a gift card that the line sold."""

    code, field = "gift_card_spent", "lines"


def withdraw_pieces(*, order: Order, line: OrderLine, now: datetime) -> None:
    """Disable as many cards of the line as pieces of it are refunded, none of which was spent. Raises GiftCardSpent.

    The cards are locked first, so that none is spent meanwhile. A card that a dispute has disabled can be refunded,
    too, and stays disabled if the dispute is won.
    """
    cards = list(GiftCard.objects.select_for_update().filter(shop=order.shop_id, line_id=line.pk).order_by("pk"))
    unspent = [card for card in cards if card.balance == card.value]
    if len(unspent) < line.refunded_qty:
        raise GiftCardSpent(
            _("%(name)s: only %(unspent)s of %(qty)s gift cards have not been used.")
            % {"name": line.name, "unspent": len(unspent), "qty": line.qty}
        )
    free = [card for card in unspent if card.disabled_at is None or card.is_withdrawn]
    missing = line.refunded_qty - (len(unspent) - len(free))
    for card in sorted(free, key=lambda card: card.is_withdrawn)[: max(missing, 0)]:
        disable_card(shop=order.shop, card=card, detail=f"Order {order.number} was refunded.", now=now)


def card_value(line: OrderLine) -> Decimal:
    """The value of each card of the line: its price without options."""
    options = sum((Decimal(option["price"]) for option in line.options), ZERO)
    return line.unit_price - options


def sold_cards(order: Order) -> list[GiftCard]:
    """The cards that the order has sold; no query for an order that sells none."""
    if all(line.gift_card is None for line in order.lines.all()):
        return []
    return list(cards_of_order(order.shop, order.pk))
