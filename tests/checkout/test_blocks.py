"""Apps' blocks in the checkout and on the confirmation page, which the browser fetches after the page."""

import json
import re
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4

import pytest
from aiohttp import web

from storefront.apps.extensions import register_extension
from storefront.apps.models import ExtensionCall
from storefront.kit import clock
from storefront.orders.models import Order
from tests.checkout.shopper import Shopper
from tests.factories.apps import install, make_app
from tests.receiver import receiving

pytestmark = pytest.mark.slow


def extend(shop, url: str, type: str = "checkout_block", *, timeout_ms: int = 10_000, app=None) -> None:
    installation = install(shop, app=app).installation
    given = {"type": type, "callback_url": url, "timeout_ms": timeout_ms, "now": clock.now()}
    register_extension(shop=shop, installation_id=installation.pk, **given)


async def hello(_):
    return web.json_response({"html": "<p>Wrap it?</p>"})


@pytest.fixture
def at_checkout(shopper, api, mug) -> Shopper:
    shopper.bring(api, {"product_id": mug.pk, "qty": 2})
    return shopper


def place(page) -> str | None:
    """The URL from which the page fetches its blocks."""
    found = re.search(r'hx-get="([^"]*blocks)" hx-trigger="load"', page.content.decode())
    return found[1] if found else None


class TestCheckout:
    def test_the_page_fetches_its_blocks(self, at_checkout, shop):
        with receiving(hello) as receiver:
            extend(shop, receiver.url, app=make_app("gifts", name="Gift <notes>"))
            url = place(at_checkout.get("/checkout"))
            assert receiver.received.empty(), "the page itself asked"
            answer = at_checkout.get(url)
        assert answer.status_code == 200
        assert answer["Cache-Control"] == "no-store"
        assert b"<p>Wrap it?</p>" in answer.content
        assert b"From the app Gift &lt;notes&gt;" in answer.content

    def test_every_step_fetches_blocks(self, at_checkout, shop):
        extend(shop, "https://app.example.com/")
        at_checkout.fill_details()
        for step in ("/checkout", "/checkout/payment"):
            assert place(at_checkout.get(step)) == "/checkout/blocks"

    def test_app_gets_the_basket(self, at_checkout, shop, mug):
        with receiving(hello) as receiver:
            extend(shop, receiver.url)
            at_checkout.get("/checkout/blocks")
            asked = json.loads(receiver.next().body)
        assert asked["type"] == "checkout_block"
        (item,) = asked["items"]
        assert (item["product_id"], item["qty"], item["line_total"]) == (mug.pk, 2, "19.00")
        assert (asked["totals"]["total"], asked["totals"]["item_count"]) == ("19.00", 2)
        assert "cart_token" not in asked

    @pytest.mark.rule("R-APP-41")
    def test_app_can_tie_a_block_to_the_order(self, shopper, shop, api, mug):
        brought = api.post("/cart", {"product_id": mug.pk, "qty": 1}).json()["cart_token"]
        url = api.post("/cart/checkout", cart=brought).json()["checkout_url"]
        (link,) = parse_qs(urlsplit(url).query)["cart"]
        with receiving(hello) as receiver:
            for type in ("checkout_block", "confirmation_block"):
                extend(shop, receiver.url, type)
            shopper.arrive(url)
            shopper.get("/checkout/blocks")
            order_page = shopper.order()["Location"]
            shopper.get(f"{order_page}/blocks")
            asked = [json.loads(receiver.next().body) for _ in range(2)]
        assert [each["cart"] for each in asked] == [link, link]
        assert brought not in str(asked)
        (order,) = install(shop, "read_orders").api.get(f"/orders?cart={link}").json()["orders"]
        assert order["cart"] == link

    @pytest.mark.rule("R-APP-41")
    def test_a_basket_of_the_shops_own_has_no_link(self, shopper, shop, mug):
        with receiving(hello) as receiver:
            extend(shop, receiver.url)
            shopper.post("/basket/add", {"product": mug.pk, "qty": "1"})
            shopper.get("/checkout/blocks")
            assert json.loads(receiver.next().body)["cart"] is None

    def test_neither_page_nor_order_waits_for_the_app(self, at_checkout, shop):
        with receiving(hello) as receiver:
            receiver.hold()
            extend(shop, receiver.url)
            assert at_checkout.get("/checkout").status_code == 200
            placed = at_checkout.order()
            assert placed.status_code == 303
            assert at_checkout.get(placed["Location"]).status_code == 200
            assert receiver.received.empty()
        assert Order.objects.count() == 1

    @pytest.mark.parametrize("problem", ["hangs", "breaks"])
    def test_an_app_that_fails_has_no_block_and_makes_no_error(self, at_checkout, shop, problem):
        async def broken(_):
            return web.Response(status=500, text="no")

        with receiving(broken) as receiver:
            if problem == "hangs":
                receiver.hold()
            extend(shop, receiver.url, timeout_ms=1000 if problem == "hangs" else 10_000)
            answer = at_checkout.get("/checkout/blocks")
        assert (answer.status_code, answer.content) == (204, b"")
        assert ExtensionCall.objects.get().outcome == ("timed_out" if problem == "hangs" else "failed")
        assert at_checkout.order().status_code == 303

    def test_shop_without_apps_fetches_no_blocks(self, at_checkout, shop, other_shop):
        extend(other_shop, "https://app.example.com/")
        extend(shop, "https://app.example.com/", "product_block")
        assert place(at_checkout.get("/checkout")) is None
        assert at_checkout.get("/checkout/blocks").status_code == 204

    def test_another_shops_app_is_not_called(self, at_checkout, other_shop):
        with receiving(hello) as receiver:
            extend(other_shop, receiver.url)
            assert at_checkout.get("/checkout/blocks").status_code == 204
            assert receiver.received.empty()

    def test_without_a_basket_no_app_is_called(self, shopper, shop):
        with receiving(hello) as receiver:
            extend(shop, receiver.url)
            assert shopper.get("/checkout/blocks").status_code == 204
            assert receiver.received.empty()

    def test_only_a_get_calls_the_app(self, at_checkout, shop):
        with receiving(hello) as receiver:
            extend(shop, receiver.url)
            assert at_checkout.browser.head("/checkout/blocks").status_code == 405
            assert receiver.received.empty()

    def test_it_takes_few_queries_however_many_apps(self, at_checkout, shop, django_assert_max_num_queries):
        with receiving(hello) as receiver:
            for _ in range(3):
                extend(shop, receiver.url)
            with django_assert_max_num_queries(18):
                answer = at_checkout.get("/checkout/blocks")
        assert answer.content.decode().count("<p>Wrap it?</p>") == 3


