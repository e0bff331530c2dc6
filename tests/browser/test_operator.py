"""The operator finds a shop among many, looks at what fails, limits, closes and reopens it, and creates one."""

from urllib.parse import urlsplit

import pytest
from django.conf import settings
from playwright.sync_api import expect

from storefront.deployment import load
from storefront.deployment.counting import count_due_shops
from storefront.kit import clock
from storefront.server.origins import cookie_names
from storefront.shops.models import Shop, User
from storefront.shops.places import SINGLE
from storefront.webhooks.models import Attempt, Delivery, Registration
from tests.browser.conftest import NARROW, WIDE
from tests.browser.steps import click_deed
from tests.browser.test_accessibility import check
from tests.catalogue.factories import make_product
from tests.factories.apps import install
from tests.orders.factories import make_order
from tests.shops.factories import NOW, make_shop
from tests.staff import make_staff, session_of
from tests.webhooks.factories import register

pytestmark = pytest.mark.browser


def make_shops(street: Shop) -> Shop:
    """Thirty shops, one of which has trouble."""
    for number in range(30):
        make_shop(f"branch{number}.example.com", name=f"Branch {number}")
    troubled = make_shop("mugs.example.com", name="Mugs of the harbour")
    make_staff(troubled, "ada")
    for name in ("Mug", "Cup"):
        make_product(troubled, name)
    now = clock.now()
    make_order(troubled, now=now)
    load.count(troubled.domain, 81.4, requests=12_345)
    load.flush(now)
    hook = register(install(troubled), "https://hooks.example.com/orders")
    Registration.objects.filter(pk=hook.pk).update(is_active=False, paused_at=now, pause_reason="failing")
    Delivery.objects.update(status="dead", ended_at=now, topic="order.placed", address=hook.address)
    tried = {"number": 1, "started_at": now, "duration_ms": 10, "status": 503}
    Attempt.objects.create(shop=troubled, delivery=Delivery.objects.get(), **tried)
    count_due_shops(now=now, limit=100)
    Shop.objects.filter(domain="branch7.example.com").update(is_active=False)
    return troubled


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_the_operator_runs_the_shops(street, visit, width):
    make_shops(street)
    operator = visit(width)
    key = session_of(User.objects.create_superuser("operator", "operator@example.com", "lighthouse-1"))
    host, name = urlsplit(operator.address).hostname, cookie_names(SINGLE)[settings.SESSION_COOKIE_NAME]
    operator.context.add_cookies([{"name": name, "value": key, "domain": host, "path": "/"}])
    page = operator.open("/admin/deployment/deployedshop/")
    expect(page.locator("#result_list").get_by_text("Branch 17", exact=False)).to_be_visible()
    check(operator)
    operator.photograph("operator-shops")
    operator.open("/admin/deployment/deployedshop/?q=harbour")
    expect(page.get_by_text("12,345")).to_be_visible()
    operator.photograph("operator-found")
    page.get_by_role("link", name="Mugs of the harbour").first.click()
    expect(page.get_by_text("hooks.example.com").first).to_be_visible()
    check(operator)
    operator.photograph("operator-shop")

    page.get_by_label("Products", exact=True).fill("500")
    page.get_by_role("button", name="Save").click()
    operator.open("/admin/deployment/deployedshop/?q=harbour")
    page.get_by_role("link", name="Mugs of the harbour").first.click()
    expect(page.get_by_text("Products: 2 of 500")).to_be_visible()

    dialog = page.locator("#modal-content")
    for button, done, state in (
        ("Close the shop", "The shop is closed.", "Closed"),
        ("Open the shop again", "The shop is open.", "Open"),
    ):
        click_deed(page, button)
        expect(dialog.get_by_role("button", name=button.removesuffix(" again"))).to_be_visible()
        operator.photograph(f"operator-asks-{state.lower()}")
        dialog.get_by_role("button", name=button.removesuffix(" again")).click()
        expect(page.get_by_text(done)).to_be_visible()

    page = operator.open("/admin/deployment/deployedshop/add/")
    for label, value in (
        ("Name", "Corner shop"),
        ("Domain", "corner.example.com"),
        ("Base url", "https://corner.example.com"),
        ("Owner's email address", "bea@example.com"),
    ):
        page.get_by_label(label, exact=False).first.fill(value)
    check(operator)
    operator.photograph("operator-new-shop")
    page.get_by_role("button", name="Save").click()
    expect(
        page.get_by_text("bea@example.com is invited", exact=False).or_(page.get_by_text("Invitation sent"))
    ).to_be_visible()
    assert Shop.objects.filter(domain="corner.example.com").exists()


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_a_closed_shop_says_so_to_shoppers_and_to_its_staff(street, sit, width):
    make_product(street, "Mug", created_at=NOW)
    Shop.objects.filter(pk=street.pk).update(is_active=False)
    merchant = sit(width)
    merchant.expects.add(410)
    merchant.open("/admin/")
    expect(merchant.page.get_by_role("status").filter(has_text="has closed this shop")).to_be_visible()
    check(merchant)
    merchant.photograph("closed-shop-admin")
    merchant.open("/")
    expect(merchant.page.get_by_role("heading", name="This shop is closed")).to_be_visible()
    check(merchant)
    merchant.photograph("closed-shop-page")
    # The way to another shop, for staff of many.
    merchant.open("/admin/choose-shop/?q=e")
    expect(merchant.page.get_by_role("button", name="Work in")).to_be_visible()
    check(merchant)
    merchant.photograph("choose-shop")
