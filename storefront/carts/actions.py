from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db import IntegrityError, transaction

from storefront.carts import queries, rules, sql
from storefront.carts.goods import Goods, Levels, load_goods, stock_levels
from storefront.carts.models import LIFETIME, Cart, CartLine
from storefront.catalogue.stock import InsufficientStock
from storefront.customers.models import Customer
from storefront.kit import money, tokens
from storefront.kit.refusals import InvalidFields, Refusal
from storefront.pricing import queries as pricing
from storefront.pricing.queries import GroupTerms
from storefront.pricing.rules import unit_price
from storefront.shops.models import Shop


class ProductUnavailable(Refusal):
    """Unknown, draft, unpublished, deleted, or an inactive variant (contract: Cart add rules, 1)."""

    code, message, field = "product_unavailable", "This product is not available.", "product_id"


class VariantRequired(Refusal):
    code, message, field = "variant_required", "Please choose a variant of this product.", "variant_id"


class CartTooLarge(Refusal):
    code, message, field = "cart_too_large", f"A cart holds at most {rules.MAX_LINES} lines.", "cart"


class LineNotFound(Refusal):
    status, code, message = 404, "line_not_found", "The cart has no such line."


@dataclass(frozen=True, slots=True)
class Added:
    """A line as it now is, its cart, and the token to go on with: new for a new cart, None for a shopper's basket."""

    cart: Cart
    line: CartLine
    token: str | None


@dataclass(frozen=True, slots=True)
class Changed:
    """A cart after a write, with all its lines, and the token that names it."""

    cart: Cart
    lines: list[CartLine]
    token: str | None


@dataclass(frozen=True, slots=True)
class LineChange:
    """What pricing a line again changed. An unavailable line stays as it was and must leave before an order."""

    line: CartLine
    old_price: Decimal
    is_unavailable: bool = False


# What a line keeps of the catalogue as it was when it was added or last priced.
_SNAPSHOTS = ["price_snapshot", "name_snapshot", "image_snapshot", "options", "bundle_items"]


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What is to be added, checked against the product but not yet against a cart."""

    goods: Goods
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
    """Put so many pieces into the cart that `token` or `cart` names, or into a new one (contract: Cart add rules).

    Adding what is there already raises its line's quantity. A new cart gets a token unless `with_token` is false, as
    for a basket that begins in the shop. Raises ProductUnavailable, VariantRequired, OptionRequired, InvalidOption,
    InvalidCustomPrice, InsufficientStock, CartTooLarge and InvalidFields.
    """
    check_qty(qty, least=1)
    # The product is read before the transaction, which on SQLite keeps all other writers waiting.
    goods = _goods_for_sale(shop, product_id, variant_id, now)
    wanted = _wanted(goods, options, custom_fields, custom_price, is_damaged)
    names_none = cart is None and not tokens.is_well_formed(token, queries.TOKEN_PREFIX)
    try:
        # Where no cart is named there is nothing to lock, and the write is one that is whole by itself.
        with nullcontext() if names_none else transaction.atomic():
            held, lines = _held(shop, now, token, cart)
            line = _merged_line(shop, now, held, lines, wanted, qty)
            if held is None:
                held, token = _new_cart(shop, now, like=cart, with_token=with_token)
                sql.insert_cart(held, line)
            elif line.pk is None:
                line.cart = held
                sql.insert_line(line)
            else:
                line.save()
    except IntegrityError:
        # The merchant deleted the variant since it was read; that is a refusal like any other.
        _goods_for_sale(shop, product_id, variant_id, now)
        raise
    return Added(held, line, token if held.token_digest else None)


def change_line(
    *, shop: Shop, now: datetime, key: str, qty: int, token: str | None = None, cart: Cart | None = None
) -> Changed:
    """Give the line this quantity; 0 removes it.

    Raises LineNotFound, InsufficientStock, ProductUnavailable and InvalidFields.
    """
    check_qty(qty, least=0)
    with transaction.atomic():
        held, lines = _held(shop, now, token, cart)
        line = next((line for line in lines if line.key == key), None)
        if held is None or line is None:
            raise LineNotFound
        if qty == 0:
            CartLine.objects.filter(shop=shop, pk=line.pk).delete()
            lines.remove(line)
        else:
            _check_raise(shop, now, line, lines, qty)
            line.qty = qty
            line.save(update_fields=["qty"])
    return Changed(held, lines, token)


def remove_line(*, shop: Shop, now: datetime, key: str, token: str | None = None, cart: Cart | None = None) -> Changed:
    """Take the line out of the cart. Raises LineNotFound."""
    return change_line(shop=shop, now=now, key=key, qty=0, token=token, cart=cart)


def empty_cart(*, shop: Shop, now: datetime, token: str | None = None, cart: Cart | None = None) -> Changed:
    """Take every line out. Without a usable token this makes an empty cart (decisions: Writes without a token)."""
    with transaction.atomic():
        held, lines = _held(shop, now, token, cart)
        if held is None:
            held, token = _new_cart(shop, now, like=cart, with_token=True)
            held.save(force_insert=True)
        if lines:
            CartLine.objects.filter(shop=shop, cart=held).delete()
    return Changed(held, [], token)


@transaction.atomic
def open_customer_cart(*, shop: Shop, customer: Customer, now: datetime) -> Cart:
    """The customer's one basket, empty where there was none or its time has passed. Two at once open the same."""
    Cart.objects.filter(shop=shop, customer=customer, expires_at__lte=now).delete()
    times = {"created_at": now, "updated_at": now, "expires_at": now + LIFETIME}
    return Cart.objects.get_or_create(shop=shop, customer=customer, defaults=times)[0]


