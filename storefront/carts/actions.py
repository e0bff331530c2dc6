from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction
from django.utils.translation import gettext_lazy as _

from storefront.carts import queries, rules, sql
from storefront.carts.adding import (
    Checked,
    FillingCart,
    WantedLine,
    check_lines,
    check_qty,
    load_for_sale,
    snapshot,
)
from storefront.carts.checking import LineCheck, short_of
from storefront.carts.checking import check_lines as check_cart_lines
from storefront.carts.models import LIFETIME, SNAPSHOTS, Cart, CartLine
from storefront.carts.purchasable import Purchasable, Sold, Stock, load_purchasables, stock_levels
from storefront.customers.models import Customer
from storefront.kit import tokens
from storefront.kit.refusals import Refusal
from storefront.pods.moves import NOT_MOVING
from storefront.pricing import queries as pricing
from storefront.shops.models import Shop

NO_CART = "There is no cart: X-Cart-Token is missing, unknown or expired. Send the cart_token of an earlier response."


class LineNotFound(Refusal):
    """The cart has no line with this key, or there is no cart (R-CART-16)."""

    status, code, message = 404, "line_not_found", _("The cart has no line with this key.")


class InvalidLines(Refusal):
    """None of the lines was added, because some cannot be (R-CART-39). `refused` has their refusals by position.

    `errors` names fields such as `lines.3.qty`; `problems` has the refusals' codes and their other members.
    """

    code = "invalid_lines"

    def __init__(self, refused: Mapping[int, Refusal]) -> None:
        problems = [
            problem | {"field": f"lines.{index}.{problem['field']}"}
            for index, refusal in sorted(refused.items())
            for problem in refusal.body()["problems"]
        ]
        count = "1 line" if len(refused) == 1 else f"{len(refused)} lines"
        super().__init__(f"Nothing was added, because {count} cannot be added.", problems=problems)


# A check of the locked cart and its lines before a write, which raises to refuse it; (None, []) if there is no cart.
Precondition = Callable[[Cart | None, Sequence[CartLine]], None]


@dataclass(frozen=True, slots=True)
class Added:
    """A line after the write, its cart with all lines, and the cart's token: a new one for a new cart, None for a
    shopper's basket. `known` are the purchasables that were read."""

    cart: Cart
    line: CartLine
    lines: list[CartLine]
    token: str | None
    known: Mapping[Sold, Purchasable]


@dataclass(frozen=True, slots=True)
class Changed:
    """A cart after a write, all its lines, and its token. After a dry run, `cart` is None if there is none. `known` are
    the purchasables that were read."""

    cart: Cart | None
    lines: list[CartLine]
    token: str | None
    known: Mapping[Sold, Purchasable] = field(default_factory=dict)


def add_line(
    *,
    shop: Shop,
    now: datetime,
    product_id: int,
    qty: int,
    token: str | None = None,
    cart: Cart | None = None,
    variant_id: int | None = None,
    options: Mapping[str, Any] | None = None,
    custom_fields: Sequence[Mapping[str, str]] | None = None,
    custom_price: Decimal | None = None,
    is_damaged: bool = False,
    gift_card: Mapping[str, Any] | None = None,
    with_token: bool = True,
    precondition: Precondition | None = None,
) -> Added:
    """Add `qty` pieces to the cart that `token` or `cart` identifies, or to a new one (R-CART-12).

    If the cart has the same line, its quantity is increased. A new cart gets a token unless `with_token` is false.

    Raises the refusals of `check_lines`, InsufficientStock, TotalTooLarge and CartTooLarge; then no cart is created
    (R-CART-5), and an existing one stays as it was (R-CART-17).
    """
    wanted = [
        WantedLine(product_id, qty, variant_id, options, custom_fields or (), custom_price, is_damaged, gift_card)
    ]
    # Read the product before the transaction: on SQLite a transaction blocks all other writers.
    checked = check_lines(shop, wanted, now)
    checked.raise_first()
    is_new = cart is None and not tokens.is_well_formed(token, queries.TOKEN_PREFIX)
    try:
        # Without an existing cart there is nothing to lock, and `insert_cart` is atomic by itself.
        with nullcontext() if is_new else transaction.atomic():
            locked, lines = lock_cart(shop, now, token, cart, precondition)
            filling = FillingCart(shop, now, locked, lines, checked)
            line = filling.add(checked.lines[0])
            if locked is None:
                locked, token = new_cart(shop, now, like=cart, with_token=with_token)
                sql.insert_cart(locked, line)
            elif line.pk is None:
                line.cart = locked
                sql.insert_line(line)
            else:
                line.save()
    except IntegrityError:
        # The merchant may have deleted the variant since it was read: then raise the refusal instead.
        check_lines(shop, wanted, now).raise_first()
        raise
    return Added(locked, line, filling.lines, token if locked.token_digest else None, checked.purchasables)


