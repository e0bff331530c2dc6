"""A shop from nothing to its first order, as whoever installs it goes: commands, the printed link, then the browser.

The program runs as in a deployment, with its worker, in an empty data directory and with the settings it has by itself.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser import steps
from tests.browser.conftest import NARROW
from tests.catalogue.test_admin_pictures import drawn
from tests.server.programs import free_port, is_listening, running, storefront, wait_until
from tests.staff.authenticators import code_of

# Every command starts a program, and the first one makes the whole database.
pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]

OWNER, SECRET = "owner@example.com", "lighthouse and keeper"


@dataclass
class NewShop:
    """A closed shop that was just made, served at `base`; `invitation` is its owner's printed link."""

    base: str
    admin: str
    secure: str
    password: str
    invitation: str


@pytest.fixture(params=["one host", "three hosts"])
def new_shop(request, tmp_path) -> Iterator[NewShop]:
    port = free_port()
    base = f"http://localhost:{port}"
    admin, secure, environment = base, base, {"STOREFRONT_DATA_DIR": str(tmp_path / "data")}
    if request.param == "three hosts":
        # Once is enough to see the directory's first migration.
        environment = request.getfixturevalue("deployment")
        admin, secure = f"http://admin.localhost:{port}", f"http://secure.localhost:{port}/localhost"
        environment |= {
            "STOREFRONT_ADMIN_HOST": f"admin.localhost:{port}",
            "STOREFRONT_SECURE_HOST": f"secure.localhost:{port}",
        }

    def command(*arguments: str) -> str:
        done = storefront(*arguments, **environment)
        assert done.returncode == 0, done.stderr
        return done.stdout

    if request.param == "one host":
        command("migrate")
    made = command("createshop", "--domain", "localhost", "--name", "Corner shop", "--base-url", base, "--closed")
    link = command("invitestaff", "--shop", "localhost", "--email", OWNER, "--role", "owner").strip()
    log: Path = tmp_path / "serve.log"
    with running("serve", "--port", str(port), log=log, **environment) as process:
        wait_until(lambda: is_listening(port), what=f"the shop: {log}", process=process)
        yield NewShop(base, admin, secure, json.loads(made)["password"], link)


@pytest.mark.walk
def test_from_an_empty_directory_to_an_order_that_is_sent(new_shop, browse):
    merchant = browse(new_shop.base)
    owner = merchant.page
    accept_invitation(owner, new_shop)
    set_up(owner, new_shop)
    add_mug(owner, new_shop)
    merchant.photograph("new-shop-product")
    shopper = browse(new_shop.base, NARROW)
    shopper.expects = {403}
    number = buy_mug(shopper, new_shop)
    send_order(owner, new_shop, number)
    merchant.photograph("new-shop-order")
    shopper.page.reload()
    expect(shopper.page.get_by_role("main")).to_contain_text("Paid")
    shopper.photograph("new-shop-sent")
    open_doors(owner, new_shop)
    stranger = browse(new_shop.base).open("/")
    expect(stranger.get_by_role("main")).to_contain_text("Harbour mug")


def accept_invitation(page: Page, shop: NewShop) -> None:
    """Follow the link, choose a password, and set up the second factor that an owner needs."""
    page.goto(shop.invitation)
    assert page.url == f"{shop.admin}/admin/invitation/accept/"
    page.get_by_label("Your name").fill("Olga Owner")
    page.get_by_label("New password", exact=False).first.fill(SECRET)
    page.get_by_label("New password, again").fill(SECRET)
    page.get_by_role("button", name="Create account and accept").click()
    page.get_by_label("Email address").fill(OWNER)
    page.get_by_label("Password").fill(SECRET)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("textbox", name="Code").fill(code_of(page.locator("#key").inner_text()))
    page.get_by_role("button", name="Add the app").click()
    page.get_by_role("link", name="I have copied them").click()
    expect(page.get_by_text("First steps (0 of 10)")).to_be_visible()
    expect(page.get_by_role("link", name="Open anyway")).to_be_visible()
    expect(page.get_by_text("Before the doors open, the shop needs: Imprint, Terms and conditions")).to_be_visible()


def step(page: Page, shop: NewShop, name: str) -> None:
    """Take one of the start page's first steps."""
    page.goto(f"{shop.admin}/admin/")
    with page.expect_navigation():
        page.get_by_role("link", name=name, exact=True).first.click()


