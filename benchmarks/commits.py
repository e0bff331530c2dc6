"""Measures how many sales a second change stocks: 16 clients, each a process that takes stock and puts it back by the
real actions, each by a commit of its own.

    DATABASE_URL=... python -m benchmarks.commits SECONDS

Prints the number of commits a second. The clients take products of the whole shop, as shoppers do.
"""

import multiprocessing
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing.synchronize import Barrier
from random import Random

CLIENTS = 16
# Seconds for which clients wait for each other's start.
MAX_START_SECONDS = 60
# Set in each client: they start together.
start: Barrier


def main(seconds: float) -> None:
    spawned = multiprocessing.get_context("spawn")
    barrier = spawned.Barrier(CLIENTS)
    with ProcessPoolExecutor(CLIENTS, spawned, initializer=set_start, initargs=(barrier,)) as clients:
        committed = list(clients.map(sell, range(CLIENTS), [seconds] * CLIENTS))
    print(sum(committed) / seconds)


def set_start(barrier: Barrier) -> None:
    global start
    start = barrier


def sell(number: int, seconds: float) -> int:
    """One client: take one piece of a random product, and put it back with the next commit, until the time is up.
    Returns how many commits that were."""
    try:
        sold = seller(number)
        start.wait(MAX_START_SECONDS)
    except BaseException:
        start.abort()
        raise
    deadline, committed = time.monotonic() + seconds, 0
    while time.monotonic() < deadline:
        sold()
        committed += 2
    return committed


def seller(number: int) -> Callable[[], None]:
    """A function that makes two commits."""
    import django

    django.setup()
    from storefront.catalogue.models import Product, Variant
    from storefront.catalogue.stock import StockUse, put_back_stock, take_stock
    from storefront.kit import clock
    from storefront.shops.models import Shop

    shop = Shop.objects.earliest("id")
    tracked = {"shop": shop, "track_inventory": True, "stock_qty__gte": CLIENTS}
    # Of a product with variants, as an eighth of all are, shoppers buy a variant.
    products = Product.objects.filter(variants=None, **tracked).order_by("id").values_list("id", flat=True)[:8_750]
    variants = Variant.objects.filter(**tracked).order_by("id").values_list("id", flat=True)[:1_250]
    stocks = [StockUse("product", id, 1) for id in products] + [StockUse("variant", id, 1) for id in variants]
    random = Random(number)

    def sold() -> None:
        uses = [random.choice(stocks)]
        take_stock(shop=shop, uses=uses, now=clock.now())
        put_back_stock(shop=shop, uses=uses, now=clock.now())

    return sold


if __name__ == "__main__":
    main(float(sys.argv[1]))
