"""A sweep of the worker: keeps the words of orders that processes of a release without them have placed."""

from datetime import datetime, timedelta

from django.db.models import Exists, OuterRef

from storefront.orders.models import Order, OrderWord
from storefront.orders.words import keep_words, words_of

# How old orders can be that are looked at: an update, or going back a release, takes less.
LOOKED_BACK = timedelta(days=3)
READ_ROWS = 1000


def keep_missing_words(*, now: datetime, limit: int) -> int:
    """Keep the words of up to `limit` of the newest orders that have none. Returns of how many it did.

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
        # An order can have no words at all.
        mending = [order for order in read if words_of(order, order.lines.all())][: limit - mended]
        keep_words((order, order.lines.all()) for order in mending)
        mended += len(mending)
        if not recent or len(rows) < READ_ROWS:
            break
        last = rows[-1][0]
    return mended