def save(page: Page) -> None:
    with page.expect_navigation():
        page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("” saved.")).to_be_visible()


def set_up(page: Page, shop: NewShop) -> None:
    """Everything of the first steps but products, an order and the doors."""
    step(page, shop, "Name and address")
    page.get_by_label("Email", exact=True).fill("shop@example.com")
    page.get_by_label("Manual payment instructions").fill("Please transfer the sum to DE02 1203 0000 0000 2020 51.")
    save(page)
    step(page, shop, "Name and address")
    page.get_by_label("Address", exact=True).fill("Corner shop\nKai 1\n24103 Kiel")
    save(page)
    step(page, shop, "Logo and colours")
    page.locator("input[type=file]").first.set_input_files(
        {"name": "logo.png", "mimeType": "image/png", "buffer": drawn(60, 20)}
    )
    save(page)
    step(page, shop, "Delivery")
    page.locator("#id_name").fill("Parcel")
    page.locator("#id_price").fill("4.90")
    save(page)
    step(page, shop, "Tax")
    page.get_by_role("button", name="Load rates").click()
    expect(page.get_by_text("added")).to_be_visible()
    for title in ("Imprint", "Terms and conditions", "Privacy policy"):
        step(page, shop, "Imprint, terms and privacy")
        expect(page.get_by_label("Title")).to_have_value(title)
        expect(page.locator("trix-editor").first).to_be_focused()
        page.keyboard.press("ControlOrMeta+A")
        page.keyboard.type("Our own words.")
        page.locator("#id_is_published").check()
        save(page)


def add_mug(page: Page, shop: NewShop) -> None:
    step(page, shop, "Products")
    page.get_by_label("Name", exact=False).first.fill("Harbour mug")
    page.locator("[data-choose]").set_input_files(
        {"name": "mug.png", "mimeType": "image/png", "buffer": drawn(300, 200)}
    )
    expect(page.locator("[data-picture] img")).to_have_count(1)
    page.locator("#id_price").fill("9.50")
    page.locator("#id_stock_qty").fill("3")
    page.locator("#id_status").select_option("active")
    save(page)


def buy_mug(shopper, shop: NewShop) -> str:
    """Enter the closed shop with its password, and order. Returns the order's number."""
    page = shopper.open("/")
    if shop.secure != shop.base:
        # Apps' scripts run on the shop's own host, so nothing is typed there.
        page.get_by_role("link", name="Enter the password").click()
    page.get_by_label("Password").fill(shop.password)
    page.get_by_role("button", name="Enter").click()
    with page.expect_navigation():
        page.get_by_role("link", name="Harbour mug").first.click()
    picture = page.locator(".gallery img").first
    expect(picture).to_be_visible()
    assert picture.evaluate("image => image.naturalWidth") > 0
    page.get_by_role("button", name="Add to basket").click()
    expect(page.locator("#basket-link")).to_contain_text("1")
    steps.click_through(page, "link", "View basket")
    steps.click_through(page, "link", "Go to checkout")
    assert page.url == f"{shop.secure}/checkout"
    steps.fill_details(page)
    steps.choose_delivery(page)
    shopper.photograph("new-shop-payment")
    page.get_by_role("button", name=re.compile("Place order")).click()
    steps.expect_order(page, "€14.40")
    expect(page.get_by_role("main")).to_contain_text("DE02 1203")
    shopper.photograph("new-shop-ordered")
    return re.search(r"Order (\d+)", page.get_by_role("main").inner_text())[1]


def send_order(page: Page, shop: NewShop, number: str) -> None:
    page.goto(f"{shop.admin}/admin/")
    page.get_by_role("link", name=f"#{number}").first.click()
    page.get_by_role("region", name="Payment").get_by_role("button", name="Mark as paid").click()
    expect(page.get_by_text("Marked as paid.")).to_be_visible()
    page.get_by_role("button", name="Mark as fulfilled").click()
    expect(page.get_by_text("Marked as fulfilled.")).to_be_visible()


def open_doors(page: Page, shop: NewShop) -> None:
    page.goto(f"{shop.admin}/admin/")
    page.get_by_role("link", name="Open the doors").last.click()
    page.get_by_role("button", name="Open the doors").click()
    expect(page.get_by_text("First steps")).to_be_hidden()
