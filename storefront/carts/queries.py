from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import F, QuerySet

from storefront.carts import sql
from storefront.carts.models import Cart, CartLine, CartOrder
from storefront.catalogue.models import Product, Variant
from storefront.customers.models import Customer, CustomerGroup
from storefront.gift_cards.applying import applied_cards
from storefront.kit import tokens
from storefront.kit.money import ZERO
from storefront.kit.sql import fetch, unwrapped
from storefront.pricing import queries as pricing
from storefront.pricing import rules
from storefront.pricing.candidates import Shopper
from storefront.pricing.candidates import candidates as discount_candidates
from storefront.pricing.discounts import Candidate, PricedLine, apply_discounts
from storefront.pricing.shipping import Parcel
from storefront.pricing.taxes import TaxTerms
from storefront.shops.models import Shop

# A cart token is this prefix and 256 random bits; the table has its digest (R-CART-3).
TOKEN_PREFIX = "cart"  # noqa: S105, a token's prefix is no secret


def cart_with_lines(
    shop: Shop, now: datetime, *, token: str | None = None, cart: Cart | None = None
) -> tuple[Cart | None, list[CartLine]]:
    """The live cart with this token, or the given cart even if it has expired, and its lines with their products and
    variants, in one query.

    (None, []) if there is none: a token that is missing, malformed, unknown, expired or of another shop is no error
    (R-CART-4).
    """
    database = unwrapped(connection)
    if cart is not None:
        rows = fetch(database, sql.LINES_BY_CART, {"shop": shop.pk, "cart": cart.pk})
    elif tokens.is_well_formed(token, TOKEN_PREFIX):
        moment = database.ops.adapt_datetimefield_value(now)
        given = {"shop": shop.pk, "digest": tokens.digest(token), "now": moment}
        rows = fetch(database, sql.LINES_BY_TOKEN, given)
    else:
        return None, []
    if not rows:
        return None, []
    found = sql.CART.instance(database, rows[0])
    return found, sql.lines_of(database, rows, found)


def cart_by_public_id(shop: Shop, public_id: UUID | str, now: datetime) -> Cart | None:
    """The live cart with this public id, a shopper's basket or an integration's cart. None also for an invalid UUID."""
    try:
        public_id = UUID(str(public_id))
    except ValueError:
        return None
    return Cart.objects.filter(shop=shop, public_id=public_id, expires_at__gt=now).first()


def cart_of_customer(shop: Shop, customer: Customer, now: datetime) -> Cart | None:
    """The customer's live basket, the same on every device."""
    return Cart.objects.filter(shop=shop, customer=customer, expires_at__gt=now).first()


_OF_PRODUCT: dict[str, Any] = {"requires_shipping": F("product__requires_shipping")}


def cart_lines(shop: Shop, cart: Cart) -> list[CartLine]:
    """The cart's lines in the order they were added, with `requires_shipping` of their products."""
    return list(CartLine.objects.filter(shop=shop, cart=cart).annotate(**_OF_PRODUCT).order_by("pk"))


def cart_orders(shop: Shop, cart: Cart | None) -> list[CartOrder]:
    """Orders placed from this cart, oldest first. Runs no query if there are none."""
    if cart is None or cart.ordered_at is None:
        return []
    return list(CartOrder.objects.filter(shop=shop, cart=cart).order_by("pk"))


def cart_totals(
    shop: Shop,
    lines: Sequence[CartLine],
    now: datetime,
    *,
    cart: Cart | None = None,
    email: str = "",
    terms: TaxTerms | None = None,
    shipping: Decimal = ZERO,
    is_shipping_covered: bool = True,
    discounts: Sequence[Candidate] | None = None,
    language: str = "",
) -> rules.Totals:
    """Totals of the lines, with automatic discounts, and the codes and gift cards of their cart. Without tax `terms`
    there is no tax.

    Discounts have their names in this language. `email` is the address given at the checkout: it decides about uses per
    customer. `discounts` are those of `cart_discounts`, if the caller has read them. `is_shipping_covered` is as in
    `rules.totals`.
    """
    found = (
        cart_discounts(shop, lines, now, cart=cart, email=email, language=language) if discounts is None else discounts
    )
    terms = terms or pricing.tax_terms(shop)
    products = _taxed_products(shop, lines) if terms.rates else {}
    found_totals = rules.totals(
        [_priced_line(line, products) for line in lines],
        currency=shop.currency,
        now=now,
        discounts=found,
        shipping=shipping,
        is_shipping_covered=is_shipping_covered,
        terms=terms,
    )
    if cart is None or not cart.gift_cards:
        return found_totals
    payable = found_totals.total - found_totals.gift_cards_bought
    cards = applied_cards(shop=shop, ids=cart.gift_cards, payable=payable, cart_id=cart.pk, now=now)
    return replace(found_totals, gift_cards=cards)


