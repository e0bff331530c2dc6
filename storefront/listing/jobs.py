"""Tasks of the worker."""

from datetime import datetime

from django_tasks import task

from storefront.kit import clock
from storefront.listing.dialect import dialect
from storefront.listing.frequent_words import count_words, due_shops
from storefront.shops.models import Shop


@task()
def count_frequent_words(shop_id: int) -> None:
    """Count the frequent words of a large shop, for its searches. Can run again at any time."""
    if shop := Shop.objects.filter(pk=shop_id).first():
        count_words(shop, now=clock.now())


def queue_due_counts(*, now: datetime, limit: int) -> int:
    """Have the words of large shops counted where that is due. Returns how many shops these are."""
    due = due_shops(now=now, limit=limit) if dialect.COUNTS_WORDS else []
    for shop in due:
        count_frequent_words.enqueue(shop)
    return len(due)
