"""Each example of docs/prices.md is calculated from rows of the database, as a cart is."""

import re
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from storefront.carts import actions, queries
from storefront.catalogue.actions import create_product
from storefront.catalogue.dated.past_prices import lowest_before
from storefront.catalogue.dated.turning import turn_due
from storefront.catalogue.models import Product, TaxClass
from storefront.checkout.vat_ids import proven_country
from storefront.kit.clock import timestamp
from storefront.pricing.models import DiscountCode, ShippingRate, TaxRate
from storefront.pricing.queries import tax_terms
from storefront.pricing.shipping import Parcel, shipping_price
from tests.catalogue.factories import make_category, make_product
from tests.gift_cards.factories import make_card
from tests.orders.files import add_file
from tests.pricing.rows import make_discount
from tests.shops.factories import NOW

pytestmark = pytest.mark.any_database

EXAMPLES = [
    [line.strip() for line in block.splitlines()]
    for block in re.findall(r"(?:^    \w.*\n)+", Path("docs/prices.md").read_text(), re.MULTILINE)
]
SALES = [example for example in EXAMPLES if example[0].startswith("Product")]
EXAMPLES = [example for example in EXAMPLES if example not in SALES]
SALE = re.compile(r"Product: (\w+) at ([\d.]+)(?:, before ([\d.]+))?, on sale at ([\d.]+) from (.+) until (.+)")
ITEM = re.compile(r"(\d+) (\w+)(?: in (.+?))?(?: as (\w+))? at ([\d.]+)")
RATE = re.compile(
    r"(?P<country>[A-Z]{2}) (?:(?P<codes>[\d*, ]+) )?(?:(?P<class>[a-z]+) )?(?:(?P<region>[A-Z]\w+) )?"
    r"(?P<percent>[\d.]+)%"
    r"(?: named (?P<name>\w+))?(?: step (?P<step>\d))?(?P<compound> compound)?"
)
ADDRESS = re.compile(r"([A-Z]{2}) ([A-Z0-9 ]+?)(?: ([A-Z]\w*[a-zé]\w*))?")
DISCOUNT = re.compile(
    r"(?:buy (?P<buy>\d+) get (?P<get>\d+), )?(?:(?P<percent>\d+)% off|(?P<amount>[\d.]+) off|(?P<free>free delivery))"
    r"(?: category (?P<category>\w+)| (?P<product>(?!from)\w+))?(?: from (?P<minimum>[\d.]+))?"
    r"(?P<alone>, alone)?(?P<codes>(?:, code \w+)*)"
)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda lines: " / ".join(lines)[:80])
def test_example_is_right(shop, example):
    said = [line.partition(": ")[::2] for line in example]
    of = {name: text for name, text in said if name not in ("Discount", "Gift card", "Rate")}
    set_up_taxes(shop, of.get("Shop", ""), [text for name, text in said if name == "Rate"])
    cart = fill(shop, of["Basket"])
    cart.gift_cards = [make_card(shop, text)[0].pk for name, text in said if name == "Gift card"]
    cart.discount_codes = [code for name, text in said if name == "Discount" for code in set_up(shop, text)]
    found = totals(shop, cart, of.get("Delivery", ""), tax_terms_of(shop, of))
    result = [figure.split() for figure in of["Result"].split(", ")]
    assert {name: str(getattr(found, name)) for name, _ in result} == dict(result)
    if "Taxes" in of:
        assert of["Taxes"] == ", ".join(f"{tax.label} on {tax.base} is {tax.amount}" for tax in found.tax_lines)
    refused = [f"{each.code} {each.refused}" for each in found.codes if each.refused]
    assert refused == ([of["Refused"]] if "Refused" in of else [])


@pytest.mark.parametrize("example", SALES, ids=lambda lines: lines[0])
def test_sale_period_is_right(shop, example):
    given = SALE.fullmatch(example[0])
    assert given, example[0]
    name, price, before, sale, begin, end = given.groups()
    prices = {"price": Decimal(price), "compare_price": Decimal(before or 0), "sale_price": Decimal(sale)}
    dates = {"sale_from": day(begin), "sale_until": day(end)}
    product = create_product(shop=shop, name=name, status="active", now=NOW, **prices, **dates)
    for line in example[1:]:
        at, _, figures = line.partition(": ")
        while turn_due(now=day(at), limit=9):
            pass
        product.refresh_from_db()
        cart = actions.add_line(shop=shop, now=day(at), product_id=product.pk, qty=1).cart
        assert cart.lines.get().price_snapshot == product.price
        for name, amount in (figure.split() for figure in figures.split(", ")):
            found = lowest_before(shop, product.pk, day(at))[None] if name == "lowest" else getattr(product, name)
            assert (at, name, found) == (at, name, Decimal(amount))


