# ruff: noqa: S608, the f-strings insert only column lists and names of parameters; values are parameters.
"""Reads the discounts that may apply to a basket: the automatic ones that run, and those of its codes."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from django.db import connection
from django.db.models import Q

from storefront.customers.models import Customer
from storefront.customers.queries import mailbox_of
from storefront.kit import tokens
from storefront.kit.sql import Columns, fetch
from storefront.kit.translations import spoken
from storefront.pricing.discounts import NOT_APPLICABLE, USED_UP, Candidate
from storefront.pricing.models import Discount, DiscountCode, DiscountGroup, Redemption
from storefront.shops.models import Shop
from storefront.shops.spoken import further_language

# Every read of a cart runs this query, so its SQL is built once.
_DISCOUNT = Columns(Discount)
_RUNNING = (
    f"SELECT {_DISCOUNT.of('d')} FROM pricing_discount d WHERE d.shop_id = %(shop)s AND d.is_active"
    " AND NOT d.needs_code AND (d.starts_at IS NULL OR d.starts_at <= %(now)s)"
    " AND (d.ends_at IS NULL OR d.ends_at > %(now)s) ORDER BY d.id"
)
# Discounts and the products that their targets stand for. Categories are compared by their nested set.
_FITTING = (
    "SELECT DISTINCT t.discount_id, p.id FROM pricing_discounttarget t"
    " JOIN pricing_discount d ON d.id = t.discount_id JOIN catalogue_product p ON p.shop_id = t.shop_id"
    " LEFT JOIN catalogue_category tc ON tc.id = t.category_id"
    " WHERE t.shop_id = %(shop)s AND t.discount_id IN ({discounts}) AND p.id IN ({products})"
    " AND (t.product_id = p.id OR t.brand_id = p.brand_id OR EXISTS (SELECT 1 FROM catalogue_productcategory l"
    " JOIN catalogue_category c ON c.id = l.category_id WHERE l.product_id = p.id AND c.shop_id = t.shop_id"
    " AND (c.id = tc.id OR (d.includes_subcategories AND c._lft > tc._lft AND c._lft < tc._rgt))))"
)


@dataclass(frozen=True, slots=True)
class Shopper:
    """The owner of a basket, for limits per customer. `cart_id` is the cart, `email` the address entered at the
    checkout, if any yet."""

    cart_id: int | None = None
    customer_id: int | None = None
    email: str = ""


NOBODY = Shopper()


def candidates(
    shop: Shop,
    *,
    product_ids: Collection[int],
    codes: Sequence[str],
    shopper: Shopper = NOBODY,
    now: datetime,
    language: str = "",
) -> list[Candidate]:
    """The automatic discounts that run, oldest first, and one candidate for each code, in their order.

    One query without codes, and one more each for codes, discounts limited to items, to groups, and in their uses.
    """
    found = _automatic(shop, now) if product_ids else []
    found += _of_codes(shop, codes) if codes else []
    given = (each.discount for each in found if each.discount)
    discounts = spoken(given, further_language(shop, language), "name")
    fitting = _fitting_products(shop, [each.pk for each in discounts if each.is_limited_to_items], product_ids)
    not_in_group = _closed_to(shop, [each.pk for each in discounts if each.is_limited_to_groups], shopper)
    used_up = _used_up(shop, found, shopper)
    return [
        replace(
            each,
            product_ids=fitting[each.discount.pk] if each.discount.is_limited_to_items else None,
            refused=USED_UP if i in used_up else NOT_APPLICABLE if each.discount.pk in not_in_group else "",
        )
        if each.discount
        else each
        for i, each in enumerate(found)
    ]


def known_codes(shop: Shop, codes: Iterable[str]) -> set[str]:
    """The normalised codes among these that the shop has."""
    return set(DiscountCode.objects.filter(shop=shop, code__in=list(codes)).values_list("code", flat=True))


def email_digest(shop: Shop, email: str) -> str:
    """A digest of the shopper's mailbox, by which uses are counted."""
    return tokens.digest(f"{shop.pk}:{mailbox_of(email)}")


def shopper_email(shop: Shop, shopper: Shopper) -> str:
    """The address by which uses are counted. A customer's own address counts, and not the one entered at the checkout,
    or they could use up the uses of somebody else."""
    if shopper.customer_id is None:
        return shopper.email
    own = Customer.objects.filter(shop=shop, pk=shopper.customer_id).values_list("email", flat=True).first()
    return own or shopper.email


