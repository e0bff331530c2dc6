"""An app's hostile script on the shop's pages, in a browser that is signed in as the shop's owner and as a shopper.

The Content-Security-Policy is bypassed, so that the other protections are tested without it."""

from pathlib import Path

import pytest
from aiohttp import web
from django.conf import settings as deployment
from django.contrib.auth.models import AbstractBaseUser
from django.contrib.sessions.models import Session
from django.test.testcases import _MediaFilesHandler
from playwright.sync_api import Browser, BrowserContext, Page, TimeoutError

from storefront.apps.scripts import register_script_tag
from storefront.carts.models import CartLine
from storefront.customers.models import Customer
from storefront.kit import clock
from storefront.orders.models import Order
from storefront.server.origins import cookie_names
from storefront.shops.models import ApiToken, HandoverCode, StaffMember
from storefront.shops.places import ADMIN
from tests.browser.hosts import Hosts, three_hosts
from tests.catalogue.factories import make_product
from tests.customers.factories import PASSWORD, add_address, make_customer
from tests.factories.apps import install, make_app
from tests.receiver import receiving
from tests.server.programs import wait_until
from tests.staff import make_staff, session_of

pytestmark = [pytest.mark.browser, pytest.mark.proof, pytest.mark.timeout(800)]

SCRIPT = Path(__file__).with_name("hostile.js").read_text()
TYPED, LATE = "typed-by-hand-7", "nothing in time"
# The value that the script writes into every cookie that it can set.
TOSSED = "k" * 32


async def evil(request: web.Request) -> web.Response:
    return web.Response(text=SCRIPT, content_type="text/javascript", headers={"Access-Control-Allow-Origin": "*"})


@pytest.fixture(params=["https", "http", "localhost"])
def hosts(request, live_server, transactional_db, settings, tmp_path, monkeypatch):
    """Protection from cookies of sibling hosts requires HTTPS; the rest holds over HTTP, too."""
    # Uploads must be served by the product, not by the test's server.
    monkeypatch.setattr(_MediaFilesHandler, "_should_handle", lambda *_: False)
    settings.MEDIA_ROOT = tmp_path / "media"
    settings.MEDIA_ROOT.mkdir()
    (settings.MEDIA_ROOT / "evil.js").write_text("addEventListener('fetch', () => {});")
    with three_hosts(request.param, live_server, settings, tmp_path) as hosts:
        yield hosts


@pytest.fixture
def context(chromium: Browser):
    """A browser that ignores the Content-Security-Policy, so that only the separate hosts protect."""
    context = chromium.new_context(bypass_csp=True, ignore_https_errors=True)
    context.set_default_timeout(15_000)
    yield context
    context.close()


def sign_in_owner(context: BrowserContext, hosts: Hosts, owner: AbstractBaseUser) -> None:
    """Sign in on the server side, without the sign-in steps."""
    name = cookie_names(ADMIN)[deployment.SESSION_COOKIE_NAME]
    cookie = {"name": name, "value": session_of(owner), "url": hosts.admin, "httpOnly": True, "sameSite": "Lax"}
    context.add_cookies([cookie | ({"secure": True} if hosts.admin.startswith("https") else {})])


def sign_in_shopper(page: Page, hosts: Hosts) -> None:
    page.goto(f"{hosts.secure}/account/sign-in")
    page.get_by_label("Email address").fill("ada@example.com")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("main").get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/account")


def all_loot(page: Page) -> dict[str, str]:
    """What the script got after all attempts. Meanwhile, a person types into a window that it opened."""
    page.wait_for_function("!!window.openForm", timeout=240_000)
    wait_until(lambda: type_password(page), what="a window with the form", seconds=60)
    page.wait_for_function("window.watched.length == window.openedForms", timeout=60_000)
    return page.evaluate("({...window.loot, 'typed into a window': window.watched.join()})")


def type_password(page: Page) -> bool:
    """Type into a new window with the form. If a page is isolated from its opener, the driver may miss the window."""
    try:
        with page.context.expect_page(timeout=5000) as opened:
            page.evaluate("window.openForm()")
        opened.value.locator("input[type=password]").first.fill(TYPED, timeout=5000)
    except TimeoutError:
        return False
    return True


