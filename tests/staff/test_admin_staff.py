"""An owner decides who else works in the shop."""

import pytest
from django.db import IntegrityError, transaction

from storefront.shops.models import AllowedOrigin, Shop, StaffMember, User
from tests.staff import admin_url, make_staff, open_desk


def test_the_last_owner_cannot_be_removed(desk, shop):
    anna = StaffMember.objects.get()
    assert "at least one owner" in desk.fill(anna, follow=True, role="manager").content.decode()
    desk.post(admin_url(anna, "delete"), {"post": "yes"})
    anna.refresh_from_db()
    assert anna.role == "owner"


def test_one_of_two_owners_can_be_removed(desk, shop):
    make_staff(shop, "bo", "owner")
    anna = StaffMember.objects.get(user__username="anna")
    desk.post(admin_url(anna, "delete"), {"post": "yes"})
    assert [place.user.username for place in shop.staff.all()] == ["bo"]
    assert User.objects.filter(username="anna").exists()


def test_no_other_role_can_be_stored(shop):
    with pytest.raises(IntegrityError), transaction.atomic():
        make_staff(shop, role="admin")


def test_an_owner_changes_the_shops_settings(desk, shop):
    desk.fill(shop, name="Harbour", timezone="Europe/Helsinki", country="FI", payment_methods=["manual"])
    shop.refresh_from_db()
    assert (shop.name, shop.timezone, shop.country) == ("Harbour", "Europe/Helsinki", "FI")
    assert shop.payment_methods == ["manual"]


@pytest.mark.slow
def test_only_the_operator_can_change_the_domain(desk, shop):
    desk.fill(shop, domain="taken.example.com", base_url="https://taken.example.com", currency="USD")
    shop.refresh_from_db()
    assert (shop.domain, shop.currency) == ("shop.example.com", "EUR")
    operator = open_desk(User.objects.create_superuser("operator", email="op@example.com"), shop)
    operator.fill(shop, domain="new.example.com")
    assert Shop.objects.get().domain == "new.example.com"


@pytest.mark.parametrize("origin", ["https://www.example.com/path", "www.example.com", "ftp://x.example.com", "null"])
def test_refuses_an_origin_that_no_browser_sends(desk, origin):
    desk.fill(AllowedOrigin, origin=origin)
    assert not AllowedOrigin.objects.exists()


def test_an_origin_is_stored_as_browsers_send_it(desk):
    desk.fill(AllowedOrigin, origin="https://WWW.example.com/")
    assert AllowedOrigin.objects.get().origin == "https://www.example.com"
    again = desk.fill(AllowedOrigin, origin="https://www.example.com")
    assert "origin" in again.context_data["adminform"].form.errors
