"""Extensions: their record, their registration, and the call for a block. test_registrations.py has the rest."""

import asyncio
import json
from datetime import timedelta

import pytest
from aiohttp import web
from standardwebhooks import Webhook

from storefront.apps import rendering
from storefront.kit import clock
from storefront.orders.models import Order
from tests.catalogue.factories import make_product
from tests.checkout.shopper import Shopper
from tests.factories.apps import install
from tests.receiver import receiving

NEW = {"type": "checkout_block", "callback_url": "https://app.example.com/render"}


@pytest.fixture
def app(shop):
    return install(shop, "write_extensions")


@pytest.fixture
def extension(app):
    return app.api.post("/extensions", NEW).json()["extension"]


@pytest.fixture
def shopper(shop, api):
    """At the checkout, with two mugs."""
    shopper = Shopper(shop)
    shopper.bring(api, {"product_id": make_product(shop, "Mug").pk, "qty": 2})
    return shopper


class TestRecord:
    @pytest.mark.rule("R-APP-16")
    def test_each_field_has_its_type(self, extension):
        types = {
            "id": int,
            "app_installation_id": int,
            "type": str,
            "callback_url": str,
            "is_active": bool,
            "timeout_ms": int,
            "created_at": str,
            "updated_at": str,
        }
        assert {name: type(extension[name]) for name in types} == types

    @pytest.mark.rule("R-APP-18")
    def test_the_milliseconds_the_shop_waits_are_5000_by_default(self, extension):
        assert extension["timeout_ms"] == 5000


class TestEndpoints:
    @pytest.mark.rule("R-APP-17")
    def test_post_takes_type_callback_url_and_an_optional_timeout(self, app):
        answer = app.api.post("/extensions", NEW | {"timeout_ms": 800})
        assert answer.status_code == 201
        assert answer.json()["message"] == "Extension registered."
        assert answer.json()["extension"] | NEW == answer.json()["extension"]
        assert answer.json()["extension"]["timeout_ms"] == 800

    @pytest.mark.rule("R-APP-18")
    @pytest.mark.parametrize("type", ["checkout_block", "product_block", "confirmation_block"])
    def test_type_is_one_of_three(self, app, type):
        assert app.api.post("/extensions", NEW | {"type": type}).status_code == 201
        assert app.api.post("/extensions", NEW | {"type": "footer_block"}).status_code == 422

    @pytest.mark.rule("R-APP-18")
    @pytest.mark.parametrize(("timeout", "status"), [(99, 422), (100, 201), (10_000, 201), (10_001, 422)])
    def test_timeout_ms_is_from_100_to_10000(self, app, timeout, status):
        assert app.api.post("/extensions", NEW | {"timeout_ms": timeout}).status_code == status


@pytest.mark.rule("R-APP-15")
def test_a_private_address_is_refused_again_at_the_connection(app, shop, settings):
    with receiving() as receiver:
        app.api.post("/extensions", NEW | {"callback_url": receiver.url})
        settings.ALLOW_PRIVATE_CALLBACKS = False
        assert rendering.fetch_blocks(shop, "checkout_block", payload={}, now=clock.now()) == []
        assert receiver.received.empty()


