"""Apps' blocks in a browser: one appears, another app hangs, and nothing waits for it."""

import pytest
from aiohttp import web
from playwright.sync_api import expect

from storefront.apps.extensions import register_extension
from storefront.apps.models import ExtensionCall
from storefront.kit import clock
from storefront.orders.models import Order
from tests.browser import steps
from tests.browser.conftest import NARROW, WIDE
from tests.browser.test_accessibility import check
from tests.catalogue.factories import make_product
from tests.factories.apps import install, make_app
from tests.receiver import receiving

pytestmark = pytest.mark.browser

BLOCK = """
<h3>Wrap it as a gift?</h3><p style="position:fixed;inset:0">In <b>recycled</b> paper.</p>
<script>document.title = "stolen"</script><a href="https://gifts.example.com/terms">Terms</a>
"""


async def gift(_):
    return web.json_response({"html": BLOCK})


def extend(app, url: str, type: str = "checkout_block", timeout_ms: int = 5000) -> None:
    register_extension(
        shop=app.installation.shop,
        installation_id=app.installation.pk,
        type=type,
        callback_url=url,
        timeout_ms=timeout_ms,
        now=clock.now(),
    )


@pytest.mark.walk
@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_a_block_is_seen_at_checkout_and_an_order_placed_while_another_app_hangs(street, visit, width):
    make_product(street, "Mug", price="9.50")
    gifts = install(street, app=make_app("gifts", name="Gift notes"))
    shopper = visit(width)
    with receiving(gift) as well, receiving() as stuck:
        stuck.hold()
        for type in ("product_block", "checkout_block", "confirmation_block"):
            extend(gifts, well.url, type)
        extend(install(street), stuck.url, timeout_ms=1000)

        page = shopper.open("/products/mug")
        block = page.get_by_role("region", name="Gift notes")
        expect(block).to_contain_text("Wrap it as a gift?")
        expect(block).to_contain_text("From the app Gift notes")
        page.get_by_role("button", name="Add to basket").click()
        page.get_by_text("Mug is in your basket").or_(page.locator("#outcome .notice")).first.wait_for()

        page = shopper.open("/checkout")
        expect(block).to_contain_text("recycled")
        expect(block.get_by_role("link", name="Terms")).to_have_attribute("rel", "noopener nofollow")
        assert page.title() != "stolen"
        shopper.photograph("checkout-with-a-block")
        check(shopper)
        steps.fill_details(page)
        # The payment page calls both apps. One does not answer; the order does not wait for it.
        with page.expect_request(lambda request: "payment" in request.headers.get("hx-current-url", "")):
            steps.choose_delivery(page)
        steps.pay_by_card(page)
        steps.expect_order(page, "€14.40")
        expect(block).to_contain_text("Wrap it as a gift?")
        assert not stuck.received.empty()
    assert Order.objects.count() == 1
    assert "shown" in ExtensionCall.objects.values_list("outcome", flat=True)


def test_without_javascript_there_is_no_block_and_no_gap(street, visit):
    make_product(street, "Mug")
    with receiving(gift) as receiver:
        extend(install(street), receiver.url, "product_block")
        page = visit(java_script_enabled=False).open("/products/mug")
        expect(page.locator(".app-blocks")).to_be_hidden()
        assert receiver.received.empty()
