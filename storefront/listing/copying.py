# ruff: noqa: S608, the statements consist of conditions of this package; values are parameters.
"""The public product list as clients keep a copy of it (`sync.feed`)."""

from collections.abc import Sequence
from datetime import datetime

from django.db import connection

from storefront.catalogue.copying import PRODUCT, Products
from storefront.kit.sql import fetch
from storefront.listing.sql import LISTABLE, LISTED
from storefront.sync.log import as_stored, as_utc

_PASSED = "p.shop_id = %(shop)s AND {listable} AND p.{column} >= %(since)s AND p.{column} <= %(now)s"
_PUBLISHED, _UNPUBLISHED = (
    _PASSED.format(listable=LISTABLE, column=column) for column in ("publish_at", "unpublish_at")
)


class PublicProducts(Products):
    """The products that `/api/v1/products` lists."""

    name = "products"
    listed = LISTED
    recent = "(p.updated_at >= %(since)s OR p.publish_at >= %(since)s)"
    for_apps = False
    # A product that no list has shown yet is told to nobody (R-SYNC-7).
    visible = f"NOT EXISTS ({PRODUCT} AND (p.published_on IS NULL OR p.published_on > %(now)s))"

    def dated(self, since: datetime, last: int, now: datetime, count: int) -> Sequence[tuple[datetime, int]]:
        statement = (
            f"SELECT d.at, d.id FROM (SELECT p.publish_at AS at, p.id FROM catalogue_product p WHERE {_PUBLISHED}"
            f" UNION ALL SELECT p.unpublish_at, p.id FROM catalogue_product p WHERE {_UNPUBLISHED}) d"
            " WHERE d.at > %(since)s OR d.id > %(last)s ORDER BY d.at, d.id LIMIT %(count)s"
        )
        params = {"shop": self.shop.pk, "since": as_stored(since), "last": last, "now": as_stored(now), "count": count}
        return [(as_utc(at), id) for at, id in fetch(connection, statement, params)]

    def gone(self) -> str:
        # Also those that a date has hidden without a write.
        hidden = (
            f"SELECT p.id, p.unpublish_at FROM catalogue_product p WHERE {_UNPUBLISHED} AND p.published_on <= %(now)s"
        )
        return f"{super().gone()} UNION ALL {hidden}"
