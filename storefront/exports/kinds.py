"""The kinds of exports: the list that each writes to its file, and the scope needed to read it."""

from typing import NamedTuple

from storefront.catalogue import schemas as products
from storefront.catalogue.copying import Stock
from storefront.catalogue.inventory import schemas as inventory_schemas
from storefront.customers import schemas as customers
from storefront.customers.copying import Customers
from storefront.exports.models import Export
from storefront.kit.api.members import names_of
from storefront.listing.copying import PublicProducts
from storefront.orders import schemas as orders
from storefront.orders.copying import Orders
from storefront.sync.feed import Source


class Kind(NamedTuple):
    source: type[Source]
    scope: str
    # The members of the list's records, and those that can be included.
    listed: tuple[str, ...]
    included: tuple[str, ...] = ()


KINDS = {
    "products": Kind(PublicProducts, "read_products", products.LISTED, products.INCLUDED),
    "inventory": Kind(Stock, "read_inventory", names_of(inventory_schemas.InventoryItem)),
    "orders": Kind(Orders, "read_orders", orders.LISTED, orders.INCLUDED),
    "customers": Kind(Customers, "read_customers", customers.LISTED, customers.INCLUDED),
}


def source_of(export: Export) -> Source:
    members = None if export.members is None else frozenset(export.members)
    return KINDS[export.kind].source(export.shop, members, export.since)
