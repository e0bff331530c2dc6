"""The language on the way between the shop's pages and its secure pages, each on a host of its own."""

import re
from html import unescape
from urllib.parse import urlsplit

import pytest

from storefront.orders.models import Order
from storefront.staff.doors import close_doors
from tests.catalogue.factories import make_product
from tests.checkout.shopper import details, fill_cart, hidden_value, link_to
from tests.customers.factories import PASSWORD, make_customer
from tests.languages.test_addresses import targets
from tests.shops.factories import NOW
from tests.walker import SECURE, Walker

pytestmark = [pytest.mark.any_database, pytest.mark.slow, pytest.mark.usefixtures("apart")]
OURS, THEIRS = "https://shop.example.com/de", f"http://{SECURE}/shop.example.com/de"


@pytest.fixture
def walker(shop) -> Walker:
    return Walker(shop)


@pytest.fixture
def mug(shop):
    return make_product(shop, "Mug", price="9.50", stock_qty=9)


def is_kept(walker: Walker) -> bool:
    """All stations of the last walk were German."""
    paths = [urlsplit(url).path.removeprefix("/shop.example.com") for url in [*walker.way, walker.url]]
    assert all(path.startswith("/de/") for path in paths), paths
    return True


def leads_out(page) -> list[str]:
    """Links of a page that leave German."""
    return [
        target
        for target in targets(page.content.decode())
        if not target.startswith((OURS, THEIRS, "/de/", "/shop.example.com/de/"))
    ]


def test_a_basket_is_handed_over_and_ordered_in_german(walker, mug):
    page = walker.open("/de/basket/add", {"product": mug.pk, "qty": "1"})
    assert is_kept(walker)
    assert f'href="{THEIRS}/arrive?next=/checkout"' in page.content.decode()
    assert leads_out(page) == []
    page = walker.go(f"{THEIRS}/arrive?next=/checkout")
    assert walker.url == f"{THEIRS}/checkout"
    assert len(walker.way) == 3
    assert is_kept(walker)
    assert leads_out(page) == []
    walker.secure("/de/checkout", details())
    page = walker.secure("/de/checkout/payment")
    assert leads_out(page) == []
    hidden = {name: hidden_value(page, name) for name in ("checkout", "shown")}
    page = walker.secure("/de/checkout/payment", {"method": "manual", "note": "", **hidden})
    placed = Order.objects.get()
    assert placed.language == "de"
    assert walker.url == f"{THEIRS}/orders/{placed.public_id}"
    assert leads_out(page) == []


def test_an_empty_basket_leads_to_the_basket_in_german(walker):
    walker.open("/de/checkout")
    assert walker.url == f"{OURS}/basket"
    assert is_kept(walker)


def test_a_checkout_link_is_followed_in_its_language(walker, api, mug):
    token = fill_cart(api, {"product_id": mug.pk})
    url = api.post("/cart/checkout", {"locale": "de"}, cart=token).json()["checkout_url"]
    walker.go(url)
    assert walker.url == f"{THEIRS}/checkout"
    assert is_kept(walker)
    walker.go(link_to(api, token))
    assert urlsplit(walker.url).path == "/shop.example.com/checkout"


def test_signing_in_goes_by_way_of_the_shop_and_back_to_german(walker, shop):
    make_customer(shop)
    walker.secure("/de/account/sign-in", {"email": "ada@example.com", "password": PASSWORD})
    assert walker.url == f"{THEIRS}/account"
    assert [urlsplit(url).netloc for url in walker.way] == ["shop.example.com", SECURE, "shop.example.com", SECURE]
    assert is_kept(walker)


def test_signing_in_for_a_page_of_another_language_leads_there(walker, shop):
    make_customer(shop)
    next_page = "/shop.example.com/ar/account"
    walker.secure("/de/account/sign-in", {"email": "ada@example.com", "password": PASSWORD, "next": next_page})
    assert urlsplit(walker.url).path == next_page
    walker = Walker(shop)
    next_page = "/shop.example.com/account"
    walker.secure("/de/account/sign-in", {"email": "ada@example.com", "password": PASSWORD, "next": next_page})
    assert urlsplit(walker.url).path == next_page


def test_pages_that_moved_to_the_secure_host_keep_it(walker):
    walker.open("/de/account/sign-in")
    assert walker.url == f"{THEIRS}/account/sign-in"
    assert is_kept(walker)
    walker.open("/de/account/link?secret=1")
    assert walker.url.startswith(f"{THEIRS}/account/")


def test_the_door_leads_on_in_german(walker, shop, mug):
    password = close_doors(shop=shop, now=NOW)
    page = walker.open("/de/products/mug")
    assert page.status_code == 403
    (door,) = {unescape(url) for url in re.findall(r'"([^"]*/door\?next=[^"]*)"', page.content.decode())}
    assert door == f"{THEIRS}/door?next=%2Fde%2Fproducts%2Fmug"
    walker.go(door, {"password": password, "next": "/de/products/mug"})
    assert walker.url == f"{OURS}/products/mug"
    assert is_kept(walker)
