"""Measures how many sales a second change stocks: 16 clients that take stock and put it back by the real actions, each
by a commit of its own. They are threads of as many processes as there are cores, as those of `storefront serve`.

    DATABASE_URL=... python -m benchmarks.commits SECONDS

Prints the number of commits a second. The clients take products of the whole shop, as shoppers do.
"""

import multiprocessing
import os
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing.synchronize import Barrier
from random import Random

CLIENTS = 16
# Seconds for which clients wait for each other's start.
MAX_START_SECONDS = 60
# Set in each process: all clients start together.
start: Barrier


def main(seconds: float) -> None:
    processes = min(os.cpu_count() or 1, CLIENTS)
    # As equal as possible.
    groups = [range(first, CLIENTS, processes) for first in range(processes)]
    spawned = multiprocessing.get_context("spawn")
    barrier = spawned.Barrier(CLIENTS)
    with ProcessPoolExecutor(processes, spawned, initializer=prepare, initargs=(barrier,)) as pool:
        committed = list(pool.map(sell_together, groups, [seconds] * processes))
    print(sum(committed) / seconds)


def prepare(barrier: Barrier) -> None:
    global start
    start = barrier
    import django

    django.setup()


def sell_together(clients: range, seconds: float) -> int:
    """The clients of one process. Returns how many commits they made."""
    with ThreadPoolExecutor(len(clients)) as threads:
        return sum(threads.map(sell, clients, [seconds] * len(clients)))


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
    from storefront.catalogue.models import Product, Variant
    from storefront.catalogue.stock import StockUse, put_back_stock, take_stock
    from storefront.kit import clock
    from storefront.shops.models import Shop

    shop = Shop.objects.earliest("id")
    tracked = {"shop": shop, "track_inventory": True, "stock_qty__gte": CLIENTS}
    # Shoppers buy a variant of a product with variants, as an eighth of all are.
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
