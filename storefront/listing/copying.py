# ruff: noqa: S608, the statements consist of conditions of this package; values are parameters.
"""The public product list as clients keep a copy of it (`sync.feed`)."""

from dataclasses import dataclass
from typing import ClassVar

from storefront.catalogue.copying import PRODUCT, Products
from storefront.catalogue.translated_records import members_to_read, translated_row
from storefront.listing.page_sql import RECENT
from storefront.listing.sql import LISTABLE, LISTED

_PASSED = "p.shop_id = %(shop)s AND {listable} AND p.{column} >= %(since)s AND p.{column} <= %(now)s"
_PUBLISHED, _UNPUBLISHED = (
    _PASSED.format(listable=LISTABLE, column=column) for column in ("publish_at", "unpublish_at")
)


@dataclass(frozen=True)
class PublicProducts(Products):
    """The products that `/api/v1/products` lists, with their texts in `language`, if it is not the main one."""

    language: str | None = None

    name: ClassVar[str] = "products"
    listed: ClassVar[str] = LISTED
    recent: ClassVar[str] = RECENT
    published: ClassVar[str] = (
        f" UNION ALL SELECT p.publish_at, p.id FROM catalogue_product p WHERE {_PUBLISHED}"
        f" UNION ALL SELECT p.unpublish_at, p.id FROM catalogue_product p WHERE {_UNPUBLISHED}"
    )
    for_apps: ClassVar[bool] = False
    # Changes of a product that no list has shown yet are left out (R-SYNC-7).
    visible: ClassVar[str] = f"NOT EXISTS ({PRODUCT} AND (p.published_on IS NULL OR p.published_on > %(now)s))"

    def gone(self) -> str:
        # Also those that a date has hidden without a write.
        hidden = (
            f"SELECT p.id, p.unpublish_at FROM catalogue_product p WHERE {_UNPUBLISHED} AND p.published_on <= %(now)s"
        )
        return f"{super().gone()} UNION ALL {hidden}"

    def members_read(self) -> frozenset[str] | None:
        return self.members if self.language is None else members_to_read(self.members)

    def shown(self, row: str) -> str:
        if self.language is None:
            return super().shown(row)
        return translated_row(self.shop, row, self.language, self.members)
