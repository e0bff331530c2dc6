"""Each example of docs/prices.md is calculated from rows of the database, as a cart is."""

import re
from decimal import Decimal
from pathlib import Path

import pytest

from storefront.carts import actions, queries
from storefront.catalogue.models import Product
from storefront.pricing import rules
from storefront.pricing.models import DiscountCode, ShippingRate, TaxRate
from tests.catalogue.factories import make_category, make_product
from tests.pricing.rows import make_discount
from tests.shops.factories import NOW

EXAMPLES = [
    [line.strip() for line in block.splitlines()]
    for block in re.findall(r"(?:^    \w.*\n)+", Path("docs/prices.md").read_text(), re.MULTILINE)
]
ITEM = re.compile(r"(\d+) (\w+)(?: in (.+?))? at ([\d.]+)")
DISCOUNT = re.compile(
    r"(?:buy (?P<buy>\d+) get (?P<get>\d+), )?(?:(?P<percent>\d+)% off|(?P<amount>[\d.]+) off|(?P<free>free delivery))"
    r"(?: category (?P<category>\w+)| (?P<product>(?!from)\w+))?(?: from (?P<minimum>[\d.]+))?"
    r"(?P<alone>, alone)?(?P<codes>(?:, code \w+)*)"
)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda lines: " / ".join(lines)[:80])
def test_example_is_right(shop, example):
    said = [line.partition(": ")[::2] for line in example]
    of = {name: text for name, text in said if name != "Discount"}
    cart = fill(shop, of["Basket"])
    cart.discount_codes = [code for name, text in said if name == "Discount" for code in set_up(shop, text)]
    found = totals(shop, cart, of.get("Delivery", ""), of.get("Tax", ""))
    result = [figure.split() for figure in of["Result"].split(", ")]
    assert {name: str(getattr(found, name)) for name, _ in result} == dict(result)
    refused = [f"{each.code} {each.refused}" for each in found.codes if each.refused]
    assert refused == ([of["Refused"]] if "Refused" in of else [])


def test_the_page_has_an_example_of_each_kind():
    texts = [line for example in EXAMPLES for line in example if line.startswith("Discount")]
    for kind in ("10% off", "15.00 off", "buy 2 get 1", "free delivery"):
        assert any(kind in text for text in texts)


KINDS = {"buy": "buy_get", "percent": "percent", "amount": "amount", "free": "free_delivery"}


def fill(shop, basket):
    cart = None
    for qty, name, categories, price in ITEM.findall(basket):
        parent = None
        for category in filter(None, categories.split(" > ")):
            parent = make_category(shop, category, parent=parent)
        mug = make_product(shop, name, price=Decimal(price), categories=(parent,) if parent else ())
        cart = actions.add_line(shop=shop, now=NOW, product_id=mug.pk, qty=int(qty), cart=cart).cart
    return cart


def set_up(shop, text) -> list[str]:
    """Make the discount. Returns its codes."""
    given = DISCOUNT.fullmatch(text)
    assert given, text
    kind = next(KINDS[name] for name in KINDS if given[name])
    items = [Product.objects.get(name=given["product"])] if given["product"] else None
    if given["category"]:
        items = [shop.categories.get(name=given["category"])]
    codes = re.findall(r"code (\w+)", given["codes"])
    discount = make_discount(
        shop,
        text,
        given["percent"] or given["amount"] or 0,
        kind=kind,
        items=items,
        buy_qty=given["buy"] and int(given["buy"]),
        get_qty=given["get"] and int(given["get"]),
        minimum_subtotal=Decimal(given["minimum"] or 0),
        is_combinable=not given["alone"],
        needs_code=bool(codes),
    )
    for code in codes:
        DiscountCode.objects.create(shop=shop, discount=discount, code=code, created_at=NOW)
    return codes


def totals(shop, cart, delivery, tax):
    lines = queries.cart_lines(shop, cart)
    subtotal = sum(line.price_snapshot * line.qty for line in lines)
    price, _, free_from = delivery.partition(", free from ")
    rate = ShippingRate(price=Decimal(price or 0), free_from=Decimal(free_from) if free_from else None)
    if tax:
        percent, kind = tax.split("% ")
        TaxRate.objects.create(shop=shop, name="VAT", country="DE", percent=percent)
        shop.prices_include_tax = kind == "included"
    shipping = rules.shipping_price(rate, subtotal)
    return queries.cart_totals(shop, lines, NOW, cart=cart, country="DE" if tax else None, shipping=shipping)
