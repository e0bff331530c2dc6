"""The lowest price before a reduction, which shops in the EU have to show beside it (Directive 98/6/EC, article 6a)."""

from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime, timedelta
from decimal import Decimal

from storefront.catalogue.dated.dates import turns_at
from storefront.catalogue.dated.sale_periods import holds, settle
from storefront.catalogue.models import PastPrice, Product, Variant
from storefront.shops.models import Shop

# The period before a reduction in which prices count.
DAYS_BEFORE = timedelta(days=30)
# Changes of a product that are read, the newest first.
MAX_READ = 1000


def lowest_before(shop: Shop, product_id: int, now: datetime) -> dict[int | None, Decimal]:
    """By variant, None for the product itself: the lowest list price within the 30 days before the present price began.
    Leaves out products and variants that had only one price. Three queries."""
    rows = PastPrice.objects.filter(shop=shop, product_id=product_id).order_by("-until", "-pk")
    changes: dict[int | None, list[tuple[Decimal, datetime]]] = defaultdict(list)
    for owner, price, until in _just_ended(shop, product_id, now):
        changes[owner].append((price, until))
    for variant, price, until in rows.values_list("variant_id", "price", "until")[:MAX_READ]:
        changes[variant].append((price, until))
    found: dict[int | None, Decimal] = {}
    for owner, past in changes.items():
        # The newest past price ended when the present price began.
        began = past[0][1]
        found[owner] = min(price for price, until in past if until > began - DAYS_BEFORE)
    return found


def _just_ended(shop: Shop, product_id: int, now: datetime) -> Iterator[tuple[int | None, Decimal, datetime]]:
    """The prices that ended with the beginning or end of a sale, and that the worker has not replaced yet."""
    of_sale = turns_at("sale_from") | turns_at("sale_until")
    products = Product.objects.filter(of_sale, shop=shop, pk=product_id)
    rows: list[Product | Variant] = [*products, *Variant.objects.filter(of_sale, shop=shop, product=product_id)]
    for row in rows:
        price, until = row.price, row.sale_until if holds(row) else row.sale_from
        settle(row, now)
        if row.price != price and until is not None:
            yield row.pk if isinstance(row, Variant) else None, price, until
