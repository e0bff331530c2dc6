from collections.abc import Iterable, Sequence
from datetime import datetime
from decimal import Decimal
from uuid import UUID

from django.db import connection
from django.db.models import QuerySet

from storefront.carts import sql
from storefront.carts.models import Cart, CartLine, CartOrder
from storefront.catalogue.models import Product, Variant
from storefront.customers.models import Customer
from storefront.kit import tokens
from storefront.kit.money import ZERO
from storefront.kit.sql import fetch
from storefront.pricing import queries as pricing
from storefront.pricing import rules
from storefront.pricing.candidates import Shopper
from storefront.pricing.candidates import candidates as discount_candidates
from storefront.pricing.discounts import PricedLine
from storefront.shops.models import Shop

# A cart token is this prefix and 256 random bits; the table has its digest (R-CART-3).
TOKEN_PREFIX = "cart"  # noqa: S105, a token's prefix is no secret


def cart_with_lines(
    shop: Shop, now: datetime, *, token: str | None = None, cart: Cart | None = None
) -> tuple[Cart | None, list[CartLine]]:
    """The live cart with this token, or the given cart even if it has expired, and its lines, in one query.

    (None, []) if there is none: a token that is missing, malformed, unknown, expired or of another shop is no error
    (R-CART-4).
    """
    if cart is not None:
        rows = fetch(connection, sql.LINES_BY_CART, {"shop": shop.pk, "cart": cart.pk})
    elif tokens.is_well_formed(token, TOKEN_PREFIX):
        moment = connection.ops.adapt_datetimefield_value(now)
        given = {"shop": shop.pk, "digest": tokens.digest(token), "now": moment}
        rows = fetch(connection, sql.LINES_BY_TOKEN, given)
    else:
        return None, []
    if not rows:
        return None, []
    found = sql.CART.instance(connection, rows[0])
    lines = [sql.LINE.instance(connection, columns) for row in rows if (columns := row[len(sql.CART) :])[0] is not None]
    for line in lines:
        line.cart = found
    return found, lines


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


def cart_lines(shop: Shop, cart: Cart) -> list[CartLine]:
    """The cart's lines in the order they were added."""
    return list(CartLine.objects.filter(shop=shop, cart=cart).order_by("pk"))


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
    country: str | None = None,
    region: str = "",
    shipping: Decimal = ZERO,
) -> rules.Totals:
    """Totals of the lines, with automatic discounts and the codes of their cart. Without a country there is no tax.

    `email` is the address given at the checkout: it decides about uses per customer.
    """
    found = discount_candidates(
        shop,
        product_ids={line.product_id for line in lines},
        codes=cart.discount_codes if cart else (),
        shopper=shopper_of(cart, email),
        now=now,
    )
    rates = pricing.tax_rates(shop, country) if country else []
    products = _taxed_products(shop, lines) if rates else {}
    return rules.totals(
        [_priced_line(line, products) for line in lines],
        now=now,
        discounts=found,
        shipping=shipping,
        rates=rates,
        country=country,
        region=region,
        prices_include_tax=shop.prices_include_tax,
    )


def shopper_of(cart: Cart | None, email: str = "") -> Shopper:
    """Whose discounts apply to this cart."""
    return Shopper(cart.pk, cart.customer_id, email) if cart else Shopper(email=email)


def needs_shipping(shop: Shop, lines: Iterable[CartLine]) -> bool:
    """Whether any of the lines is shipped."""
    ids = {line.product_id for line in lines if not line.is_digital}
    return bool(ids) and Product.objects.filter(shop=shop, pk__in=ids, requires_shipping=True).exists()


def shipping_options(shop: Shop, lines: Sequence[CartLine], country: str) -> list[rules.ShippingOption]:
    """The delivery methods for these lines' weight and value, in the merchant's order."""
    subtotal = sum((line.price_snapshot * line.qty for line in lines), ZERO)
    return rules.shipping_options(
        pricing.shipping_rates(shop), country=country, weight=cart_weight(shop, lines), subtotal=subtotal
    )


def cart_weight(shop: Shop, lines: Sequence[CartLine]) -> Decimal:
    """Total weight of the lines that are shipped. A variant without a weight has its product's."""
    products = dict(
        Product.objects.filter(
            shop=shop, pk__in={line.product_id for line in lines}, requires_shipping=True
        ).values_list("pk", "weight")
    )
    variant_ids = {line.variant_id for line in lines if line.variant_id}
    variants = (
        dict(Variant.objects.filter(shop=shop, pk__in=variant_ids).values_list("pk", "weight")) if variant_ids else {}
    )
    weight = Decimal("0.000")
    for line in lines:
        if line.product_id in products and not line.is_digital:
            own = variants.get(line.variant_id or 0)
            weight += line.qty * (products[line.product_id] if own is None else own)
    return weight


def carts_with_token(shop: Shop, token: str, now: datetime) -> QuerySet[Cart]:
    """The live cart with this well-formed token. `sql.LINES_BY_TOKEN` has the same condition.

    A customer's basket is never found by a token (R-CART-9).
    """
    return Cart.objects.filter(shop=shop, token_digest=tokens.digest(token), customer__isnull=True, expires_at__gt=now)


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
    )
