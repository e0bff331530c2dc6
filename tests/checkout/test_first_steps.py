"""The first steps on the start page of a new shop: done or not by the shop's own data, hidden on request."""

from decimal import Decimal

import pytest

from storefront.checkout.first_steps import first_steps, missing
from storefront.content.models import Looks, Page
from storefront.content.sections import new_section
from storefront.documents.models import InvoiceSettings
from storefront.kit import clock
from storefront.payments.models import ProviderAccount
from storefront.pricing.models import ShippingRate, TaxRate
from storefront.shops.models import Shop
from storefront.staff.doors import close_doors, open_doors
from tests.catalogue.factories import make_product
from tests.orders.factories import make_order, sale_line
from tests.pricing.rows import make_rate
from tests.shops.factories import NOW
from tests.staff import admin_url, make_staff, open_desk


def done(shop) -> list[str]:
    return [step.text for step in first_steps(shop) if step.is_done]


def test_each_step_is_done_by_what_the_shop_has(shop, other_shop):
    close_doors(shop=shop, now=NOW)
    shop.email, shop.payment_methods = None, ["manual"]
    shop.save()
    make_product(other_shop)
    TaxRate.objects.create(shop=other_shop, name="VAT", country="DE", percent=19)
    assert done(shop) == []
    assert len(first_steps(shop)) == 10
    shop.email, shop.manual_payment_instructions = "hello@example.com", "Please transfer it."
    shop.save()
    InvoiceSettings.objects.create(shop=shop, address="Kai 1\nKiel")
    Looks.objects.create(shop=shop, logo="looks/logo.png", updated_at=NOW)
    mug = make_product(shop, "Mug", price=Decimal("9.50"))
    make_rate(shop)
    TaxRate.objects.create(shop=shop, name="VAT", country="DE", percent=19)
    given = {"shop": shop, "is_published": True, "created_at": NOW, "updated_at": NOW}
    for kind in ("imprint", "terms", "privacy"):
        Page.objects.create(kind=kind, title=kind, slug=kind, **given)
    make_order(shop, sale_line(mug))
    assert [step.text for step in first_steps(shop) if not step.is_done] == ["Open the doors"]
    open_doors(shop=shop, now=NOW)
    assert first_steps(shop) == []


def test_demo_pictures_are_a_step_until_they_are_replaced(shop):
    def look() -> tuple[str, bool]:
        return next(
            (step.text, step.is_done) for step in first_steps(shop) if "look" in step.url and "ogo" not in step.text
        )

    assert look() == ("Choose a look", False)
    demo = new_section("hero", "s1", title="Hello", demo="linen-opening")
    looks = Looks.objects.create(shop=shop, home=[demo], logo="looks/logo.png", updated_at=NOW)
    assert look() == ("Your own pictures in place of the demo pictures", False)
    Looks.objects.filter(pk=looks.pk).update(home=[demo | {"hidden": True}])
    assert look() == ("Choose a look", True)


def test_a_demo_card_or_unfinished_settings_are_no_payment(shop):
    shop.is_demo, shop.payment_methods = True, ["demo", "manual", "stripe"]
    shop.save()
    account = ProviderAccount.objects.create(shop=shop, provider="stripe", values={"publishable_key": "pk_test_1"})
    assert "Payment" not in done(shop)
    account.sealed = b"sealed"
    account.save()
    assert "Payment" in done(shop)
    account.delete()
    shop.manual_payment_instructions = "Please transfer it."
    shop.save()
    assert "Payment" in done(shop)


def test_the_doors_are_quiet_until_the_shop_is_ready_and_open_on_purpose(desk, shop, other_shop):
    close_doors(shop=shop, now=NOW)
    shop.payment_methods = ["manual"]
    shop.save()
    imprint = Page.objects.create(shop=shop, kind="imprint", title="Us", slug="us", created_at=NOW, updated_at=NOW)
    lacking = ["Imprint", "Terms and conditions", "Tax", "Delivery", "Payment"]
    assert [step.text for step in missing(shop)] == lacking
    question = desk.get(admin_url(shop, "change").replace("change/", "open_doors/")).content.decode()
    for page in (desk.get("/admin/").content.decode(), question):
        assert "Open anyway" in page
        for url in (admin_url(imprint, "change") + "#id_body", admin_url(ShippingRate, "add")):
            assert url in page
    desk.post(admin_url(shop, "change").replace("change/", "open_doors/"))
    shop.refresh_from_db()
    assert not shop.door_password
    given = {"shop": shop, "is_published": True, "created_at": NOW, "updated_at": NOW}
    Page.objects.filter(pk=imprint.pk).update(is_published=True)
    Page.objects.create(kind="terms", title="Terms", slug="terms", **given)
    TaxRate.objects.create(shop=shop, name="VAT", country="DE", percent=19)
    make_rate(shop)
    assert [step.text for step in missing(shop)] == ["Payment"]
    Shop.objects.filter(pk=shop.pk).update(manual_payment_instructions="Please transfer it.")
    close_doors(shop=Shop.objects.get(pk=shop.pk), now=NOW)
    page = desk.get("/admin/").content.decode()
    assert ("Open anyway" in page, "desk-button--main" in page) == (False, True)
    assert len(missing(other_shop)) == 5


@pytest.mark.slow
def test_the_start_page_offers_the_import_and_hides_the_steps(desk, shop):
    page = desk.get("/admin/").content.decode()
    assert "First steps (" in page
    assert "Import them from a file" in page
    for step in first_steps(shop):
        assert step.url in page
        assert step.url in ("", shop.base_url) or desk.get(step.url, follow=True).status_code == 200, step
    make_product(shop)
    assert "Import them from a file" not in desk.get("/admin/").content.decode()
    assert "First steps" not in open_desk(make_staff(shop, "mia", "manager")).get("/admin/").content.decode()
    desk.post(admin_url(shop, "change").replace("change/", "hide_steps/"), {"_form_submitted": "on"})
    assert "First steps" not in desk.get("/admin/").content.decode()
    shop.refresh_from_db()
    assert shop.steps_hidden_at <= clock.now()