def add_lines(
    *,
    shop: Shop,
    now: datetime,
    wanted: Sequence[WantedLine],
    token: str | None = None,
    is_dry_run: bool = False,
    precondition: Precondition | None = None,
) -> Changed:
    """Add all of these lines to the cart that `token` identifies, or to a new one; or none of them (R-CART-38).

    Each is added as by `add_line`, in their order. A dry run stores nothing, and returns the cart as it would become
    (R-CART-37).
    The number of queries does not depend on the number of lines. Raises InvalidLines.
    """
    checked = check_lines(shop, wanted, now)
    try:
        # A dry run takes no lock: on SQLite a transaction blocks all other writers.
        with nullcontext() if is_dry_run else transaction.atomic():
            cart, lines = (_read_cart if is_dry_run else lock_cart)(shop, now, token, None, precondition)
            filling = _fill(shop, now, cart, lines, checked)
            if is_dry_run:
                return Changed(cart, filling.lines, token if cart else None, checked.purchasables)
            if cart is None:
                cart, token = new_cart(shop, now, like=None, with_token=True)
                cart.save(force_insert=True)
            sql.store_lines(cart, list(filling.changed.values()))
    except IntegrityError:
        # The merchant may have deleted a variant since it was read, as in `add_line`.
        if refused := check_lines(shop, wanted, now).refused:
            raise InvalidLines(refused) from None
        raise
    return Changed(cart, filling.lines, token, checked.purchasables)


def change_line(
    *,
    shop: Shop,
    now: datetime,
    key: str,
    qty: int,
    token: str | None = None,
    cart: Cart | None = None,
    precondition: Precondition | None = None,
) -> Changed:
    """Set the line's quantity; 0 removes the line (R-CART-13, R-CART-14).

    Raises LineNotFound, also without a usable token (R-CART-7), InsufficientStock, TotalTooLarge, ProductUnavailable
    and InvalidFields.
    """
    check_qty(qty, least=0)
    with transaction.atomic():
        locked, lines = lock_cart(shop, now, token, cart, precondition)
        line = next((line for line in lines if line.key == key), None)
        if locked is None:
            raise LineNotFound(NO_CART)
        if line is None:
            raise LineNotFound
        if qty == 0:
            CartLine.objects.filter(shop=shop, pk=line.pk).delete()
            lines.remove(line)
        else:
            _check_raised_qty(shop, now, line, lines, qty)
            line.qty = qty
            line.save(update_fields=["qty"])
    return Changed(locked, lines, token)


def empty_cart(
    *,
    shop: Shop,
    now: datetime,
    token: str | None = None,
    cart: Cart | None = None,
    precondition: Precondition | None = None,
) -> Changed:
    """Remove all lines, discount codes and gift cards. Without a usable token, create an empty cart (R-CART-6)."""
    with transaction.atomic():
        locked, lines = lock_cart(shop, now, token, cart, precondition)
        if locked is None:
            locked, token = new_cart(shop, now, like=cart, with_token=True)
            locked.save(force_insert=True)
        if lines:
            CartLine.objects.filter(shop=shop, cart=locked).delete()
        if locked.discount_codes or locked.gift_cards:
            locked.discount_codes, locked.gift_cards = [], []
            locked.save(update_fields=["discount_codes", "gift_cards"])
    return Changed(locked, [], token)


@transaction.atomic
def open_customer_cart(*, shop: Shop, customer: Customer, now: datetime) -> Cart:
    """The customer's one basket, created if missing or expired. Concurrent calls return the same cart."""
    Cart.objects.filter(shop=shop, customer=customer, expires_at__lte=now).delete()
    times = {"created_at": now, "updated_at": now, "expires_at": now + LIFETIME}
    return Cart.objects.get_or_create(shop=shop, customer=customer, defaults=times)[0]


def open_basket(*, shop: Shop, public_id: UUID, now: datetime) -> Cart:
    """The visitor's basket with this id, which only their session knows; created if there is none. Concurrent calls
    return the same cart."""
    times = {"created_at": now, "updated_at": now, "expires_at": now + LIFETIME}
    return Cart.objects.get_or_create(shop=shop, public_id=public_id, defaults=times)[0]


@dataclass(frozen=True)
class Repriced:
    """Checks of the lines whose price changed, and of those that cannot be bought as they are; and all lines as they
    are stored now, as of `queries.cart_lines`."""

    checks: list[LineCheck]
    lines: list[CartLine]