@transaction.atomic
def merge_carts(*, shop: Shop, source: Cart, target: Cart, now: datetime) -> Cart:
    """Move what is in `source` into `target` and leave `source` empty.

    Lines that both have add up. Quantities stop at what stock allows, and lines that do not fit a cart stay out. The
    target's own customer group decides the prices.
    """
    if source.pk == target.pk:
        return target
    ids = sorted([source.pk, target.pk])
    # Both at once in one order, so that two merges the other way round do not wait for each other.
    carts = {cart.pk: cart for cart in Cart.objects.select_for_update().filter(shop=shop, pk__in=ids).order_by("pk")}
    if len(carts) < len(ids):
        return target
    lines = list(CartLine.objects.filter(shop=shop, cart=target).order_by("pk"))
    arriving = list(CartLine.objects.filter(shop=shop, cart=source).order_by("pk"))
    levels = stock_levels(shop, rules.held([*lines, *arriving]))
    for line in arriving:
        _move(line, lines, target, levels)
    CartLine.objects.filter(shop=shop, cart=source).delete()
    Cart.objects.filter(pk__in=ids).update(updated_at=now, expires_at=now + LIFETIME)
    if carts[target.pk].customer_id is not None:
        reprice_cart(shop=shop, cart=target, now=now)
    target.refresh_from_db()
    return target


@transaction.atomic
def reprice_cart(*, shop: Shop, cart: Cart, now: datetime) -> list[LineChange]:
    """Bring the snapshots of every line up to what the catalogue says now; the lines whose price changed, and those
    that cannot be bought any more. Writes nothing where nothing changed."""
    locked = Cart.objects.select_for_update().filter(shop=shop, pk=cart.pk).first()
    lines = queries.cart_lines(shop, cart) if locked else []
    goods = load_goods(shop, {(line.product_id, line.variant_id) for line in lines}) if lines else {}
    customer_id = locked.customer_id if locked else None
    terms = pricing.group_terms(shop, customer_id, {line.product_id for line in lines})
    changes = []
    for line in lines:
        found = goods.get((line.product_id, line.variant_id))
        change = _repriced(line, found, terms, now)
        if change is not None:
            changes.append(change)
    return changes


def delete_expired_carts(*, now: datetime, limit: int = 500) -> int:
    """Delete up to so many carts of all shops whose time has passed; how many it were.

    One that somebody is writing to at this moment is passed over: the write renews it.
    """
    with transaction.atomic():
        expired = Cart.objects.select_for_update(skip_locked=True).filter(expires_at__lte=now).order_by("expires_at")
        ids = list(expired.values_list("pk", flat=True)[:limit])
        if ids:
            Cart.objects.filter(pk__in=ids).delete()
    return len(ids)


def check_qty(qty: int, *, least: int) -> None:
    """Raises InvalidFields for a quantity that no line can have."""
    if not least <= qty <= rules.MAX_QTY:
        raise InvalidFields(errors={"qty": [f"Expected {least} to {rules.MAX_QTY}."]})


def _goods_for_sale(shop: Shop, product_id: int, variant_id: int | None, now: datetime) -> Goods:
    goods = load_goods(shop, [(product_id, variant_id)]).get((product_id, variant_id))
    if goods is None or not goods.is_for_sale(now):
        raise ProductUnavailable
    if goods.needs_variant:
        raise VariantRequired
    return goods


def _wanted(
    goods: Goods,
    options: Mapping[str, Any] | None,
    custom_fields: Sequence[Mapping[str, str]] | None,
    custom_price: Decimal | None,
    is_damaged: bool,
) -> _Wanted:
    choices = rules.choose(goods.options, options)
    fields = rules.custom_fields(custom_fields or ())
    rules.check_custom_price(goods.product, goods.variant, choices, custom_price)
    key = rules.line_key(
        goods.product.pk,
        goods.variant.pk if goods.variant else None,
        choices=choices,
        custom_fields=fields,
        custom_price=custom_price,
        is_damaged=is_damaged,
    )
    return _Wanted(goods, key, choices, fields, custom_price, is_damaged)


def _held(shop: Shop, now: datetime, token: str | None, cart: Cart | None) -> tuple[Cart | None, list[CartLine]]:
    """The cart that is meant, its life renewed, with its lines; (None, []) where there is none.

    Renewing it locks its row, so that whatever else is written to this cart waits until this transaction ends. A
    basket given as a row has been found live by its caller and counts as live here.
    """
    if cart is not None:
        named = Cart.objects.filter(shop=shop, pk=cart.pk)
    elif tokens.is_well_formed(token, queries.TOKEN_PREFIX):
        named = queries.named_carts(shop, token, now)
    else:
        return None, []
    if not named.update(updated_at=now, expires_at=now + LIFETIME):
        return None, []
    return queries.cart_with_lines(shop, now, token=token, cart=cart)