@pytest.fixture
def mug(hosts, context):
    """A mug in the basket of Ada, who is signed in to her account; Anna is signed in to the admin."""
    owner, ada = make_staff(hosts.shop), make_customer(hosts.shop, name="Ada Lovelace")
    add_address(ada)
    mug = make_product(hosts.shop, "Mug", price="9.50")
    sign_in_owner(context, hosts, owner)
    page = context.new_page()
    page.goto(f"{hosts.admin}/admin/")
    assert "anna" in page.content()
    sign_in_shopper(page, hosts)
    page.goto(f"{hosts.base}/products/mug")
    page.get_by_role("button", name="Add to basket").click()
    page.get_by_text("Mug is in your basket").or_(page.locator("#outcome .notice")).first.wait_for()
    return mug


def looted(hosts: Hosts, context: BrowserContext) -> dict[str, str]:
    """What an app's script gets in a window that a secure page has opened."""
    page = context.pages[0]
    with receiving(evil) as receiver:
        app = install(hosts.shop, app=make_app(install_url=f"{receiver.url}/install"))
        kind = "all" if hosts.base.startswith("https") else "csrf"
        where = f"admin={hosts.admin}&secure={hosts.secure}&base={hosts.base}"
        src = f"{receiver.url}/evil.js?on=/products/mug&{where}&toss={kind}"
        given = {"shop": hosts.shop, "installation_id": app.installation.pk, "now": clock.now()}
        register_script_tag(**given, src=src, location="head")
        page.goto(f"{hosts.secure}/account")
        with context.expect_page() as opened:
            page.evaluate("url => { window.open(url) }", f"{hosts.base}/products/mug")
        return all_loot(opened.value)


def test_a_script_on_the_shops_pages_gets_nothing(hosts, context, mug):
    sessions = set(Session.objects.values_list("session_key", flat=True))
    loot = looted(hosts, context)
    assert "Mug" in loot["own page"], "it runs, and its ways of trying work"
    assert "Mug" in loot["own window"]
    stolen = {name: got for name, got in loot.items() if not name.startswith("own ")}
    names = ("admin", "secure")
    csrf = {cookie["value"] for cookie in context.cookies() if any(name in cookie["name"] for name in names)}
    for secret in {
        *("Ada", "Lovelace", "ada@example.com", "Hafenstra", "anna@example.com", PASSWORD, TYPED),
        *("API token", "code_", "Current password", "apitoken_form"),
        *(sessions | csrf) - {TOSSED},
    }:
        assert not [name for name, got in stolen.items() if secret in got], secret
    assert not [got for name, got in loot.items() if name.startswith("service worker") and "refused" not in got]
    assert {got for name, got in loot.items() if name.startswith(("picture", "script"))} <= {"failed", LATE}

    assert not ApiToken.objects.filter(installation_id=None).exists()
    assert [member.user.username for member in StaffMember.objects.all()] == ["anna"]
    assert Customer.objects.get().name == "Ada Lovelace"
    assert not Order.objects.exists()
    assert [(line.product, line.qty) for line in CartLine.objects.all()] == [(mug, 1)]
    still_who_they_were(hosts, context)


def still_who_they_were(hosts: Hosts, context: BrowserContext) -> None:
    page = context.new_page()
    page.goto(f"{hosts.admin}/admin/")
    assert "anna" in page.content()
    page.goto(f"{hosts.secure}/account")
    assert "Ada Lovelace" in page.content()
    if hosts.base.startswith("https"):
        ours = [cookie["name"] for cookie in context.cookies() if cookie["value"] != TOSSED]
        assert ours
        assert all(name.startswith("__Host-storefront") for name in ours)
        for url in (hosts.admin, hosts.secure):
            tossed = [cookie["name"] for cookie in context.cookies(f"{url}/") if cookie["value"] == TOSSED]
            assert not [name for name in tossed if name.startswith("__Host-")]


def test_codes_that_a_script_provokes_are_the_browsers_own(hosts, chromium):
    """A script that opens `/hand-over` with a state of its own gets a code for no customer."""
    make_customer(hosts.shop, name="Ada Lovelace")
    context = chromium.new_context(ignore_https_errors=True)
    page = context.new_page()
    sign_in_shopper(page, hosts)
    page.goto(f"{hosts.secure}/hand-over?state=of-the-attacker")
    assert page.url == f"{hosts.base}/"
    assert HandoverCode.objects.count() == 1
    context.close()
