from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction

from storefront.carts import queries, rules, sql
from storefront.carts.models import LIFETIME, Cart, CartLine
from storefront.carts.purchasable import Purchasable, load_purchasables, offered_variants, stock_levels
from storefront.catalogue.stock import InsufficientStock
from storefront.customers.models import Customer
from storefront.kit import money, tokens
from storefront.kit.refusals import InvalidFields, Refusal, problem
from storefront.pricing import queries as pricing
from storefront.pricing.queries import GroupTerms
from storefront.pricing.rules import unit_price
from storefront.shops.models import Shop


# Programs rely on the codes of the refusals here, in `rules.py` and in `catalogue/stock.py` (R-ERR-9).
class ProductUnavailable(Refusal):
    """Unknown, draft, unpublished, deleted, or an inactive variant (R-CART-25)."""

    code, message, field = "product_unavailable", "This product is not available.", "product_id"


class VariantRequired(Refusal):
    code, message, field = "variant_required", "Please choose a variant of this product.", "variant_id"


class CartTooLarge(Refusal):
    code, message, field = "cart_too_large", f"A cart can have at most {rules.MAX_LINES} lines.", "cart"


NO_CART = "There is no cart: X-Cart-Token is missing, unknown or expired. Send the cart_token of an earlier response."


class LineNotFound(Refusal):
    """The cart has no line with this key, or there is no cart (R-CART-16)."""

    status, code, message = 404, "line_not_found", "The cart has no line with this key."


@dataclass(frozen=True, slots=True)
class Added:
    """A line after the write, its cart, and the cart's token: a new one for a new cart, None for a shopper's basket."""

    cart: Cart
    line: CartLine
    token: str | None


@dataclass(frozen=True, slots=True)
class Changed:
    """A cart after a write, all its lines, and its token."""

    cart: Cart
    lines: list[CartLine]
    token: str | None


@dataclass(frozen=True, slots=True)
class LineChange:
    """What repricing found for a line. An unavailable line keeps its snapshots; the cart cannot be ordered with it."""

    line: CartLine
    old_price: Decimal
    is_unavailable: bool = False


# Columns in which a line copies the catalogue when it is added or repriced.
_SNAPSHOTS = ["price_snapshot", "name_snapshot", "image_snapshot", "options", "bundle_items"]


@dataclass(frozen=True, slots=True)
class _LineRequest:
    """What a caller wants to add: checked against the product, not yet against a cart."""

    purchasable: Purchasable
    key: str
    choices: list[rules.Choice]
    custom_fields: list[dict[str, str]]
    custom_price: Decimal | None
    is_damaged: bool


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
    with_token: bool = True,
) -> Added:
    """Add `qty` pieces to the cart that `token` or `cart` identifies, or to a new one (R-CART-12).

    If the cart has the same line, its quantity is increased. A new cart gets a token unless `with_token` is false, as
    for a basket that a shopper begins in the shop.

    Raises ProductUnavailable, VariantRequired, OptionRequired, InvalidOption, InvalidCustomPrice, InsufficientStock,
    CartTooLarge and InvalidFields; then no cart is created (R-CART-5), and an existing one stays as it was (R-CART-17).
    """
    check_qty(qty, least=1)
    # Read the product before the transaction: on SQLite a transaction blocks all other writers.
    purchasable = _load_for_sale(shop, product_id, variant_id, now)
    wanted = _line_request(purchasable, options, custom_fields, custom_price, is_damaged)
    is_new = cart is None and not tokens.is_well_formed(token, queries.TOKEN_PREFIX)
    try:
        # Without an existing cart there is nothing to lock, and `insert_cart` is atomic by itself.
        with nullcontext() if is_new else transaction.atomic():
            locked, lines = _lock_cart(shop, now, token, cart)
            line = _merged_line(shop, now, locked, lines, wanted, qty)
            if locked is None:
                locked, token = _new_cart(shop, now, like=cart, with_token=with_token)
                sql.insert_cart(locked, line)
            elif line.pk is None:
                line.cart = locked
                sql.insert_line(line)
            else:
                line.save()
    except IntegrityError:
        # The merchant may have deleted the variant since it was read: then raise the refusal instead.
        _load_for_sale(shop, product_id, variant_id, now)
        raise
    return Added(locked, line, token if locked.token_digest else None)


def change_line(
    *, shop: Shop, now: datetime, key: str, qty: int, token: str | None = None, cart: Cart | None = None
) -> Changed:
    """Set the line's quantity; 0 removes the line (R-CART-13).

    Raises LineNotFound, also without a usable token (R-CART-7), InsufficientStock, ProductUnavailable and
    InvalidFields.
    """
    check_qty(qty, least=0)
    with transaction.atomic():
        locked, lines = _lock_cart(shop, now, token, cart)
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


