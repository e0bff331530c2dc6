"""Reads the filters' indexes of large shops when a web process begins, so that no visitor waits for them."""

import threading

import structlog
from django.db import DatabaseError, InterfaceError, connection
from django.db.models import Sum

from storefront.catalogue.models import ListingTotal
from storefront.kit import clock
from storefront.listing.facet_index import MAX_SHOPS, index_of
from storefront.listing.queries import database_fetch
from storefront.shops.models import Shop

log = structlog.get_logger(__name__)

# Products from which on a shop is large. The index of a smaller one is read within a tenth of a second.
LARGE_SHOP = 5000

_started = threading.Event()


def start() -> None:
    """Begin, in a thread of its own, unless this process has."""
    if not _started.is_set():
        _started.set()
        threading.Thread(target=_warm, name="filters", daemon=True).start()


def _warm() -> None:
    try:
        warm_indexes()
    except (DatabaseError, InterfaceError) as error:
        # Read with the first page instead.
        log.warning("filters_not_read", reason=str(error).strip())
    finally:
        connection.close()


def warm_indexes() -> None:
    """Read the indexes of the large shops, the largest first."""
    totals = ListingTotal.objects.filter(category=0).values("shop").annotate(size=Sum("products"))
    large = totals.filter(size__gte=LARGE_SHOP).order_by("-size").values_list("shop", flat=True)
    for shop in Shop.objects.in_bulk(list(large[:MAX_SHOPS])).values():
        index = index_of(shop)
        with index.lock:
            # A page may have read it meanwhile.
            if not index.wanted.is_set():
                index.warm(database_fetch, clock.now())
