"""Issues gift cards, has them mailed, disables and enables them, and changes their expiry."""

from collections.abc import Iterable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

from django.db import transaction
from django.utils.translation import gettext as _

from storefront import audit
from storefront.gift_cards import jobs
from storefront.gift_cards.codes import GiftCardNotSendable
from storefront.gift_cards.ledger import Kind, write_entry
from storefront.gift_cards.models import GiftCard
from storefront.kit.money import MAX_AMOUNT, ZERO, problem_of
from storefront.kit.refusals import InvalidFields
from storefront.shops.models import Shop

MAX_MESSAGE = 500
# How many days ahead a mail can be scheduled.
MAX_DAYS_AHEAD = 366
MORNING = time(8)


@transaction.atomic
def issue_card(
    *,
    shop: Shop,
    value: Decimal,
    email: str = "",
    message: str = "",
    giver: str = "",
    send_at: datetime | None = None,
    expires_at: datetime | None = None,
    now: datetime,
    currency: str = "",
    **sold_with: Any,
) -> GiftCard:
    """Issue a card over `value`. With an email address, the code is mailed, at `send_at` or at once. Without one,
    `show_code` creates the code.

    `currency` is the shop's by default; pass that of an order which was placed before the shop's currency changed.
    Without `expires_at`, the shop's setting applies, counted from the day of sending. `sold_with`: `order_id`,
    `line_id`, `number` and `language` of a card that was sold. Raises InvalidFields.
    """
    if not ZERO < value <= MAX_AMOUNT:
        raise InvalidFields(errors={"value": [_("Enter an amount of more than 0.00.")]})
    begins = max(send_at or now, now)
    if expires_at is None and shop.gift_card_expiry_days:
        expires_at = begins + timedelta(days=shop.gift_card_expiry_days)
    if expires_at is not None and expires_at <= begins:
        raise InvalidFields(errors={"expires_at": [_("The card would expire before it is sent.")]})
    card = GiftCard.objects.create(
        shop=shop,
        currency=currency or shop.currency,
        value=value,
        balance=value,
        email=email,
        message=message,
        giver=giver,
        send_at=begins if email else None,
        expires_at=expires_at,
        created_at=now,
        **sold_with,
    )
    write_entry(GiftCard.objects.filter(pk=card.pk), Kind.ISSUED, card.value, now)
    return card


@transaction.atomic
def issue_by_hand(*, shop: Shop, value: Decimal, now: datetime, **given: Any) -> GiftCard:
    """Issue a card that nobody bought. Like `issue_card`, with an audit entry."""
    if problem := problem_of(value, shop.currency):
        raise InvalidFields(errors={"value": [_("The value %(problem)s.") % {"problem": problem}]})
    card = issue_card(shop=shop, value=value, now=now, **given)
    after = {"value": card.value, "currency": card.currency, "expires_at": card.expires_at}
    audit.record(shop=shop, action="gift_card.issued", object=card, after=after, now=now)
    return card


@transaction.atomic
def resend_card(*, shop: Shop, card: GiftCard, email: str, now: datetime) -> None:
    """Mail the card with a new code to this address, at once. Raises GiftCardNotSendable."""
    locked = _lock(shop, card)
    if locked.disabled_at is not None:
        raise GiftCardNotSendable
    # Without the address itself, which is personal data.
    after = {"to_another_address": email != locked.email}
    locked.email, locked.send_at = email, None
    locked.save(update_fields=["email", "send_at"])
    jobs.send_gift_card.enqueue(locked.shop_id, locked.pk)
    audit.record(shop=shop, action="gift_card.sent_again", object=locked, after=after, now=now)


@transaction.atomic
def disable_card(*, shop: Shop, card: GiftCard, detail: str = "", is_withdrawn: bool = False, now: datetime) -> None:
    """Disable the card: nobody can pay with it any more. Earlier payments stay. Does nothing if it is already disabled.
    For `is_withdrawn`, see `GiftCard`."""
    locked = _lock(shop, card)
    if locked.disabled_at is None or (locked.is_withdrawn and not is_withdrawn):
        locked.disabled_at, locked.is_withdrawn = locked.disabled_at or now, is_withdrawn
        _save_state(shop, locked, Kind.DISABLED, "gift_card.disabled", detail, now)


@transaction.atomic
def enable_card(*, shop: Shop, card: GiftCard, detail: str = "", only_withdrawn: bool = False, now: datetime) -> None:
    """Enable the card again; with `only_withdrawn`, only if it was withdrawn and not disabled by staff."""
    locked = _lock(shop, card)
    if locked.disabled_at is not None and (locked.is_withdrawn or not only_withdrawn):
        locked.disabled_at, locked.is_withdrawn = None, False
        _save_state(shop, locked, Kind.ENABLED, "gift_card.enabled", detail, now)


@transaction.atomic
def change_expiry(*, shop: Shop, card: GiftCard, expires_at: datetime | None, now: datetime) -> None:
    """Set when the card expires; None: never."""
    locked = _lock(shop, card)
    before, locked.expires_at = {"expires_at": locked.expires_at}, expires_at
    locked.save(update_fields=["expires_at"])
    detail = expires_at.date().isoformat() if expires_at else "never"
    write_entry(GiftCard.objects.filter(pk=locked.pk), Kind.EXPIRY, ZERO, now, detail=detail)
    after = {"expires_at": expires_at}
    audit.record_change(
        shop=shop, action="gift_card.expiry_changed", object=locked, before=before, after=after, now=now
    )


def withdraw_cards(*, shop: Shop, order_id: int, detail: str, only_unspent: bool = False, now: datetime) -> None:
    """Disable the cards of an order whose purchase was taken back; with `only_unspent`, those with a balance."""
    cards = GiftCard.objects.filter(shop=shop, order_id=order_id, disabled_at=None)
    for card in (cards.exclude(balance=ZERO) if only_unspent else cards).order_by("pk"):
        disable_card(shop=shop, card=card, detail=detail, is_withdrawn=True, now=now)


def restore_cards(*, shop: Shop, order_id: int, detail: str, now: datetime) -> None:
    """Enable the cards of an order that `withdraw_cards` disabled."""
    for card in GiftCard.objects.filter(shop=shop, order_id=order_id, is_withdrawn=True).order_by("pk"):
        enable_card(shop=shop, card=card, detail=detail, only_withdrawn=True, now=now)


def morning_of(shop: Shop, day: date) -> datetime:
    """The time on this day at which mails are sent: eight o'clock in the shop's time zone."""
    return datetime.combine(day, MORNING, ZoneInfo(shop.timezone))


def end_of(shop: Shop, day: date) -> datetime:
    """The end of this day in the shop's time zone."""
    return datetime.combine(day + timedelta(days=1), time(), ZoneInfo(shop.timezone))


def cards_of_order(shop: Shop, order_id: int) -> Iterable[GiftCard]:
    return GiftCard.objects.filter(shop=shop, order_id=order_id).order_by("line_id", "number")


def _lock(shop: Shop, card: GiftCard) -> GiftCard:
    return GiftCard.objects.select_for_update(of=("self",), no_key=True).get(shop=shop, pk=card.pk)


def _save_state(shop: Shop, card: GiftCard, kind: Kind, action: str, detail: str, now: datetime) -> None:
    card.save(update_fields=["disabled_at", "is_withdrawn"])
    write_entry(GiftCard.objects.filter(pk=card.pk), kind, ZERO, now, detail=detail)
    audit.record(shop=shop, action=action, object=card, after={"reason": detail} if detail else None, now=now)
