"""A product's blocks are fetched once for all visitors, and visitors cannot cause an unlimited number of calls."""

import json
from datetime import timedelta

import pytest
from aiohttp import web

from storefront.apps import actions, rendering, shared_blocks
from storefront.apps.extensions import register_extension
from storefront.apps.models import Extension
from storefront.kit import clock
from tests.catalogue.factories import make_product
from tests.factories.apps import install
from tests.races import run_concurrently
from tests.receiver import receiving
from tests.webhooks.factories import wait_until

pytestmark = pytest.mark.django_db(transaction=True)


async def hello(request):
    asked = json.loads(await request.read())
    return web.json_response({"html": f"<p>{asked['shop_domain']} {asked['items'][0]['name_snapshot']}</p>"})


def extend(shop, url: str, count: int = 1) -> None:
    installation = install(shop).installation
    for number in range(count):
        given = {"type": "product_block", "callback_url": f"{url}?{number}", "now": clock.now()}
        register_extension(shop=shop, installation_id=installation.pk, **given)


@pytest.fixture
def mug(shop):
    return make_product(shop, "Mug", price="9.50")


def blocks(visitor, slug: str = "mug") -> str:
    return visitor.get(f"/products/{slug}/blocks").content.decode()


def test_the_second_visitor_causes_no_call(visitor, shop, mug):
    with receiving(hello) as receiver:
        extend(shop, receiver.url, 20)
        for _ in range(3):
            assert blocks(visitor).count("<p>shop.example.com Mug</p>") == 20
        assert receiver.received.qsize() == 20


def test_the_cache_is_per_shop_product_and_price(visitor, shop, other_shop, mug):
    make_product(shop, "Cup")
    make_product(other_shop, "Mug", price="9.50")
    with receiving(hello) as receiver:
        extend(shop, receiver.url)
        extend(other_shop, receiver.url)
        assert "shop.example.com Mug" in blocks(visitor)
        assert "shop.example.com Cup" in blocks(visitor, "cup")
        other = visitor.get("/products/mug/blocks", headers={"host": other_shop.domain})
        assert b"other.example.com Mug" in other.content
        type(mug).objects.filter(pk=mug.pk).update(price="8.00")
        blocks(visitor)
        assert receiver.received.qsize() == 4


def test_the_cache_expires_after_half_a_minute(visitor, shop, mug, time_machine):
    with receiving(hello) as receiver:
        extend(shop, receiver.url)
        blocks(visitor)
        time_machine.move_to(clock.now() + shared_blocks.SHARED_FOR, tick=True)
        blocks(visitor)
        assert receiver.received.qsize() == 2


def test_a_request_that_began_a_moment_before_the_answer_uses_it(visitor, shop, mug, time_machine):
    with receiving(hello) as receiver:
        extend(shop, receiver.url)
        blocks(visitor)
        time_machine.move_to(clock.now() - timedelta(seconds=1), tick=True)
        blocks(visitor)
        assert receiver.received.qsize() == 1


def test_an_uninstalled_apps_block_disappears_at_once(visitor, shop, mug):
    with receiving(hello) as receiver:
        extend(shop, receiver.url)
        assert "Mug" in blocks(visitor)
        installation = Extension.objects.get().installation
        actions.uninstall_app(shop=shop, installation=installation, now=clock.now())
        assert blocks(visitor) == ""


def test_concurrent_visitors_share_one_call(visitor, shop, mug):
    with receiving(hello) as receiver:
        extend(shop, receiver.url)
        receiver.hold()

        def let_go() -> str:
            receiver.next()
            receiver.let_go()
            return ""

        *shown, _ = run_concurrently(*[lambda: blocks(visitor)] * 3, let_go)
        assert all("<p>shop.example.com Mug</p>" in each for each in shown)
        assert receiver.received.empty()


def test_a_failure_reaches_all_waiting_visitors_and_is_not_cached(visitor, shop, mug):
    answers = iter([web.Response(status=500), None])

    async def answer(request):
        return next(answers) or await hello(request)

    with receiving(answer) as receiver:
        extend(shop, receiver.url)
        assert blocks(visitor) == ""
        assert "Mug" in blocks(visitor)
        assert receiver.received.qsize() == 2


def test_limits_calls_per_network(visitor, shop, mug, monkeypatch):
    monkeypatch.setattr(shared_blocks, "MAX_PER_PLACE", 3)
    for number in range(5):
        make_product(shop, f"Cup {number}")
    with receiving(hello) as receiver:
        extend(shop, receiver.url)
        shown = [blocks(visitor, f"cup-{number}") for number in range(5)]
        assert [bool(each) for each in shown] == [True] * 3 + [False] * 2
        assert "Cup 0" in blocks(visitor, "cup-0"), "what is known is shown to everybody"
        elsewhere = visitor.get("/products/cup-4/blocks", REMOTE_ADDR="192.0.2.9")
        assert b"Cup 4" in elsewhere.content


def test_limits_concurrent_calls_per_shop(visitor, shop, mug, monkeypatch):
    monkeypatch.setattr(shared_blocks, "MAX_PER_SHOP", 1)
    make_product(shop, "Cup")
    with receiving(hello) as receiver:
        extend(shop, receiver.url)
        receiver.hold()

        def second() -> str:
            receiver.next()
            try:
                return blocks(visitor, "cup")
            finally:
                receiver.let_go()

        first, refused = run_concurrently(lambda: blocks(visitor), second)
        assert ("Mug" in first, refused) == (True, "")
        assert "Cup" in blocks(visitor, "cup"), "places are given back"


def test_visitors_waiting_for_a_shared_call_count_as_waiting_threads(visitor, shop, mug, monkeypatch):
    rendering.limit_waiting_threads(2)
    try:
        with receiving(hello) as receiver:
            extend(shop, receiver.url)
            receiver.hold()

            def second() -> str:
                receiver.next()
                try:
                    return blocks(visitor)
                finally:
                    receiver.let_go()

            first, refused = run_concurrently(lambda: blocks(visitor), second)
            assert ("Mug" in first, refused) == (True, "")
    finally:
        rendering.limit_waiting_threads(8)


def test_the_cache_is_bounded_in_bytes(visitor, shop, monkeypatch):
    monkeypatch.setattr(shared_blocks, "MAX_BYTES", 3000)
    # A cache takes its size when it is made.
    shared_blocks.clear_cache()
    for number in range(10):
        make_product(shop, f"Cup {number}")
    with receiving(hello) as receiver:
        extend(shop, receiver.url)
        for number in range(10):
            blocks(visitor, f"cup-{number}")
        assert 0 < shared_blocks.cache.entries.currsize <= 3000
        assert len(shared_blocks.cache.entries) < 10
        assert "Cup 9" in blocks(visitor, "cup-9")
        assert receiver.received.qsize() == 10
        wait_until(lambda: not shared_blocks.cache.in_flight)
