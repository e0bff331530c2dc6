"""A real Chromium before a real server. Whatever it complains about, and any request to elsewhere, fails the test."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Route, sync_playwright

from storefront.pricing.models import ShippingRate
from storefront.shops.models import Shop
from tests.shops.factories import make_shop

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
SWITCHES = "no-sandbox disable-gpu disable-quic no-first-run disable-background-networking disable-component-update"
ARGUMENTS = [f"--{switch}" for switch in [*SWITCHES.split(), "disable-sync"]]
WIDE, NARROW = 1280, 390


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("no Chromium was found, so nothing is tested in a browser (on Debian: apt-get install chromium)")
    # Playwright keeps an event loop in this thread, beside which Django would refuse to touch the database.
    with pytest.MonkeyPatch.context() as patch, sync_playwright() as playwright:
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "1")
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def street(live_server, transactional_db) -> Shop:
    """A shop that the browser reaches under the live server's address."""
    shop = make_shop("localhost", base_url=live_server.url)
    ShippingRate.objects.create(shop=shop, name="Parcel", countries=["DE"], price="4.90")
    return shop


class Visitor:
    """Somebody with a browser. `expects` names the error statuses that the visit is about."""

    def __init__(self, context: BrowserContext, address: str, pictures) -> None:
        self.context, self.address, self.pictures = context, address, pictures
        self.complaints: list[str] = []
        self.expects: set[int] = set()
        context.route("**/*", self._stay_here)
        self.page: Page = context.new_page()
        self.page.set_default_timeout(15_000)
        self.page.on("console", self._listen)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))

    def open(self, path: str) -> Page:
        self.page.goto(path if path.startswith("http") else self.address + path)
        return self.page

    def photograph(self, name: str) -> None:
        """A screenshot of the whole page, which must not be wider than the window."""
        self.page.wait_for_load_state("networkidle")
        wider = self.page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
        assert wider <= 0, f"{name} is {wider} pixels too wide"
        width = self.page.evaluate("window.innerWidth")
        self.page.screenshot(path=self.pictures / f"{name}-{width}.png", full_page=True)

    def _listen(self, message: ConsoleMessage) -> None:
        expected = any(f"status of {status} " in message.text for status in self.expects)
        if message.type in ("error", "warning") and not expected:
            self.complaints.append(f"{message.text} ({message.location.get('url')})")

    def _stay_here(self, route: Route) -> None:
        if urlsplit(route.request.url).hostname in ("localhost", "127.0.0.1"):
            route.continue_()
        else:
            self.complaints.append(f"asked for {route.request.url}")
            route.abort()


@pytest.fixture
def visit(chromium, live_server, tmp_path_factory):
    """`visit(width=390)` is a Visitor; at the end nobody may have complained."""
    given = os.environ.get("STOREFRONT_SCREENSHOTS")
    pictures = Path(given) if given else tmp_path_factory.mktemp("screenshots")
    visitors: list[Visitor] = []

    def come(width: int = WIDE, **given) -> Visitor:
        given = {"viewport": {"width": width, "height": 900}, "reduced_motion": "reduce"} | given
        visitors.append(Visitor(chromium.new_context(**given), live_server.url, pictures))
        return visitors[-1]

    yield come
    complaints = [complaint for visitor in visitors for complaint in visitor.complaints]
    for visitor in visitors:
        visitor.context.close()
    assert not complaints
