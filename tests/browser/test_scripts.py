"""Apps' scripts in a browser: an allowed one runs; a blocked one does not, and is reported to the merchant."""

import pytest
from aiohttp import web
from playwright.sync_api import expect

from storefront.apps.models import BlockedScript
from storefront.apps.scripts import register_script_tag
from storefront.kit import clock
from tests.browser import steps
from tests.catalogue.factories import make_product
from tests.factories.apps import install, make_app
from tests.receiver import receiving
from tests.server.programs import wait_until
from tests.staff import make_staff

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("own_hosts")]

# A script that loads a style sheet from its host, and calls the host.
BADGE = """
const link = document.createElement("link");
link.rel = "stylesheet";
link.href = new URL("badge.css", document.currentScript.src);
const call = new URL("call", document.currentScript.src);
const begin = async () => {
  document.head.append(link);
  const badge = document.createElement("p");
  badge.id = "badge";
  badge.textContent = await (await fetch(call)).text();
  document.body.append(badge);
};
if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", begin);
else begin();
"""


async def host(request):
    """The app's script, style sheet and URL to call."""
    if request.path == "/badge.css":
        return web.Response(text="#badge { color: rgb(1, 2, 3) }", content_type="text/css")
    if request.path == "/call":
        return web.Response(text="We wrap gifts.", headers={"Access-Control-Allow-Origin": "*"})
    return web.Response(text=BADGE, content_type="text/javascript")


def put(app, src: str, location: str = "head") -> None:
    given = {"shop": app.installation.shop, "installation_id": app.installation.pk, "now": clock.now()}
    register_script_tag(**given, src=src, location=location)


@pytest.mark.walk
@pytest.mark.parametrize("location", ["head", "body_start"])
def test_an_allowed_script_runs_on_pages_and_never_at_the_checkout(street, visit, location):
    make_product(street, "Mug", price="9.50")
    shopper = visit()
    with receiving(host) as receiver:
        app = install(street, app=make_app(install_url=f"{receiver.url}/install"))
        put(app, f"{receiver.url}/badge.js", location)
        for path in ("/", "/products", "/products/mug", "/basket"):
            badge = shopper.open(path).locator("#badge")
            expect(badge).to_have_text("We wrap gifts.")
            expect(badge).to_have_css("color", "rgb(1, 2, 3)")
        page = shopper.open("/products/mug")
        page.get_by_role("button", name="Add to basket").click()
        page.get_by_text("Mug is in your basket").or_(page.locator("#outcome .notice")).first.wait_for()
        shopper.open("/checkout")
        expect(page.get_by_role("heading", level=1)).to_have_text("Checkout")
        asked = receiver.received.qsize()
        steps.fill_details(page)
        steps.choose_delivery(page)
        steps.pay_by_card(page)
        steps.expect_order(page, "€14.40")
        expect(page.locator("#badge")).to_have_count(0)
        assert receiver.received.qsize() == asked
    assert not BlockedScript.objects.exists()


def test_a_script_host_that_does_not_answer_delays_nothing(street, visit):
    make_product(street, "Mug", price="9.50")
    with receiving(host) as receiver:
        receiver.hold()
        app = install(street, app=make_app(install_url=f"{receiver.url}/install"))
        for location in ("head", "body_start", "body_end"):
            put(app, f"{receiver.url}/{location}.js", location)
        shopper = visit()
        shopper.page.goto(f"{shopper.address}/products/mug", wait_until="domcontentloaded")
        receiver.next()
        shopper.page.get_by_role("button", name="Add to basket").click()
        # Handled by the page's own scripts; without them, the click would open another page.
        shopper.page.locator("#outcome .notice").first.wait_for()
        assert shopper.page.url.endswith("/products/mug")


def test_a_blocked_script_is_reported_to_the_merchant_who_allows_it(street, visit, settings):
    make_product(street, "Mug")
    make_staff(street)
    shopper = visit()
    with receiving(host) as receiver:
        put(install(street), f"{receiver.url}/badge.js?visitor=7")
        page = shopper.open("/products/mug")
        # Only the browser's console reports the blocked script.
        wait_until(BlockedScript.objects.exists, what="the report")
        page.get_by_role("button", name="Add to basket").click()
        page.get_by_text("Mug is in your basket").or_(page.locator("#outcome .notice")).first.wait_for()
        expect(page.locator("#badge")).to_have_count(0)
        assert receiver.received.empty()
        complaints, shopper.complaints = shopper.complaints, []
        assert complaints
        assert all("Content Security Policy" in text for text in complaints)

        row = BlockedScript.objects.get()
        assert (row.source, row.directive) == (f"{receiver.url}/badge.js", "script-src")
        assert row.page == "/products/mug"

        merchant = visit()
        desk = merchant.open(f"http://{settings.ADMIN_HOST}/admin/login/?next=/admin/apps/blockedscript/")
        desk.get_by_label("Email address").fill("anna")
        desk.get_by_label("Password").fill("lighthouse-1")
        desk.get_by_role("button", name="Sign in").click()
        expect(desk.locator("#result_list")).to_contain_text(row.source)
        merchant.photograph("blocked-scripts")
        desk.get_by_role("link", name=row.source).click()
        desk.get_by_role("link", name="Allow this host").click()
        expect(desk.locator("#content")).to_contain_text("Anybody can make a browser report")
        merchant.photograph("allow-a-host")
        desk.get_by_role("button", name="Allow").click()
        expect(desk.locator("body")).to_contain_text("are now allowed.")

        expect(shopper.open("/products/mug").locator("#badge")).to_have_text("We wrap gifts.")
    assert not BlockedScript.objects.exists()
