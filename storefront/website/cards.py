"""Product cards of a grid: name, picture, price, and availability."""

from dataclasses import dataclass, replace
from datetime import datetime
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
class ProductCard:
    name: str
    slug: str
    picture: Picture | None
    price: Price
    availability: Availability
    is_new: bool


def product_cards(shop: Shop, rows: list[Record], customer: Customer | None, now: datetime) -> list[ProductCard]:
    """Cards for product records, in the same order, at the visitor's prices. The number of queries is constant."""
    terms = group_terms(shop, customer.pk if customer else None, ids(rows))
    rows = [offers.at_group_prices(row, terms) for row in rows]
    ranges = queries.variant_ranges(shop, ids(rows, "variable"), terms, now=now)
    required = queries.required_options(shop, ids(rows), terms)
    limits = queries.bundle_limits(shop, ids(rows, "bundle"), now) | queries.undelivered(shop, ids(rows, "digital"))
    awaited = pictures.awaited_media(shop, [row["media"][0] for row in rows if row["media"]])
    return [
        ProductCard(
            name=row["name"],
            slug=row["slug"],
            picture=pictures.first_picture(shop, row, pictures.CARD, awaited),
            price=replace(
                offers.price(row, ranges.get(row["id"]), *required.get(row["id"], (ZERO, False))), is_net=terms.is_net
            ),
            availability=offers.product_availability(row, ranges.get(row["id"]), limits, shop, now),
            is_new=row["is_new"],
        )
        for row in rows
    ]


def ids(rows: list[Record], type: str | None = None) -> list[int]:
    return [row["id"] for row in rows if type in (None, row["type"])]
