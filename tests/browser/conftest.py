"""Chromium against a live server. On any page that a test opens, a console error (a violation of the page's
Content-Security-Policy is one), an uncaught error of a script, an answer of an error status, a request that fails or
goes to another host fails the test. `Visitor.expects` has the statuses that it causes on purpose."""

import os
import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from django.conf import settings as django_settings
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    Request,
    Response,
    expect,
    sync_playwright,
)

from storefront.server.origins import cookie_names
from storefront.shops.models import Shop
from storefront.shops.places import SINGLE
from tests.pricing.rows import make_rate
from tests.shops.factories import make_shop
from tests.staff import make_staff, session_of

# bin/test.py names a faster one for `make test`.
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chromium-headless-shell")
CHROMIUM = next(filter(None, map(shutil.which, (os.environ.get("TEST_BROWSER", ""), *BROWSERS))), None)
SWITCHES = "no-sandbox disable-gpu disable-quic no-first-run disable-background-networking disable-component-update"
# Host names of the tests. Browsers resolve names under localhost by themselves. No other host can be reached.
OWN_HOSTS = "MAP shop.test 127.0.0.1,MAP *.shop.test 127.0.0.1"
NO_OTHERS = "MAP * ~NOTFOUND,EXCLUDE localhost,EXCLUDE *.localhost,EXCLUDE 127.0.0.1"
RESOLVER = f"host-resolver-rules={OWN_HOSTS},{NO_OTHERS}"
ARGUMENTS = [f"--{switch}" for switch in [*SWITCHES.split(), "disable-sync", RESOLVER]]
WIDE, NARROW = 1280, 390
# Milliseconds. A machine that others use too stands still for seconds at times.
PATIENCE = 60_000


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("no Chromium was found, so nothing is tested in a browser (on Debian: apt-get install chromium)")
    # Playwright runs an event loop in this thread, where Django refuses database access by default.
    with pytest.MonkeyPatch.context() as patch, sync_playwright() as playwright:
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "1")
        expect.set_options(timeout=PATIENCE)
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def street(live_server, transactional_db) -> Shop:
    """A shop at the live server's URL."""
    shop = make_shop("localhost", base_url=live_server.url)
    make_rate(shop, countries=["DE"])
    return shop


@pytest.fixture
def own_hosts(live_server, settings) -> None:
    """The admin and the shops' secure pages on separate hosts, as with `make run`."""
    port = urlsplit(live_server.url).port
    settings.ADMIN_HOST, settings.SECURE_HOST = f"admin.localhost:{port}", f"secure.localhost:{port}"


class Visitor:
    """A visitor with a browser. `expects` contains the error statuses that the test causes on purpose."""

    def __init__(self, context: BrowserContext, address: str, pictures: Path | None) -> None:
        self.context, self.address, self.pictures = context, address, pictures
        self.complaints: list[str] = []
        self.expects: set[int] = set()
        # Listening, since a route would turn the browser's cache off. Of the context, so that it includes popups.
        context.on("request", self._note_other_hosts)
        context.on("response", self._note_error_status)
        context.on("requestfailed", self._note_failure)
        context.on("console", self._listen)
        context.on("weberror", lambda error: self.complaints.append(f"{error.error}"))
        self.page: Page = context.new_page()
        self.page.set_default_timeout(PATIENCE)

    def open(self, path: str) -> Page:
        self.page.goto(path if path.startswith("http") else self.address + path)
        return self.page

    def photograph(self, name: str) -> None:
        """Expect the page to be no wider than the window. Take a screenshot of it where a folder is named for them."""
        self.page.wait_for_load_state("networkidle")
        wider = self.page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
        assert wider <= 0, f"{name} is {wider} pixels too wide"
        if self.pictures:
            width = self.page.evaluate("window.innerWidth")
            self.page.screenshot(path=self.pictures / f"{name}-{width}.png", full_page=True)

    def _listen(self, message: ConsoleMessage) -> None:
        expected = any(f"status of {status} " in message.text for status in self.expects)
        if message.type in ("error", "warning") and not expected:
            self.complaints.append(f"{message.text} ({message.location.get('url')})")

    def _note_error_status(self, response: Response) -> None:
        if response.status >= 400 and response.status not in self.expects:
            self.complaints.append(f"{response.status} of {response.url}")

    def _note_failure(self, request: Request) -> None:
        # A page that is left cuts off what it still asks for, and a download is no page.
        if request.failure != "net::ERR_ABORTED":
            self.complaints.append(f"{request.failure} of {request.url}")

    def _note_other_hosts(self, request: Request) -> None:
        host = urlsplit(request.url).hostname or ""
        if host and host != "127.0.0.1" and host.split(".")[-1] not in ("localhost", "test"):
            self.complaints.append(f"asked for {request.url}")


@pytest.fixture
def browse(chromium):
    """`browse(url, width=390)` opens a browser as a Visitor of that URL. At the end, there must be no complaints."""
    given = os.environ.get("STOREFRONT_SCREENSHOTS")
    pictures = Path(given) if given else None
    visitors: list[Visitor] = []

    def open_browser(url: str, width: int = WIDE, **given) -> Visitor:
        given = {"viewport": {"width": width, "height": 900}, "reduced_motion": "reduce"} | given
        visitors.append(Visitor(chromium.new_context(**given), url, pictures))
        return visitors[-1]

    yield open_browser
    complaints = [complaint for visitor in visitors for complaint in visitor.complaints]
    for visitor in visitors:
        visitor.context.close()
    assert not complaints


@pytest.fixture
def visit(browse, live_server):
    """`visit(width=390)` opens a browser at the live server."""
    return partial(browse, live_server.url)


@pytest.fixture
def sit(street, visit):
    """`sit(width)` opens a browser that is signed in to the admin as the shop's owner."""
    user = make_staff(street)

    def open_browser(width: int = WIDE):
        visitor = visit(width)
        name = cookie_names(SINGLE)[django_settings.SESSION_COOKIE_NAME]
        cookie = {"name": name, "value": session_of(user), "domain": urlsplit(visitor.address).hostname, "path": "/"}
        visitor.context.add_cookies([cookie])
        return visitor

    return open_browser
