"""Staff sign in with a second factor, and the admin respects its Content-Security-Policy: any console error fails the
test."""

from datetime import timedelta

import pytest
from playwright.sync_api import expect

from storefront.kit import clock
from storefront.payments import actions as payments
from storefront.staff.second_factor import factors_of
from tests.catalogue.factories import make_product
from tests.orders.factories import make_order, sale_line
from tests.staff import admin_url, make_staff
from tests.staff.authenticators import code_of

pytestmark = pytest.mark.browser


def enter_password(visitor, path="/admin/"):
    page = visitor.open(path)
    page.get_by_label("Email address").fill("anna")
    page.get_by_label("Password").fill("lighthouse-1")
    with page.expect_navigation():
        page.get_by_role("button", name="Sign in").click()
    return page


def sign_out(page) -> None:
    page.context.clear_cookies()


@pytest.mark.walk
def test_an_owner_sets_up_an_app_and_signs_in_with_it(street, visit, settings):
    settings.STAFF_SECOND_FACTOR = "owners"
    anna = make_staff(street)
    merchant = visit()
    page = enter_password(merchant)
    expect(page.get_by_role("heading", name="Set up a second factor")).to_be_visible()
    expect(page.locator(".qr svg")).to_be_visible()
    merchant.photograph("second-factor-set-up")
    page.get_by_role("textbox", name="Code").fill(code_of(page.locator("#key").inner_text(), -1))
    page.get_by_role("button", name="Add the app").click()
    expect(page.locator("#codes li")).to_have_count(10)
    merchant.photograph("recovery-codes")
    codes = page.locator("#codes li").all_inner_texts()
    page.get_by_role("link", name="I have copied them").click()
    expect(page.get_by_role("heading", name="To do")).to_be_visible()
    merchant.open("/admin/security/")
    expect(page.get_by_text("Authenticator app").first).to_be_visible()
    merchant.photograph("security")

    sign_out(page)
    enter_password(merchant)
    expect(page.get_by_role("heading", name="Second factor")).to_be_visible()
    merchant.photograph("second-step")
    page.get_by_role("textbox", name="Code").fill(codes[0])
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_role("heading", name="To do")).to_be_visible()
    assert factors_of(anna).codes_left == 9


def test_a_passkey_of_the_browser_opens_the_admin(street, visit):
    anna = make_staff(street)
    merchant = visit()
    enter_password(merchant)
    devtools = merchant.context.new_cdp_session(merchant.page)
    devtools.send("WebAuthn.enable")
    options = {"protocol": "ctap2", "transport": "internal", "hasUserVerification": True, "isUserVerified": True}
    devtools.send("WebAuthn.addVirtualAuthenticator", {"options": options | {"automaticPresenceSimulation": True}})
    page = merchant.open("/admin/security/add/")
    page.get_by_role("button", name="Add a passkey").click()
    expect(page.locator("#codes li")).to_have_count(10)
    assert len(factors_of(anna).passkeys) == 1

    sign_out(page)
    enter_password(merchant)
    page.get_by_role("button", name="Use a passkey").click()
    expect(page.get_by_role("heading", name="To do")).to_be_visible()


def test_a_dialog_that_needs_a_confirmation_leads_there_and_back(street, visit):
    anna = make_staff(street)
    order = make_order(street, sale_line(make_product(street, "Mug"), 1), now=clock.now())
    payments.mark_paid(shop=street, order=order, now=clock.now())
    merchant = visit()
    page = enter_password(merchant)
    anna.staff_sessions.update(confirmed_at=clock.now() - timedelta(hours=1))
    merchant.open(admin_url(order, "change"))
    page.get_by_role("button", name="Refund").click()
    expect(page.get_by_role("heading", name="Confirm that it is you")).to_be_visible()
    merchant.photograph("confirm")
    page.get_by_label("Password").fill("lighthouse-1")
    page.get_by_role("button", name="Confirm").click()
    expect(page.get_by_label("Amount")).to_be_visible()
    # Going back from the question, and cancelling it, ask for nothing again.
    page.reload()
    anna.staff_sessions.update(confirmed_at=clock.now() - timedelta(hours=1))
    page.get_by_role("button", name="Refund").click()
    page.get_by_role("link", name="Cancel").click()
    merchant.open(admin_url(order, "change"))
    expect(page.get_by_role("button", name="Refund")).to_be_visible()
    expect(page.get_by_label("Amount")).to_have_count(0)


def test_injected_text_does_not_run(street, visit):
    make_staff(street)
    # As if a template did not escape it.
    attack = "<script>document.title='ran'</script><img src=x onerror=\"document.title='ran'\">"
    merchant = visit()
    page = enter_password(merchant)
    body = page.content().replace("</body>", f"{attack}</body>")
    answer = page.context.request.get(page.url)
    page.route("**/admin/", lambda route: route.fulfill(status=200, headers=answer.headers, body=body))
    page.goto(page.url)
    page.wait_for_load_state("networkidle")
    assert page.title() != "ran"
    refused = [each for each in merchant.complaints if "Content Security Policy" in each]
    assert len(refused) >= 2
    merchant.complaints.clear()
