# ruff: noqa: S608, the statements consist of conditions of this package; values are parameters.
"""The public product list as clients keep a copy of it (`sync.feed`)."""

from storefront.catalogue.copying import PRODUCT, Products
from storefront.listing.page_sql import RECENT
from storefront.listing.sql import LISTABLE, LISTED

_PASSED = "p.shop_id = %(shop)s AND {listable} AND p.{column} >= %(since)s AND p.{column} <= %(now)s"
_PUBLISHED, _UNPUBLISHED = (
    _PASSED.format(listable=LISTABLE, column=column) for column in ("publish_at", "unpublish_at")
)


class PublicProducts(Products):
    """The products that `/api/v1/products` lists."""

    name = "products"
    listed = LISTED
    recent = RECENT
    published = (
        f" UNION ALL SELECT p.publish_at, p.id FROM catalogue_product p WHERE {_PUBLISHED}"
        f" UNION ALL SELECT p.unpublish_at, p.id FROM catalogue_product p WHERE {_UNPUBLISHED}"
    )
    for_apps = False
    # Changes of a product that no list has shown yet are left out (R-SYNC-7).
    visible = f"NOT EXISTS ({PRODUCT} AND (p.published_on IS NULL OR p.published_on > %(now)s))"

    def gone(self) -> str:
        # Also those that a date has hidden without a write.
        hidden = (
            f"SELECT p.id, p.unpublish_at FROM catalogue_product p WHERE {_UNPUBLISHED} AND p.published_on <= %(now)s"
        )
        return f"{super().gone()} UNION ALL {hidden}"