def remove_line(*, shop: Shop, now: datetime, key: str, token: str | None = None, cart: Cart | None = None) -> Changed:
    """Remove the line from the cart (R-CART-14). Raises LineNotFound."""
    return change_line(shop=shop, now=now, key=key, qty=0, token=token, cart=cart)


def empty_cart(*, shop: Shop, now: datetime, token: str | None = None, cart: Cart | None = None) -> Changed:
    """Remove all lines. Without a usable token, create an empty cart (R-CART-6)."""
    with transaction.atomic():
        locked, lines = _lock_cart(shop, now, token, cart)
        if locked is None:
            locked, token = _new_cart(shop, now, like=cart, with_token=True)
            locked.save(force_insert=True)
        if lines:
            CartLine.objects.filter(shop=shop, cart=locked).delete()
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


@transaction.atomic
def reprice_cart(*, shop: Shop, cart: Cart, now: datetime) -> list[LineChange]:
    """Update the snapshots of every line from the catalogue. Returns the lines whose price changed and those that can
    no longer be bought. Writes only lines that changed."""
    locked = Cart.objects.select_for_update().filter(shop=shop, pk=cart.pk).first()
    lines = queries.cart_lines(shop, cart) if locked else []
    purchasables = load_purchasables(shop, {(line.product_id, line.variant_id) for line in lines}) if lines else {}
    customer_id = locked.customer_id if locked else None
    terms = pricing.group_terms(shop, customer_id, {line.product_id for line in lines})
    changes = []
    for line in lines:
        found = purchasables.get((line.product_id, line.variant_id))
        change = _reprice_line(line, found, terms, now)
        if change is not None:
            changes.append(change)
    return changes


def delete_expired_carts(*, now: datetime, limit: int = 500) -> int:
    """Delete up to `limit` expired carts of all shops. Returns how many were deleted.

    Skips carts that are locked by a write, which renews them.
    """
    with transaction.atomic():
        expired = Cart.objects.select_for_update(skip_locked=True).filter(expires_at__lte=now).order_by("expires_at")
        ids = list(expired.values_list("pk", flat=True)[:limit])
        if ids:
            Cart.objects.filter(pk__in=ids).delete()
    return len(ids)


def check_qty(qty: int, *, least: int) -> None:
    """Raises InvalidFields for a quantity below `least` or above the limit (R-LIM-5)."""
    if not least <= qty <= rules.MAX_QTY:
        raise InvalidFields(errors={"qty": [f"Expected {least} to {rules.MAX_QTY}."]})


def _load_for_sale(shop: Shop, product_id: int, variant_id: int | None, now: datetime) -> Purchasable:
    purchasable = load_purchasables(shop, [(product_id, variant_id)]).get((product_id, variant_id))
    if purchasable is None or not purchasable.is_for_sale(now):
        if variant_id is not None:
            raise _variant_refusal(shop, product_id, variant_id, now)
        raise ProductUnavailable
    if purchasable.needs_variant:
        allowed = offered_variants(purchasable.product)
        raise VariantRequired(
            problems=[problem("variant_id", VariantRequired.code, VariantRequired.message, allowed=allowed)]
        )
    return purchasable


def _variant_refusal(shop: Shop, product_id: int, variant_id: int, now: datetime) -> ProductUnavailable:
    """The refusal of a variant that the product does not offer, with those that it does; or of the product."""
    found = load_purchasables(shop, [(product_id, None)]).get((product_id, None))
    if found is None or not found.is_for_sale(now):
        return ProductUnavailable()
    message, allowed = f"The product has no variant {variant_id} for sale.", offered_variants(found.product)
    return ProductUnavailable(
        message, problems=[problem("variant_id", ProductUnavailable.code, message, allowed=allowed)]
    )


def _line_request(
    purchasable: Purchasable,
    options: Mapping[str, Any] | None,
    custom_fields: Sequence[Mapping[str, str]] | None,
    custom_price: Decimal | None,
    is_damaged: bool,
) -> _LineRequest:
    choices = rules.resolve_choices(purchasable.options, options)
    fields = rules.custom_fields(custom_fields or ())
    rules.check_custom_price(purchasable.product, purchasable.variant, choices, custom_price)
    key = rules.line_key(
        purchasable.product.pk,
        purchasable.variant.pk if purchasable.variant else None,
        choices=choices,
        custom_fields=fields,
        custom_price=custom_price,
        is_damaged=is_damaged,
    )
    return _LineRequest(purchasable, key, choices, fields, custom_price, is_damaged)


def _lock_cart(shop: Shop, now: datetime, token: str | None, cart: Cart | None) -> tuple[Cart | None, list[CartLine]]:
    """The identified cart, renewed, with its lines; (None, []) if there is none.

    The renewing UPDATE locks the cart's row, so other writes to this cart wait until this transaction ends (R-CART-18).
    If the write is refused, the transaction is rolled back and the cart is not renewed (R-CART-8). A `cart`
    given as a row is not checked for expiry: the caller has found it live.
    """
    if cart is not None:
        found = Cart.objects.filter(shop=shop, pk=cart.pk)
    elif tokens.is_well_formed(token, queries.TOKEN_PREFIX):
        found = queries.carts_with_token(shop, token, now)
    else:
        return None, []
    if not found.update(updated_at=now, expires_at=now + LIFETIME):
        return None, []
    return queries.cart_with_lines(shop, now, token=token, cart=cart)


