"""A merchant changes the words of a mail and sees it at once, at every width; the next mail has them."""

import pytest
from playwright.sync_api import expect

from storefront.content.models import MailText
from storefront.orders.jobs import confirmation_mail
from tests.browser.conftest import NARROW, WIDE
from tests.browser.test_accessibility import check
from tests.browser.test_staff_sign_in import enter_password
from tests.catalogue.factories import make_product
from tests.content.every_mail import make_order
from tests.staff import admin_url, make_staff

pytestmark = pytest.mark.browser


@pytest.mark.parametrize(("width", "scheme"), [(WIDE, "light"), (NARROW, "dark")])
def test_sees_a_mail_before_its_words_are_saved(street, visit, width, scheme):
    make_product(street, "Mug")
    make_staff(street)
    merchant = visit(width, color_scheme=scheme)
    page = enter_password(merchant)
    merchant.open(admin_url(MailText, "changelist"))
    merchant.photograph("mails")
    check(merchant)
    page.get_by_role("link", name="Order confirmation").click()
    shown = page.frame_locator("[data-frame]:not(.mail-preview__next)")
    mail = shown.frame_locator("iframe")
    expect(mail.get_by_text("Thank you for your order at Lighthouse.")).to_be_visible()
    expect(mail.get_by_text("2 x Mug")).to_be_visible()
    merchant.photograph("mail")
    steps = page.evaluate("history.length")
    page.get_by_label("Subject").fill("Moin from {shop_name}")
    page.get_by_label("Opening text").fill("Hello {first_name},\n\nwe pack {order_nmber}.")
    expect(shown.get_by_text("This email has no placeholder {order_nmber}.")).to_be_visible()
    page.get_by_label("Opening text").fill("Hello {first_name},\n\nwe pack {order_number}.")
    expect(mail.get_by_text("we pack 1001.")).to_be_visible()
    expect(shown.get_by_text("Moin from Lighthouse")).to_be_visible()
    for form in ("Phone", "Text"):
        page.get_by_role("button", name=form, exact=True).click()
        expect(page.get_by_role("button", name=form, exact=True)).to_have_attribute("aria-pressed", "true")
        expect(page.locator("[data-place] iframe")).to_have_count(1)
        merchant.photograph(f"mail-{form.lower()}")
    expect(shown.locator("pre")).to_contain_text("Hello Ada,\n\nwe pack 1001.")
    check(merchant)
    # Going back leaves the page, however often the preview was drawn.
    assert page.evaluate("history.length") == steps
    assert not MailText.objects.filter(opening__isnull=False).exists()
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("” saved.")).to_be_visible()
    expect(page.get_by_role("row", name="Order confirmation").get_by_text("Changed")).to_be_visible()
    message = confirmation_mail(make_order(street))
    assert message.subject == "Moin from Lighthouse"
    assert message.body.startswith("Hello,\n\nwe pack 1001.\n")