def _new_cart(shop: Shop, now: datetime, *, like: Cart | None, with_token: bool) -> tuple[Cart, str | None]:
    """A cart that is not stored yet, and its token. `like` is a basket that vanished meanwhile: the new one has the
    same owner, no token."""
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
    shop: Shop, now: datetime, cart: Cart | None, lines: list[CartLine], wanted: _Wanted, qty: int
) -> CartLine:
    """The line to write, new or raised, at today's price. Raises what stands against it."""
    goods = wanted.goods
    line = next((line for line in lines if line.key == wanted.key), None)
    if line is None and len(lines) >= rules.MAX_LINES:
        raise CartTooLarge
    line = line or CartLine(
        shop=shop,
        key=wanted.key,
        product_id=goods.product.pk,
        variant_id=goods.variant.pk if goods.variant else None,
        qty=0,
        is_digital=goods.product.type == "digital",
        is_bundle=goods.product.type == "bundle",
        custom_fields=wanted.custom_fields,
        custom_price=wanted.custom_price,
        is_damaged=wanted.is_damaged,
        created_at=now,
    )
    terms = pricing.group_terms(shop, cart.customer_id if cart else None, [goods.product.pk])
    _snapshot(line, goods, wanted.choices, terms)
    fits = rules.most_that_fit(rules.line_stock_uses(line, 1), rules.held(lines), goods.levels)
    if fits is not None and qty > fits:
        raise _short(goods.name, fits)
    line.qty += qty
    if line.qty > rules.MAX_QTY:
        raise InvalidFields(errors={"qty": [f"One line holds at most {rules.MAX_QTY} pieces."]})
    return line


def _snapshot(line: CartLine, goods: Goods, choices: Sequence[rules.Choice], terms: GroupTerms) -> None:
    price = unit_price(
        goods.product,
        goods.variant,
        [choice.price for choice in choices],
        group_price=terms.price(line.product_id, line.variant_id),
        group_percent=terms.percent_off(line.product_id),
        custom_price=line.custom_price,
        is_damaged=line.is_damaged,
    )
    if price > money.LARGEST:
        raise rules.InvalidCustomPrice("The price is too high.", errors={"custom_price": ["Too high."]})
    line.price_snapshot = price
    line.name_snapshot = goods.name
    line.image_snapshot = goods.image
    line.bundle_items = goods.bundle_items
    line.options = [choice.stored() for choice in choices]


def _short(name: str, available: int) -> InsufficientStock:
    left = f"Only {available} more can be had." if available else "No more can be had."
    return InsufficientStock(f"There is not enough of {name} in stock. {left}", available=available)


def _check_raise(shop: Shop, now: datetime, line: CartLine, lines: list[CartLine], qty: int) -> None:
    # Taking pieces out is always allowed, also when the shop has meanwhile sold what the line still asks for.
    if qty <= line.qty:
        return
    goods = _goods_for_sale(shop, line.product_id, line.variant_id, now)
    one = rules.line_stock_uses(line, 1)
    # A bundle may have other parts by now than the line was made of.
    levels = goods.levels | stock_levels(shop, {(use.kind, use.id) for use in one} - goods.levels.keys())
    fits = rules.most_that_fit(one, rules.held(other for other in lines if other is not line), levels)
    if fits is not None and qty > fits:
        raise InsufficientStock(f"Only {fits} of {line.name_snapshot} can be had.", available=fits)


def _move(line: CartLine, lines: list[CartLine], target: Cart, levels: Levels) -> None:
    """Add an arriving line to the target's, as far as stock, quantity and number of lines allow."""
    fits = rules.most_that_fit(rules.line_stock_uses(line, 1), rules.held(lines), levels)
    qty = line.qty if fits is None else min(line.qty, fits)
    same = next((other for other in lines if other.key == line.key), None)
    if same is not None:
        same.qty = min(same.qty + qty, rules.MAX_QTY)
        same.save(update_fields=["qty"])
    elif qty > 0 and len(lines) < rules.MAX_LINES:
        line.cart, line.qty = target, qty
        line.save(update_fields=["cart", "qty"])
        lines.append(line)


def _repriced(line: CartLine, goods: Goods | None, terms: GroupTerms, now: datetime) -> LineChange | None:
    old, before = line.price_snapshot, [getattr(line, name) for name in _SNAPSHOTS]
    try:
        if goods is None or goods.needs_variant or not goods.is_for_sale(now):
            raise ProductUnavailable
        choices = rules.choose(goods.options, rules.as_chosen(line.options))
        rules.check_custom_price(goods.product, goods.variant, choices, line.custom_price)
        _snapshot(line, goods, choices, terms)
    except Refusal:
        return LineChange(line, old, is_unavailable=True)
    if [getattr(line, name) for name in _SNAPSHOTS] != before:
        line.save(update_fields=_SNAPSHOTS)
    return LineChange(line, old) if line.price_snapshot != old else None
