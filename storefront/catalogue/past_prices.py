"""The lowest price before a reduction, which shops in the EU have to show beside it (Directive 98/6/EC, article 6a)."""

from collections import defaultdict
from datetime import datetime, timedelta
from decimal import Decimal

from storefront.catalogue.models import PastPrice
from storefront.shops.models import Shop

# How long before the reduction prices count.
DAYS_BEFORE = timedelta(days=30)
# Changes of a product that are read, the newest first.
MOST_READ = 1000


def lowest_before(shop: Shop, product_id: int) -> dict[int | None, Decimal]:
    """By variant, None for the product itself: the lowest list price within the 30 days before the present price began.
    What has had one price only is left out. One query."""
    rows = PastPrice.objects.filter(shop=shop, product_id=product_id).order_by("-until", "-pk")
    changes: dict[int | None, list[tuple[Decimal, datetime]]] = defaultdict(list)
    for variant, price, until in rows.values_list("variant_id", "price", "until")[:MOST_READ]:
        changes[variant].append((price, until))
    found: dict[int | None, Decimal] = {}
    for owner, past in changes.items():
        # The first has ended last: then the present price began.
        began = past[0][1]
        found[owner] = min(price for price, until in past if until > began - DAYS_BEFORE)
    return found
