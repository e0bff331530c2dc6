"""Apps' blocks on a product page."""

import json
import re
from decimal import Decimal

import pytest
from aiohttp import web

from storefront.apps.extensions import register_extension
from storefront.kit import clock
from tests.catalogue.factories import make_product, make_variant
from tests.factories.apps import install
from tests.receiver import receiving


def extend(shop, url: str, type: str = "product_block") -> None:
    installation = install(shop).installation
    register_extension(shop=shop, installation_id=installation.pk, type=type, callback_url=url, now=clock.now())


async def hello(_):
    return web.json_response({"html": "<p>Five stars</p>"})


@pytest.fixture
def mug(shop):
    return make_product(shop, "Mug", price="9.50", cost_price="34567.89")


def place(page) -> str | None:
    found = re.search(r'hx-get="([^"]*blocks)" hx-trigger="load"', page.content.decode())
    return found[1] if found else None


def test_the_page_loads_its_blocks_after_itself(visitor, shop, mug):
    with receiving(hello) as receiver:
        receiver.hold()
        extend(shop, receiver.url)
        page = visitor.get("/products/mug")
        assert page.status_code == 200
        assert receiver.received.empty(), "the page itself asked"
        receiver.let_go()
        answer = visitor.get(place(page))
        assert (answer.status_code, answer["Cache-Control"]) == (200, "no-store")
        assert b"<p>Five stars</p>" in answer.content


def test_the_app_receives_the_product(visitor, shop, mug):
    with receiving(hello) as receiver:
        extend(shop, receiver.url)
        visitor.get("/products/mug/blocks")
        asked = json.loads(receiver.next().body)
    assert asked["type"] == "product_block"
    (item,) = asked["items"]
    assert (item["product_id"], item["name_snapshot"], item["qty"]) == (mug.pk, "Mug", 1)
    assert (item["price_snapshot"], asked["totals"]["total"]) == ("9.50", "9.50")
    assert "34567.89" not in json.dumps(asked)


def test_a_product_with_variants_has_the_lowest_price_of_those_for_sale(visitor, shop):
    shirt = make_product(shop, "Shirt", price=Decimal("0.00"))
    make_variant(shirt, "Large", price=Decimal("14.00"))
    make_variant(shirt, "Small", price=Decimal("12.00"))
    make_variant(shirt, "Old", price=Decimal("1.00"), is_active=False)
    with receiving(hello) as receiver:
        extend(shop, receiver.url)
        visitor.get("/products/shirt/blocks")
        asked = json.loads(receiver.next().body)
    assert (asked["items"][0]["price_snapshot"], asked["totals"]["total"]) == ("12.00", "12.00")


def test_a_page_without_apps_has_no_block_element(visitor, shop, other_shop, mug):
    extend(other_shop, "https://app.example.com/")
    extend(shop, "https://app.example.com/", "checkout_block")
    assert place(visitor.get("/products/mug")) is None
    for ask in (visitor.get, visitor.head):
        assert ask("/products/mug/blocks").status_code == 204


def test_a_product_that_is_not_public_is_a_404(visitor, shop, other_shop):
    make_product(shop, "Draft", status="draft")
    make_product(other_shop, "Theirs")
    with receiving(hello) as receiver:
        extend(shop, receiver.url)
        for slug in ("draft", "theirs", "unknown"):
            assert visitor.get(f"/products/{slug}/blocks").status_code == 404
        assert receiver.received.empty()


def test_robots_txt_excludes_blocks(visitor, shop):
    assert "Disallow: /products/*/blocks\n" in visitor.get("/robots.txt").content.decode()


def test_blocks_take_a_constant_number_of_queries(visitor, shop, mug, django_assert_max_num_queries):
    with receiving(hello) as receiver:
        for _ in range(3):
            extend(shop, receiver.url)
        with django_assert_max_num_queries(11):
            answer = visitor.get("/products/mug/blocks")
    assert answer.content.decode().count("<p>Five stars</p>") == 3