def _new_cart(shop: Shop, now: datetime, *, like: Cart | None, with_token: bool) -> tuple[Cart, str | None]:
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


def _merged_line(
    shop: Shop, now: datetime, cart: Cart | None, lines: list[CartLine], wanted: _LineRequest, qty: int
) -> CartLine:
    """The line to write, new or with its quantity raised, at today's price. Raises CartTooLarge, InsufficientStock,
    InvalidCustomPrice and InvalidFields."""
    purchasable = wanted.purchasable
    line = next((line for line in lines if line.key == wanted.key), None)
    if line is None and len(lines) >= rules.MAX_LINES:
        raise CartTooLarge
    line = line or CartLine(
        shop=shop,
        key=wanted.key,
        product_id=purchasable.product.pk,
        variant_id=purchasable.variant.pk if purchasable.variant else None,
        qty=0,
        is_digital=purchasable.product.type == "digital",
        is_bundle=purchasable.product.type == "bundle",
        custom_fields=wanted.custom_fields,
        custom_price=wanted.custom_price,
        is_damaged=wanted.is_damaged,
        created_at=now,
    )
    terms = pricing.group_terms(shop, cart.customer_id if cart else None, [purchasable.product.pk])
    _snapshot(line, purchasable, wanted.choices, terms)
    if line.pk is None and not rules.has_room_for_text(line, lines):
        raise CartTooLarge(rules.TOO_MUCH_TEXT)
    fits = rules.addable_qty(rules.line_stock_uses(line, 1), rules.stock_needed(lines), purchasable.levels)
    if fits is not None and qty > fits:
        raise _insufficient_stock(purchasable.name, fits)
    line.qty += qty
    if line.qty > rules.MAX_QTY:
        raise InvalidFields(errors={"qty": [f"A line can have a quantity of at most {rules.MAX_QTY}."]})
    return line


def _snapshot(line: CartLine, purchasable: Purchasable, choices: Sequence[rules.Choice], terms: GroupTerms) -> None:
    price = unit_price(
        purchasable.product,
        purchasable.variant,
        [choice.price for choice in choices],
        group_price=terms.price(line.product_id, line.variant_id),
        group_percent=terms.percent_off(line.product_id),
        custom_price=line.custom_price,
        is_damaged=line.is_damaged,
    )
    if price > money.LARGEST:
        raise rules.InvalidCustomPrice("The price is too high.", errors={"custom_price": ["Too high."]})
    line.price_snapshot = price
    line.name_snapshot = purchasable.name
    line.image_snapshot = purchasable.image
    line.bundle_items = purchasable.bundle_items
    line.options = [choice.stored() for choice in choices]


def _insufficient_stock(name: str, available: int) -> InsufficientStock:
    left = f"Only {available} more available." if available else "No more are available."
    return InsufficientStock(f"Not enough stock of {name}. {left}", available=available)


def _check_raised_qty(shop: Shop, now: datetime, line: CartLine, lines: list[CartLine], qty: int) -> None:
    # Lowering a quantity is always allowed, even if stock has fallen below it.
    if qty <= line.qty:
        return
    purchasable = _load_for_sale(shop, line.product_id, line.variant_id, now)
    one = rules.line_stock_uses(line, 1)
    # The bundle's items may have changed since the line was added.
    levels = purchasable.levels | stock_levels(shop, {(use.kind, use.id) for use in one} - purchasable.levels.keys())
    fits = rules.addable_qty(one, rules.stock_needed(other for other in lines if other is not line), levels)
    if fits is not None and qty > fits:
        raise InsufficientStock(f"Only {fits} of {line.name_snapshot} available.", available=fits)


def _reprice_line(
    line: CartLine, purchasable: Purchasable | None, terms: GroupTerms, now: datetime
) -> LineChange | None:
    old, before = line.price_snapshot, [getattr(line, name) for name in _SNAPSHOTS]
    try:
        if purchasable is None or purchasable.needs_variant or not purchasable.is_for_sale(now):
            raise ProductUnavailable
        choices = rules.resolve_choices(purchasable.options, rules.choices_to_resolve(line.options))
        rules.check_custom_price(purchasable.product, purchasable.variant, choices, line.custom_price)
        _snapshot(line, purchasable, choices, terms)
    except Refusal:
        return LineChange(line, old, is_unavailable=True)
    if [getattr(line, name) for name in _SNAPSHOTS] != before:
        line.save(update_fields=_SNAPSHOTS)
    return LineChange(line, old) if line.price_snapshot != old else None
