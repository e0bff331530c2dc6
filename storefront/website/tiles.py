"""Products as they stand in a grid: name, picture, price, and one word about whether they can be had."""

from dataclasses import dataclass
from typing import Any

from storefront.customers.models import Customer
from storefront.kit.money import ZERO
from storefront.pricing.queries import group_terms
from storefront.shops.models import Shop
from storefront.website import offers, pictures, queries
from storefront.website.offers import Availability, Price
from storefront.website.pictures import Picture

Record = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Tile:
    name: str
    slug: str
    picture: Picture | None
    price: Price
    availability: Availability
    is_new: bool


def tiles(shop: Shop, rows: list[Record], customer: Customer | None) -> list[Tile]:
    """Tiles for product records, in their order, at the visitor's prices. Reads what they need for all at once."""
    terms = group_terms(shop, customer.pk if customer else None, ids(rows))
    rows = [offers.for_group(row, terms) for row in rows]
    ranges = queries.variant_ranges(shop, ids(rows, "variable"), terms)
    required = queries.required_options(shop, ids(rows))
    limits = queries.bundle_limits(shop, ids(rows, "bundle"))
    return [
        Tile(
            name=row["name"],
            slug=row["slug"],
            picture=pictures.first_picture(shop, row, pictures.TILE),
            price=offers.price(row, ranges.get(row["id"]), *required.get(row["id"], (ZERO, False))),
            availability=offers.availability_of(row, ranges.get(row["id"]), limits),
            is_new=row["is_new"],
        )
        for row in rows
    ]


def ids(rows: list[Record], type: str | None = None) -> list[int]:
    return [row["id"] for row in rows if type in (None, row["type"])]
