"""Lines that enter a shopper's basket from another cart: copied from an integration's cart or moved at sign-in, removed
by an undo, and removed from the integration's cart once they are ordered.

Every write here locks the basket's row until the transaction ends. The basket is locked before integrations' carts, and
those in the order of their ids, so that transactions cannot deadlock.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NotRequired, TypedDict

from django.db import transaction

from storefront.carts import queries, rules
from storefront.carts.actions import reprice_cart
from storefront.carts.arrivals import ArrivalSummary, own_pieces, record_own_pieces, summarise_arrivals, trim_arrivals
from storefront.carts.models import LIFETIME, Arrival, Cart, CartLine, CartOrder, CheckoutLink
from storefront.carts.purchasable import Levels, stock_levels
from storefront.shops.models import Shop


class MergeReport(TypedDict):
    """`added` holds `{name, qty}`; `missing` holds `{name, wanted, qty}`, as in an arrival."""

    added: list[dict[str, Any]]
    missing: list[dict[str, Any]]


class Ordered(TypedDict):
    """The contents that an order removes from carts: `pieces` of the basket by the line's key; `arrivals` holds `{id,
    source, pieces}`, the part that each integration's cart brought; `codes` are the basket's discount codes, and
    `gift_cards` the ids of its gift cards."""

    pieces: dict[str, int]
    arrivals: list[dict[str, Any]]
    codes: NotRequired[list[str]]
    gift_cards: NotRequired[list[int]]


_NOT_COPIED = {"id", "shop_id", "cart_id", "qty"}
_COPIED = [field.attname for field in CartLine._meta.concrete_fields if field.attname not in _NOT_COPIED]


@transaction.atomic
def copy_into_basket(
    *, shop: Shop, source: Cart, target: Cart, link: CheckoutLink | None = None, now: datetime
) -> None:
    """Copy the lines of an integration's cart into a shopper's basket, replacing what that cart brought before.

    The arrival gets what the integration gave with the link that was followed.

    `source` does not change. Quantities of equal lines add up, as far as stock and the limits of a cart allow; the
    arrival records what did not fit. A customer's basket gets the prices of the customer's group (R-LINK-17).
    Concurrent calls wait for each other, and the second replaces the first.
    """
    locked = _lock(shop, [target.pk])
    if not locked or source.pk == target.pk:
        return
    basket = _Basket(shop, locked[0])
    basket.remove_arrivals([arrival for arrival in basket.arrivals if arrival.source_id == source.pk])
    arriving = queries.cart_lines(shop, source)
    arrival = Arrival(shop=shop, source=source, target=target, was_merged=bool(basket.lines), created_at=now)
    if link is not None:
        arrival.checkout_link = link.public_id
        for column, value in link.attribution().items():
            setattr(arrival, column, value)
    basket.add_codes(source)
    levels = stock_levels(shop, rules.stock_needed([*basket.lines, *arriving]))
    for line in arriving:
        copy, qty = basket.add_copy(line, levels)
        if copy is not None and qty:
            arrival.lines.append({"line": copy.pk, "key": line.key, "qty": qty, "own": 0})
        _add_missing(arrival, line, wanted=line.qty, qty=qty)
    basket.arrivals.append(arrival)
    basket.save(now)


@transaction.atomic
def merge_carts(*, shop: Shop, source: Cart, target: Cart, now: datetime) -> Cart:
    """Move the lines of one basket into another and leave the first empty. Returns the target.

    Quantities of equal lines add up, as far as stock and the limits of a cart allow. What both baskets got from the
    same integration's cart is not added up: the source's pieces replace the target's. The target's customer group
    decides the prices. The target's `merge_report` records for the shopper what was added and what did not fit.
    """
    locked = {cart.pk: cart for cart in _lock(shop, [source.pk, target.pk])}
    if len(locked) < 2:
        return target
    leaving, basket = _Basket(shop, locked[source.pk]), _Basket(shop, locked[target.pk])
    arriving_sources = {arrival.source_id for arrival in leaving.arrivals}
    basket.remove_arrivals([arrival for arrival in basket.arrivals if arrival.source_id in arriving_sources])
    was_merged = bool(basket.lines)
    levels = stock_levels(shop, rules.stock_needed([*basket.lines, *leaving.lines]))
    moved = {line.pk: _MovedLine(line, *basket.add_copy(line, levels)) for line in leaving.lines}
    CartLine.objects.filter(shop=shop, cart=source).delete()
    basket.add_codes(leaving.cart)
    for each in moved.values():
        # If not all pieces fit, those that the shopper chose come before those that a link brought.
        each.unassigned = max(each.qty - own_pieces(each.line, leaving.arrivals), 0)
    _save_report(basket, moved.values(), leaving.arrivals, was_merged=was_merged)
    for arrival in leaving.arrivals:
        _repoint(arrival, moved)
        arrival.target, arrival.was_merged = target, arrival.was_merged or was_merged
        basket.arrivals.append(arrival)
    basket.save(now)
    emptied: dict[str, list] = {"discount_codes": [], "gift_cards": []}
    Cart.objects.filter(shop=shop, pk=source.pk).update(**emptied, updated_at=now, expires_at=now + LIFETIME)
    target.refresh_from_db()
    return target


@transaction.atomic
def undo_arrival(*, shop: Shop, cart: Cart, arrival_id: int, now: datetime) -> bool:
    """Remove what a link brought from the basket. False if that was done before, or if the items were ordered."""
    locked = _lock(shop, [cart.pk])
    if not locked:
        return False
    basket = _Basket(shop, locked[0])
    found = [arrival for arrival in basket.arrivals if arrival.pk == arrival_id]
    basket.remove_arrivals(found)
    if found:
        basket.save(now)
    return bool(found)


def arrival_summaries(shop: Shop, cart: Cart, lines: Sequence[CartLine]) -> list[ArrivalSummary]:
    """By link: what it brought into this basket and is still there, and what did not fit."""
    arrivals = list(Arrival.objects.filter(shop=shop, target=cart).order_by("pk"))
    return summarise_arrivals(arrivals, lines)


def last_arrival(shop: Shop, cart: Cart, lines: Sequence[CartLine]) -> Arrival | None:
    """The last arrival of which something is still in this basket: an order belongs to its link (R-LINK-22)."""
    arrivals = list(Arrival.objects.filter(shop=shop, target=cart).order_by("pk"))
    trim_arrivals(arrivals, lines)
    return next((arrival for arrival in reversed(arrivals) if arrival.lines), None)


def pop_merge_report(*, shop: Shop, cart: Cart) -> MergeReport | None:
    """Return the report of what merging added to this basket and what did not fit. Clears it, so that it is returned
    once."""
    report = cart.merge_report
    unread = Cart.objects.filter(shop=shop, pk=cart.pk, merge_report__isnull=False)
    return report if report and unread.update(merge_report=None) else None


def ordered_lines(*, shop: Shop, cart: Cart) -> tuple[Ordered, list[Arrival]]:
    """The contents that an order of this locked basket removes from carts, and the arrivals that brought its items,
    oldest first."""
    basket = _Basket(shop, cart)
    arrivals = [arrival for arrival in basket.arrivals if arrival.lines]
    brought = [
        {"id": each.pk, "source": each.source_id, "pieces": {entry["key"]: entry["qty"] for entry in each.lines}}
        for each in arrivals
    ]
    pieces = {line.key: line.qty for line in basket.lines}
    ordered: Ordered = {"pieces": pieces, "arrivals": brought, "codes": cart.discount_codes}
    return ordered | {"gift_cards": cart.gift_cards}, arrivals


@transaction.atomic(savepoint=False)
def remove_ordered_lines(*, shop: Shop, cart: Cart | None, ordered: Ordered, now: datetime) -> list[int]:
    """Remove what was ordered from the basket, which the caller has locked, and from the integrations' carts that it
    came from (R-CART-36). `cart` is None if the basket was deleted.

    Returns the ids of those carts. Pieces that were removed in the meantime are ignored; other lines stay.
    """
    sources: dict[int, Counter[str]] = defaultdict(Counter)
    for arrival in ordered["arrivals"]:
        sources[arrival["source"]].update(arrival["pieces"])
    found = _lock(shop, sorted(sources))
    for source in found:
        _take_out(shop, source, sources[source.pk], ordered)
    ids = [source.pk for source in found]
    Cart.objects.filter(shop=shop, pk__in=ids, expires_at__gt=now).update(updated_at=now, expires_at=now + LIFETIME)
    if cart is not None:
        Arrival.objects.filter(shop=shop, target=cart, pk__in=[each["id"] for each in ordered["arrivals"]]).delete()
        _take_out(shop, cart, Counter(ordered["pieces"]), ordered)
        if not CartLine.objects.filter(shop=shop, cart=cart).exists():
            Arrival.objects.filter(shop=shop, target=cart).delete()
        Cart.objects.filter(shop=shop, pk=cart.pk).update(updated_at=now, expires_at=now + LIFETIME)
    return ids


def record_order(*, shop: Shop, cart_ids: Sequence[int], order_id: int, number: int, placed_at: datetime) -> None:
    """Record the order in the integrations' carts that its items came from. Call in the transaction that places it."""
    if cart_ids:
        given = {"shop": shop, "order_id": order_id, "number": number, "placed_at": placed_at}
        CartOrder.objects.bulk_create([CartOrder(cart_id=cart_id, **given) for cart_id in cart_ids])
        Cart.objects.filter(shop=shop, pk__in=cart_ids).update(ordered_at=placed_at)


@dataclass(slots=True)
class _MovedLine:
    """A moved line and the line that it was added to, with the pieces added (`qty`). `unassigned` of these are not yet
    assigned to arrivals."""

    line: CartLine
    target: CartLine | None
    qty: int
    unassigned: int = 0


class _Basket:
    """A basket with its lines and trimmed arrivals. The caller has locked its row."""

    def __init__(self, shop: Shop, cart: Cart) -> None:
        self.shop, self.cart = shop, cart
        self.lines = queries.cart_lines(shop, cart)
        self.arrivals = list(Arrival.objects.filter(shop=shop, target=cart).order_by("pk"))
        trim_arrivals(self.arrivals, self.lines)

    def remove_arrivals(self, arrivals: Sequence[Arrival]) -> None:
        """Delete these arrivals and the pieces that they brought."""
        lines = {line.pk: line for line in self.lines}
        for arrival in arrivals:
            for entry in arrival.lines:
                line = lines[entry["line"]]
                line.qty -= entry["qty"]
                _set_qty(line, line.qty)
            self.arrivals.remove(arrival)
            Arrival.objects.filter(shop=self.shop, pk=arrival.pk).delete()
        self.lines = [line for line in self.lines if line.qty > 0]

    def add_copy(self, line: CartLine, levels: Levels) -> tuple[CartLine | None, int]:
        """Add a copy of the line, as far as stock and the limits of a cart allow. Returns the basket's line, None if
        there is none, and how many pieces were added."""
        fits = rules.addable_qty(rules.line_stock_uses(line, 1), rules.stock_needed(self.lines), levels)
        same = next((other for other in self.lines if other.key == line.key), None)
        qty = min(line.qty, rules.MAX_QTY - same.qty if same else line.qty)
        qty = min(qty, rules.affordable_qty((same or line).price_snapshot, rules.subtotal(self.lines)))
        qty = qty if fits is None else min(qty, fits)
        is_full = len(self.lines) >= rules.MAX_LINES or not rules.has_room_for_text(line, self.lines)
        if qty <= 0 or (same is None and is_full):
            return same, 0
        if same is not None:
            same.qty += qty
            same.save(update_fields=["qty"])
        else:
            copied = {name: getattr(line, name) for name in _COPIED}
            same = CartLine.objects.create(shop=self.shop, cart=self.cart, qty=qty, **copied)
            self.lines.append(same)
        return same, qty

    def add_codes(self, other: Cart) -> None:
        """Add another cart's discount codes and gift cards after the basket's own, as far as there is room. Its totals
        show which of them apply (R-CART-45)."""
        codes = dict.fromkeys([*self.cart.discount_codes, *other.discount_codes])
        gift_cards = dict.fromkeys([*self.cart.gift_cards, *other.gift_cards])
        self.cart.discount_codes = list(codes)[: rules.MAX_CODES]
        self.cart.gift_cards = list(gift_cards)[: rules.MAX_GIFT_CARDS]

    def save(self, now: datetime) -> None:
        """Save the codes and arrivals, renew the basket, and reprice a customer's lines for their group."""
        record_own_pieces(self.arrivals, self.lines)
        for arrival in self.arrivals:
            arrival.save()
        Cart.objects.filter(shop=self.shop, pk=self.cart.pk).update(
            discount_codes=self.cart.discount_codes,
            gift_cards=self.cart.gift_cards,
            updated_at=now,
            expires_at=now + LIFETIME,
        )
        if self.cart.customer_id is not None:
            reprice_cart(shop=self.shop, cart=self.cart, now=now)


def _lock(shop: Shop, ids: Sequence[int]) -> list[Cart]:
    """Lock these carts in the order of their ids, so that transactions cannot deadlock. Missing ones are left out."""
    return list(Cart.objects.select_for_update().filter(shop=shop, pk__in=ids).order_by("pk")) if ids else []


def _take_out(shop: Shop, cart: Cart, pieces: Counter[str], ordered: Ordered) -> None:
    """Lower these lines of a locked cart by so many pieces, by key, and remove what else was ordered with."""
    codes = [code for code in cart.discount_codes if code not in ordered.get("codes", [])]
    gift_cards = [card for card in cart.gift_cards if card not in ordered.get("gift_cards", [])]
    if (codes, gift_cards) != (cart.discount_codes, cart.gift_cards):
        cart.discount_codes, cart.gift_cards = codes, gift_cards
        cart.save(update_fields=["discount_codes", "gift_cards"])
    lines = list(CartLine.objects.filter(shop=shop, cart=cart, key__in=list(pieces)))
    for line in lines:
        line.qty -= pieces[line.key]
    CartLine.objects.filter(shop=shop, pk__in=[line.pk for line in lines if line.qty <= 0]).delete()
    for line in lines:
        if line.qty > 0:
            line.save(update_fields=["qty"])


def _set_qty(line: CartLine, qty: int) -> None:
    """Store the line's quantity; 0 or less deletes the line."""
    if qty > 0:
        CartLine.objects.filter(shop=line.shop_id, pk=line.pk).update(qty=qty)
    else:
        CartLine.objects.filter(shop=line.shop_id, pk=line.pk).delete()


def _save_report(
    basket: _Basket, moved: Iterable[_MovedLine], arrivals: Sequence[Arrival], *, was_merged: bool
) -> None:
    """Record for the shopper what was added and what did not fit of the pieces that they chose. Arrivals record the
    pieces that links brought.

    `added` stays empty if the target was empty: then the basket looks as the shopper left it.
    """
    report: MergeReport = {"added": [], "missing": []}
    for each in moved:
        name, wanted = each.line.name_snapshot, own_pieces(each.line, arrivals)
        qty = each.qty - each.unassigned
        if qty and was_merged:
            report["added"].append({"name": name, "qty": qty})
        if qty < wanted:
            report["missing"].append({"name": name, "wanted": wanted, "qty": qty})
    if report["added"] or report["missing"]:
        unread = basket.cart.merge_report or {"added": [], "missing": []}
        report = {"added": unread["added"] + report["added"], "missing": unread["missing"] + report["missing"]}
        Cart.objects.filter(shop=basket.shop, pk=basket.cart.pk).update(merge_report=report)


def _repoint(arrival: Arrival, moved: dict[int, _MovedLine]) -> None:
    """Replace the arrival's lines by the target's lines that they were added to, and assign their pieces."""
    entries = []
    for entry in arrival.lines:
        line = moved[entry["line"]]
        qty = min(entry["qty"], line.unassigned)
        line.unassigned -= qty
        if line.target is not None and qty:
            entries.append(entry | {"line": line.target.pk, "qty": qty})
        _add_missing(arrival, line.line, wanted=entry["qty"], qty=qty)
    arrival.lines = entries


def _add_missing(arrival: Arrival, line: CartLine, *, wanted: int, qty: int) -> None:
    if qty < wanted:
        arrival.missing.append({"name": line.name_snapshot, "wanted": wanted, "qty": qty})
