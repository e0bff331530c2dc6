"""The lists that clients keep copies of, in both APIs, and what two shops have in them."""

from datetime import timedelta
from typing import NamedTuple

from storefront.shops.models import Shop
from tests.catalogue.factories import make_public, make_variant
from tests.client import ApiClient
from tests.customers.factories import make_customer
from tests.orders.factories import make_order, sale_line

KINDS = ("products", "inventory", "orders", "customers")
DAY = timedelta(days=1)


class Place(NamedTuple):
    """A list in one of both APIs, and the name of its records."""

    api: ApiClient
    path: str
    name: str


def fill(shop: Shop) -> None:
    for n in range(3):
        make_public(shop, f"Mug {n}")
    make_variant(make_public(shop, "Shirt", sku="SHIRT"), "Blue")
    for n in range(3):
        customer = make_customer(shop, f"ada{n}@example.com", password="")
        make_order(shop, sale_line(shop.products.get(slug=f"mug-{n}")), customer_id=customer.pk)


def pages(place: Place, query: str = "") -> list[dict]:
    """All records of the list, read by pages."""
    found, page, last = [], 1, 1
    while page <= last:
        body = place.api.get(f"{place.path}?page={page}&{query}").json()
        found += body[place.name]
        last, page = body.get("pagination", body)["last_page"], page + 1
    return found