@transaction.atomic
def reprice_cart(
    *, shop: Shop, cart: Cart, now: datetime, held: Callable[[], Mapping[Stock, int]] | None = None
) -> Repriced:
    """Update the snapshots of every line from the catalogue. Writes only lines that changed; an unavailable line keeps
    its snapshots.

    `held` is as in `checking.check_lines`."""
    locked = Cart.objects.select_for_update().filter(shop=shop, pk=cart.pk).first()
    lines = queries.cart_lines(shop, cart) if locked else []
    wanted = {(line.product_id, line.variant_id) for line in lines}
    purchasables = load_purchasables(shop, wanted, now) if lines else {}
    customer_id = locked.customer_id if locked else None
    terms = pricing.group_terms(shop, customer_id, {line.product_id for line in lines})
    checks, is_changed = check_cart_lines(shop, lines, purchasables, terms, now, held), False
    for check in checks:
        line = check.line
        if not check.is_unavailable:
            before = [getattr(line, name) for name in SNAPSHOTS]
            snapshot(line, purchasables[line.product_id, line.variant_id], check.choices, terms)
            if [getattr(line, name) for name in SNAPSHOTS] != before:
                line.save(update_fields=SNAPSHOTS)
                is_changed = True
            else:
                # Equal, but perhaps written in another way, as 9.5 and 9.50 are.
                for name, value in zip(SNAPSHOTS, before, strict=True):
                    setattr(line, name, value)
    reported = [check for check in checks if check.problems or check.is_price_changed]
    return Repriced(reported, queries.cart_lines(shop, cart) if is_changed else lines)


def delete_expired_carts(*, now: datetime, limit: int = 500) -> int:
    """Delete up to `limit` expired carts of all shops. Returns how many were deleted.

    Skips carts that are locked by a write, which renews them.
    """
    with transaction.atomic():
        expired = (
            Cart.objects.select_for_update(skip_locked=True)
            .filter(NOT_MOVING, expires_at__lte=now)
            .order_by("expires_at")
        )
        ids = list(expired.values_list("pk", flat=True)[:limit])
        if ids:
            Cart.objects.filter(pk__in=ids).delete()
    return len(ids)


def _fill(shop: Shop, now: datetime, cart: Cart | None, lines: list[CartLine], checked: Checked) -> FillingCart:
    """The cart with the checked lines added, not stored. Raises InvalidLines, which names all that cannot be added."""
    filling = FillingCart(shop, now, cart, lines, checked)
    refused = dict(checked.refused)
    for index, line in checked.lines.items():
        try:
            filling.add(line)
        except Refusal as refusal:
            refused[index] = refusal
    if refused:
        raise InvalidLines(refused)
    return filling


def _read_cart(
    shop: Shop, now: datetime, token: str | None, cart: Cart | None, precondition: Precondition | None
) -> tuple[Cart | None, list[CartLine]]:
    """The identified cart and its lines, as `lock_cart` returns them, but neither renewed nor locked."""
    found, lines = queries.cart_with_lines(shop, now, token=token, cart=cart)
    if precondition is not None:
        precondition(found, lines)
    return found, lines


def lock_cart(
    shop: Shop, now: datetime, token: str | None, cart: Cart | None, precondition: Precondition | None = None
) -> tuple[Cart | None, list[CartLine]]:
    """The identified cart, renewed, with its lines; (None, []) if there is none. Raises what `precondition` raises.

    The renewing UPDATE locks the cart's row, so other writes to this cart wait until this transaction ends (R-CART-18).
    If the write is refused, the transaction is rolled back and the cart is not renewed (R-CART-8). A `cart`
    given as a row is not checked for expiry: the caller has found it live.
    """
    if cart is not None:
        found = Cart.objects.filter(shop=shop, pk=cart.pk)
    elif tokens.is_well_formed(token, queries.TOKEN_PREFIX):
        found = queries.carts_with_token(shop, token, now)
    else:
        found = Cart.objects.none()
    if found.update(updated_at=now, expires_at=now + LIFETIME):
        return _read_cart(shop, now, token, cart, precondition)
    if precondition is not None:
        precondition(None, [])
    return None, []


def new_cart(shop: Shop, now: datetime, *, like: Cart | None, with_token: bool) -> tuple[Cart, str | None]:
    """An unsaved cart and its token. With `like`, a cart that was deleted meanwhile: one of the same customer, without
    a token."""
    token = tokens.new_token(queries.TOKEN_PREFIX) if with_token and like is None else None
    cart = Cart(
        shop=shop,
        token_digest=tokens.digest(token) if token else None,
        customer_id=like.customer_id if like else None,
        created_at=now,
        updated_at=now,
        expires_at=now + LIFETIME,
    )
    return cart, token


def _check_raised_qty(shop: Shop, now: datetime, line: CartLine, lines: list[CartLine], qty: int) -> None:
    # Lowering a quantity is always allowed, even if stock has fallen below it.
    if qty <= line.qty:
        return
    purchasable = load_for_sale(shop, line.product_id, line.variant_id, now)
    one = rules.line_stock_uses(line, 1)
    # The bundle's items may have changed since the line was added.
    levels = purchasable.levels | stock_levels(shop, {(use.kind, use.id) for use in one} - purchasable.levels.keys())
    fits = rules.addable_qty(one, rules.stock_needed(other for other in lines if other is not line), levels)
    if fits is not None and qty > fits:
        raise short_of(line.name_snapshot, fits)
    if qty > rules.affordable_qty(line.price_snapshot, rules.subtotal(other for other in lines if other is not line)):
        raise rules.TotalTooLarge