def day(text: str) -> datetime:
    """Such as 1 December, after `NOW`."""
    return datetime.strptime(f"{text} {NOW.year}", "%d %B %Y").replace(tzinfo=UTC)


def test_the_page_has_an_example_of_each_kind():
    texts = [line for example in EXAMPLES for line in example if line.startswith("Discount")]
    for kind in ("10% off", "15.00 off", "buy 2 get 1", "free delivery"):
        assert any(kind in text for text in texts)


KINDS = {"buy": "buy_get", "percent": "percent", "amount": "amount", "free": "free_delivery"}


def fill(shop, basket):
    cart = None
    for qty, name, categories, kind, price in ITEM.findall(basket):
        parent = None
        for category in filter(None, categories.split(" > ")):
            parent = make_category(shop, category, parent=parent)
        given = {"price": Decimal(price), "is_gift_card": name == "GiftCard"}
        given |= {"type": "digital"} if kind == "digital" else {}
        given |= {"tax_class": tax_class(shop, kind)} if kind not in ("", "digital") else {}
        mug = make_product(shop, name, categories=(parent,) if parent else (), **given)
        if kind == "digital":
            add_file(mug)
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


SETTINGS = {
    "prices with tax": {"prices_include_tax": True},
    "prices without tax": {"prices_include_tax": False},
    "rounded on every line": {"tax_rounding": "line"},
    "delivery in the standard class": {"delivery_tax": "class"},
    "tax of the own country": {"eu_tax": "origin"},
    "only listed rates": {"eu_tax": "listed"},
    "exports at the same price": {"exports_at_net_price": False},
}


def tax_class(shop, name):
    return TaxClass.objects.get_or_create(shop=shop, name=name)[0]


def set_up_taxes(shop, settings, rates):
    if settings:
        shop.country, *chosen = settings.split(", ")
        for text in chosen:
            for name, value in SETTINGS[text].items():
                setattr(shop, name, value)
        shop.save()
    for text in rates:
        given = RATE.fullmatch(text)
        assert given, text
        TaxRate.objects.create(
            shop=shop,
            name=given["name"] or "VAT",
            country=given["country"],
            region=given["region"] or "",
            postcodes=given["codes"].split(", ") if given["codes"] else [],
            tax_class=tax_class(shop, given["class"]) if given["class"] else None,
            percent=given["percent"],
            step=int(given["step"] or 1),
            is_compound=bool(given["compound"]),
        )


def tax_terms_of(shop, of):
    if tax := of.get("Tax"):
        percent, kind = tax.split("% ")
        TaxRate.objects.create(shop=shop, name="VAT", country="DE", percent=percent)
        shop.prices_include_tax = kind == "included"
        return tax_terms(shop, destination={"country": "DE"})
    goods, buyer = (address(of[name]) if name in of else None for name in ("Address", "Billing"))
    country, _, said = of.get("VAT ID", "").partition(", ")
    shop.asks_vat_id = True
    check = {"result": said, "checked_at": timestamp(NOW)} if said else None
    proven = proven_country(shop, f"{country}40303265045" if country else "", check, NOW)
    is_net = of.get("Customer") == "sees prices without tax"
    return tax_terms(shop, destination=goods, buyer=buyer or goods, vat_id_country=proven, is_net=is_net)


def address(text):
    given = ADDRESS.fullmatch(text)
    assert given, text
    return {"country": given[1], "postal_code": given[2], "region": given[3] or ""}


def totals(shop, cart, delivery, terms):
    lines = queries.cart_lines(shop, cart)
    subtotal = sum(line.price_snapshot * line.qty for line in lines)
    price, _, free_from = delivery.partition(", free from ")
    rate = ShippingRate(price=Decimal(price or 0), free_from=Decimal(free_from) if free_from else None)
    shipping = shipping_price(rate, [], Parcel(subtotal=subtotal))
    return queries.cart_totals(shop, lines, NOW, cart=cart, terms=terms, shipping=shipping)
