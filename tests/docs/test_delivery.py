"""Each example of docs/delivery.md is calculated from rows of the database, as a checkout is."""

import re
from decimal import Decimal
from pathlib import Path

import pytest

from storefront.carts import actions
from storefront.catalogue.models import ShippingOrigin
from storefront.checkout.models import Checkout
from storefront.checkout.queries import quote
from storefront.pricing.models import DeliveryZone
from storefront.pricing.postcodes import normal_pattern
from tests.catalogue.factories import make_product
from tests.pricing.rows import make_discount, make_rate, make_zone
from tests.shops.factories import NOW

pytestmark = pytest.mark.any_database

EXAMPLES = [
    [line.strip() for line in block.splitlines()]
    for block in re.findall(r"(?:^    \w.*\n)+", Path("docs/delivery.md").read_text(), re.MULTILINE)
    if "Result: " in block
]
ZONE = re.compile(r"(\w+) is (?:all|([A-Z]{2})(?: in (?P<regions>.+)| (?P<postcodes>.+))?)")
RATE = re.compile(r"(\w+), ([A-Z][a-zA-Z ]+?) (?:at ([\d.]+)(?:, (.+))?|by (\w+), (.+))")
ITEM = re.compile(r"(\d+) (\w+) at ([\d.]+)(?: weighing ([\d.]+))?(?: from (\w+))?( as media)?")


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda lines: " / ".join(lines)[-90:])
def test_example_is_right(shop, other_shop, example):
    make_rate(other_shop, "Elsewhere", "1.00")
    said = [line.partition(": ")[::2] for line in example]
    of = dict(said)
    for zone in (text for name, text in said if name == "Zone"):
        add_zone(shop, zone)
    for number, rate in enumerate(text for name, text in said if name == "Rate"):
        add_rate(shop, rate, number)
    if "Discount" in of:
        make_discount(shop, kind="free_delivery", value=0)
    country, *rest = of["Address"].split(maxsplit=1)
    code, region = re.fullmatch(r"((?:\S*\d\S*\s?)+)(.*)", rest[0]).groups()
    address = {"country": country, "postal_code": code, "region": region}
    found = quote(shop, fill(shop, of["Basket"]), Checkout(shop=shop, shipping_address=address), NOW)
    chosen = found.delivery and found.delivery.name
    shown = [f"{each.name} {each.price}{' (chosen)' * (each.name == chosen)}" for each in found.deliveries]
    assert (", ".join(shown) or "none") == of["Result"]


def test_the_page_has_an_example_of_each_rule():
    rates = " ".join(line for example in EXAMPLES for line in example)
    for rule in ("by weight", "by subtotal", "by count", "free from", "media", "origin", "included", " in Illes", "*"):
        assert rule in rates


def add_zone(shop, text):
    given = ZONE.fullmatch(text)
    postcodes = [normal_pattern(each) for each in (given["postcodes"] or "").split(", ") if each]
    regions = (given["regions"] or "").split(", ") if given["regions"] else []
    make_zone(shop, given[1], [given[2]] if given[2] else [], regions=regions, postcodes=postcodes)


def add_rate(shop, text, number):
    zone, name, price, terms, basis, table = RATE.fullmatch(text).groups()
    given = {"zone": DeliveryZone.objects.get(shop=shop, name=zone), "sort_order": number}
    if basis:
        rows = (row.split(": ") for row in table.split(", "))
        given |= {"basis": basis, "steps": {None if up_to == "above" else up_to: step for up_to, step in rows}}
    terms = terms or ""
    given |= {"is_media_mail": terms == "media", "free_with_discount": terms == "included"}
    if terms.startswith("free from "):
        given["free_from"] = Decimal(terms.removeprefix("free from "))
    if terms.startswith("origin "):
        given["shipping_origin"] = origin(shop, terms.removeprefix("origin "))
    make_rate(shop, name, price or "0.00", **given)


def origin(shop, name):
    return ShippingOrigin.objects.get_or_create(shop=shop, name=name)[0]


def fill(shop, basket):
    cart = None
    for qty, name, price, weight, place, media in ITEM.findall(basket):
        given = {"weight": weight or "0.000", "shipping_origin": origin(shop, place) if place else None}
        mug = make_product(shop, name, price=Decimal(price), media_mail_eligible=bool(media), stock_qty=50, **given)
        cart = actions.add_line(shop=shop, now=NOW, product_id=mug.pk, qty=int(qty), cart=cart).cart
    return cart
