"""A sweep of the worker: stores the words of orders that were placed by processes of an older release."""

from datetime import datetime, timedelta

from django.db.models import Exists, OuterRef

from storefront.orders.models import Order, OrderWord
from storefront.orders.words import keep_words, words_of

# The maximum age of orders that are examined. An update of all processes takes less time.
LOOKED_BACK = timedelta(days=3)
READ_ROWS = 1000


def keep_missing_words(*, now: datetime, limit: int) -> int:
    """Store the words of up to `limit` of the newest orders that have none. Returns how many.

    Reads orders from the newest id down, and each one's words by their index, until all of READ_ROWS are older than
    LOOKED_BACK: no index has the orders of all shops by their time.
    """
    orders = Order.objects.order_by("-pk").annotate(has_words=Exists(OrderWord.objects.filter(order=OuterRef("pk"))))
    last, mended = None, 0
    while mended < limit:
        found = orders if last is None else orders.filter(pk__lt=last)
        rows = list(found.values_list("pk", "placed_at", "has_words")[:READ_ROWS])
        recent = [(pk, has_words) for pk, placed_at, has_words in rows if placed_at > now - LOOKED_BACK]
        lacking = [pk for pk, has_words in recent if not has_words]
        read = Order.objects.filter(pk__in=lacking).order_by("-pk").prefetch_related("lines")
        # Leaves out orders whose texts contain no words.
        mending = [order for order in read if words_of(order, order.lines.all())][: limit - mended]
        keep_words((order, order.lines.all()) for order in mending)
        mended += len(mending)
        if not recent or len(rows) < READ_ROWS:
            break
        last = rows[-1][0]
    return mended