def shown_lines(lines: Sequence[CartLine], totals: rules.Totals) -> list[CartLine]:
    """The lines at the prices of the totals, which are without tax if the shopper sees net prices. Returns copies, so
    the cart keeps the entered prices."""
    return [
        line if price == line.price_snapshot else _at_price(line, price)
        for line, price in zip(lines, totals.unit_prices, strict=True)
    ]


def sees_net_prices(shop: Shop, cart: Cart | None) -> bool:
    """Returns True if the cart's customer sees prices without tax in a shop whose prices include it. No query without a
    customer."""
    if cart is None or cart.customer_id is None or not shop.prices_include_tax:
        return False
    return CustomerGroup.objects.filter(shop=shop, sees_net_prices=True, customer=cart.customer_id).exists()


def cart_discounts(
    shop: Shop,
    lines: Iterable[CartLine],
    now: datetime,
    *,
    cart: Cart | None = None,
    email: str = "",
    language: str = "",
) -> list[Candidate]:
    """The discounts that may apply to the lines: automatic ones, and those of their cart's codes."""
    return discount_candidates(
        shop,
        product_ids={line.product_id for line in lines},
        codes=cart.discount_codes if cart else (),
        shopper=shopper_of(cart, email),
        now=now,
        language=language,
    )


def is_delivery_free(shop: Shop, lines: Iterable[CartLine], discounts: Iterable[Candidate], now: datetime) -> bool:
    """Returns True if a discount makes some method of delivery free."""
    priced = [_priced_line(line, {}) for line in lines]
    return apply_discounts(priced, discounts, now, shop.currency).is_delivery_free


def shopper_of(cart: Cart | None, email: str = "") -> Shopper:
    """The shopper for the limits of discounts per customer."""
    return Shopper(cart.pk, cart.customer_id, email) if cart else Shopper(email=email)


def needs_shipping(lines: Iterable[CartLine]) -> bool:
    """Returns True if any of these lines, as `cart_lines` reads them, is shipped."""
    return any(line.requires_shipping for line in lines if not line.is_digital)


def parcel(shop: Shop, lines: Sequence[CartLine]) -> Parcel:
    """The properties of the lines on which delivery rates depend. A variant without a weight has the weight of its
    product."""
    shipped = Product.objects.filter(shop=shop, requires_shipping=True)
    wanted = shipped.only("weight", "shipping_origin", "media_mail_eligible")
    products = wanted.in_bulk({line.product_id for line in lines})
    sent = [line for line in lines if line.product_id in products and not line.is_digital]
    variant_ids = {line.variant_id for line in sent if line.variant_id}
    variants = (
        dict(Variant.objects.filter(shop=shop, pk__in=variant_ids).values_list("pk", "weight")) if variant_ids else {}
    )
    weight = Decimal("0.000")
    for line in sent:
        own = variants.get(line.variant_id or 0)
        weight += line.qty * (products[line.product_id].weight if own is None else own)
    return Parcel(
        weight=weight,
        count=sum(line.qty for line in sent),
        subtotal=sum((line.price_snapshot * line.qty for line in lines if line.gift_card is None), ZERO),
        origins=frozenset(products[line.product_id].shipping_origin_id for line in sent),
        is_media_mail=all(products[line.product_id].media_mail_eligible for line in sent),
    )


def carts_with_token(shop: Shop, token: str, now: datetime) -> QuerySet[Cart]:
    """The live cart with this well-formed token. `sql.LINES_BY_TOKEN` has the same condition.

    A customer's basket is never found by a token (R-CART-9).
    """
    return Cart.objects.filter(shop=shop, token_digest=tokens.digest(token), customer__isnull=True, expires_at__gt=now)


def _at_price(line: CartLine, price: Decimal) -> CartLine:
    shown = copy(line)
    shown.price_snapshot = price
    return shown


def _taxed_products(shop: Shop, lines: Iterable[CartLine]) -> dict[int, tuple[int | None, bool]]:
    rows = Product.objects.filter(shop=shop, pk__in={line.product_id for line in lines})
    return {pk: (tax_class_id, taxed) for pk, tax_class_id, taxed in rows.values_list("pk", "tax_class", "is_taxable")}


def _priced_line(line: CartLine, products: dict[int, tuple[int | None, bool]]) -> PricedLine:
    tax_class_id, is_taxable = products.get(line.product_id, (None, True))
    return PricedLine(
        amount=line.price_snapshot * line.qty,
        qty=line.qty,
        product_id=line.product_id,
        tax_class_id=tax_class_id,
        is_taxable=is_taxable,
        is_gift_card=line.gift_card is not None,
        is_digital=line.is_digital,
    )