class TestConfirmation:
    @pytest.fixture
    def confirmation(self, at_checkout) -> str:
        return at_checkout.order()["Location"]

    def test_the_page_fetches_its_blocks(self, shopper, shop, confirmation, mug):
        with receiving(hello) as receiver:
            extend(shop, receiver.url, "confirmation_block")
            url = place(shopper.get(confirmation))
            assert receiver.received.empty(), "the page itself asked"
            assert b"<p>Wrap it?</p>" in shopper.get(url).content
            asked = json.loads(receiver.next().body)
        order = Order.objects.get()
        (item,) = asked["items"]
        assert (item["product_id"], item["name_snapshot"], item["qty"]) == (mug.pk, "Mug", 2)
        assert (item["price_snapshot"], item["line_total"]) == ("9.50", "19.00")
        assert (asked["totals"]["total"], asked["totals"]["item_count"]) == (str(order.total), 2)

    def test_app_gets_no_personal_data(self, shopper, shop, confirmation):
        with receiving(hello) as receiver:
            extend(shop, receiver.url, "confirmation_block")
            shopper.get(f"{confirmation}/blocks")
            asked = receiver.next().body
        order = Order.objects.get()
        for private in (order.email, "Lovelace", "Kiel", str(order.public_id)):
            assert private.encode() not in asked

    def test_an_order_that_does_not_exist_is_a_404(self, shopper, shop):
        assert shopper.get(f"/orders/{uuid4()}/blocks").status_code == 404

    def test_an_order_of_another_shop_is_a_404(self, confirmation, shop, other_shop):
        extend(other_shop, "http://127.0.0.1:1/", "confirmation_block")
        assert Shopper(other_shop).get(f"{confirmation}/blocks").status_code == 404
        assert not ExtensionCall.objects.exists()

    def test_it_takes_few_queries_however_many_apps(self, shopper, shop, confirmation, django_assert_max_num_queries):
        with receiving(hello) as receiver:
            for _ in range(3):
                extend(shop, receiver.url, "confirmation_block")
            with django_assert_max_num_queries(11):
                answer = shopper.get(f"{confirmation}/blocks")
        assert answer.content.decode().count("<p>Wrap it?</p>") == 3