def redemptions_of(shop: Shop, shopper: Shopper) -> Q:
    """The redemptions of this shopper: by account, or by email address."""
    email = shopper_email(shop, shopper)
    by_email = Q(email_digest=email_digest(shop, email)) if email else Q(pk__in=())
    return by_email | Q(customer_id=shopper.customer_id) if shopper.customer_id is not None else by_email


def _automatic(shop: Shop, now: datetime) -> list[Candidate]:
    moment = connection.ops.adapt_datetimefield_value(now)
    rows = fetch(connection, _RUNNING, {"shop": shop.pk, "now": moment})
    return [Candidate(_DISCOUNT.instance(connection, row)) for row in rows]


def _of_codes(shop: Shop, codes: Sequence[str]) -> list[Candidate]:
    rows = DiscountCode.objects.filter(shop=shop, code__in=codes).select_related("discount")
    known = {row.code: row for row in rows}
    return [
        Candidate(known[code].discount, code, known[code]) if code in known else Candidate(None, code) for code in codes
    ]


def _fitting_products(
    shop: Shop, discount_ids: Collection[int], product_ids: Collection[int]
) -> defaultdict[int, frozenset[int]]:
    """The products among these to which each discount is limited, by discount."""
    found: defaultdict[int, frozenset[int]] = defaultdict(frozenset)
    if not discount_ids or not product_ids:
        return found
    discounts = {f"d{number}": id for number, id in enumerate(discount_ids)}
    products = {f"p{number}": id for number, id in enumerate(product_ids)}
    statement = _FITTING.format(discounts=_names(discounts), products=_names(products))
    for discount_id, product_id in fetch(
        connection, statement, {"shop": shop.pk} | discounts | products, prepared=False
    ):
        found[discount_id] |= {product_id}
    return found


def _names(parameters: Iterable[str]) -> str:
    return ", ".join(f"%({name})s" for name in parameters)


def _closed_to(shop: Shop, discount_ids: Collection[int], shopper: Shopper) -> set[int]:
    """The discounts among these that are limited to groups without this shopper."""
    if not discount_ids or shopper.customer_id is None:
        return set(discount_ids)
    of_group = DiscountGroup.objects.filter(
        shop=shop, discount_id__in=discount_ids, group__customer=shopper.customer_id, group__customer__shop=shop
    )
    return set(discount_ids) - set(of_group.values_list("discount_id", flat=True))


def _used_up(shop: Shop, found: Sequence[Candidate], shopper: Shopper) -> set[int]:
    """The positions of the candidates without a use left for this shopper. Uses held by the basket's own open payment
    are still available to the basket."""
    limited = {each.discount.pk: each.discount for each in found if each.discount and _has_limit(each)}
    if not limited:
        return set()
    held: Counter[tuple[int, int | None]] = Counter()
    own: Counter[int] = Counter()
    is_customer_limited = any(discount.customer_limit is not None for discount in limited.values())
    whose = redemptions_of(shop, shopper) if is_customer_limited else Q(pk__in=())
    mine = whose | Q(cart_id=shopper.cart_id) if shopper.cart_id is not None else whose
    rows = Redemption.objects.filter(mine, shop=shop, discount_id__in=limited)
    for discount_id, code_id, cart_id in rows.values_list("discount_id", "code_id", "cart_id"):
        if cart_id is not None and cart_id == shopper.cart_id:
            held[discount_id, code_id] += 1
            held[discount_id, None] += 1 if code_id is not None else 0
        else:
            own[discount_id] += 1
    return {i for i, each in enumerate(found) if each.discount and _is_used_up(each, held, own)}


def _has_limit(candidate: Candidate) -> bool:
    discount, code = candidate.discount, candidate.code_row
    limits = [discount.use_limit, discount.customer_limit] if discount else []
    return any(limit is not None for limit in [*limits, code.use_limit if code else None])


def _is_used_up(candidate: Candidate, held: Counter[tuple[int, int | None]], own: Counter[int]) -> bool:
    discount, code = candidate.discount, candidate.code_row
    assert discount is not None
    return (
        (discount.use_limit is not None and discount.uses - held[discount.pk, None] >= discount.use_limit)
        or (
            code is not None and code.use_limit is not None and code.uses - held[discount.pk, code.pk] >= code.use_limit
        )
        or (discount.customer_limit is not None and own[discount.pk] >= discount.customer_limit)
    )