class TestRenderCall:
    """During checkout the shop calls `callback_url`, and the app answers with a JSON object containing `html`."""

    def extend(self, app, url: str, **given) -> None:
        assert app.api.post("/extensions", NEW | {"callback_url": url} | given).status_code == 201

    @pytest.mark.rule("R-APP-19")
    def test_the_block_appears_at_checkout(self, app, shopper):
        async def answer(_):
            return web.json_response({"html": "<p>Wrap it?</p>"})

        with receiving(answer) as receiver:
            self.extend(app, receiver.url)
            assert b"<p>Wrap it?</p>" in shopper.get("/checkout/blocks").content

    @pytest.mark.rule("R-APP-19")
    def test_the_request_carries_id_type_shop_currency_items_totals_and_cart_signed(self, app, shopper, shop):
        with receiving() as receiver:
            self.extend(app, receiver.url)
            shopper.get("/checkout/blocks")
            got = receiver.next()
        assert got.method == "POST"
        body = json.loads(got.body)
        assert body.keys() == {"id", "type", "shop_domain", "currency", "items", "totals", "cart"}
        assert (body["type"], body["shop_domain"], body["currency"]) == ("checkout_block", shop.domain, shop.currency)
        assert [item["qty"] for item in body["items"]] == [2]
        assert body["totals"]["total"] == "19.00"
        Webhook(app.secret).verify(got.body, {name.lower(): value for name, value in got.headers.items()})

    @pytest.mark.slow
    @pytest.mark.rule("R-APP-21")
    @pytest.mark.parametrize("failure", ["hangs", "breaks", "is gone", "sends no html", "sends too much"])
    def test_when_the_app_fails_the_checkout_completes_without_the_block(self, app, shopper, failure):
        answers = {
            "breaks": web.Response(status=500),
            "is gone": web.Response(status=302, headers={"Location": "/"}),
            "sends no html": web.json_response({}),
            "sends too much": web.json_response({"html": "x" * 65536}),
        }

        async def answer(_):
            if failure == "hangs":
                await asyncio.Event().wait()
            return answers[failure]

        with receiving(answer) as receiver:
            self.extend(app, receiver.url, timeout_ms=1000 if failure == "hangs" else 10_000)
            assert shopper.get("/checkout").status_code == 200
            block = shopper.get("/checkout/blocks")
            assert (block.status_code, block.content) == (204, b"")
            receiver.next()
            assert receiver.received.empty(), "there is no retry"
            assert shopper.order().status_code == 303
        assert Order.objects.count() == 1

    @pytest.mark.rule("R-APP-20")
    def test_timeout_ms_is_a_total_deadline(self, app, shopper):
        async def drip(request):
            response = web.StreamResponse()
            await response.prepare(request)
            while True:
                await response.write(b" ")
                await asyncio.sleep(0.01)

        with receiving(drip) as receiver:
            self.extend(app, receiver.url, timeout_ms=200)
            assert shopper.get("/checkout/blocks").status_code == 204

    @pytest.mark.rule("R-APP-22")
    def test_html_is_sanitised_before_it_is_shown(self, app, shopper):
        async def answer(_):
            return web.json_response({"html": "<p onclick=alert(1)>Hi<script>alert(1)</script></p>"})

        with receiving(answer) as receiver:
            self.extend(app, receiver.url)
            shown = shopper.get("/checkout/blocks").content
        assert b"<p>Hi</p>" in shown
        assert b"alert" not in shown

    @pytest.mark.rule("R-APP-23")
    def test_blocks_are_asked_side_by_side(self, app, shopper):
        both = asyncio.Event()
        seen = []

        async def answer(request):
            seen.append(request.path)
            if len(seen) == 2:
                both.set()
            await both.wait()
            return web.json_response({"html": request.path})

        with receiving(answer) as receiver:
            for number in (1, 2):
                self.extend(app, f"{receiver.url}/{number}")
            shown = shopper.get("/checkout/blocks").content
        assert b"/1" in shown
        assert b"/2" in shown

    @pytest.mark.rule("R-APP-24")
    def test_one_that_keeps_failing_is_not_asked_for_a_while(self, app, shop):
        async def broken(_):
            return web.Response(status=500)

        now = clock.now()
        with receiving(broken) as receiver:
            self.extend(app, receiver.url)
            for _ in range(10):
                rendering.fetch_blocks(shop, "checkout_block", payload={}, now=now)
            assert receiver.received.qsize() == 5
            rendering.fetch_blocks(shop, "checkout_block", payload={}, now=now + timedelta(minutes=1))
            assert receiver.received.qsize() == 6
