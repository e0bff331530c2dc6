"""Who gets into the admin, and which shop they work on there."""

import pytest
from django.test import Client
from django.urls import reverse

from storefront.shops.models import Shop, User
from tests.shops.factories import make_shop
from tests.staff import make_staff, open_desk

START = "/admin/"


def current_shop(desk: Client) -> Shop:
    return desk.get(START).wsgi_request.shop


def test_staff_sign_in_and_see_their_shop(shop):
    make_staff(shop)
    desk = Client()
    answer = desk.post(reverse("admin:login"), {"username": "anna", "password": "lighthouse-1"}, follow=True)
    assert answer.redirect_chain[-1][0] == START
    assert answer.status_code == 200
    assert "Lighthouse" in answer.content.decode()


def test_visitors_are_redirected_to_the_sign_in(shop):
    answer = Client().get(START)
    assert answer.status_code == 302
    assert answer["Location"].startswith("/admin/login/")


def test_staff_without_a_shop_are_refused_and_can_sign_out(shop):
    lost = open_desk(User.objects.create_user("lost", email="lost@example.com", is_staff=True))
    answer = lost.get(START)
    assert answer.status_code == 403
    assert "does not belong to a shop" in answer.content.decode()
    assert lost.get("/admin/catalogue/product/").status_code == 403
    assert lost.post("/admin/logout/").status_code == 200
    assert lost.get(START).status_code == 302


def test_staff_of_one_shop_never_see_a_switcher(shop, other_shop):
    desk = open_desk(make_staff(shop))
    page = desk.get(START)
    assert page.context_data["site_dropdown"] == []
    assert "Elsewhere" not in page.content.decode()


def test_staff_of_two_shops_switch_between_them(shop, other_shop):
    user = make_staff(shop)
    make_staff(other_shop, role="manager")
    desk = open_desk(user, shop)
    assert current_shop(desk) == shop
    assert "Elsewhere" in desk.get(START).content.decode()
    answer = desk.post(reverse("admin:switch_shop"), {"shop": other_shop.pk}, headers={"HX-Request": "true"})
    assert (answer.status_code, answer["HX-Redirect"]) == (204, START)
    assert current_shop(desk) == other_shop


@pytest.mark.parametrize("chosen", ["other", "999999", "x", ""])
def test_switching_to_another_merchants_shop_is_refused(shop, other_shop, chosen):
    desk = open_desk(make_staff(shop))
    answer = desk.post(reverse("admin:switch_shop"), {"shop": other_shop.pk if chosen == "other" else chosen})
    assert answer.status_code == 404
    assert current_shop(desk) == shop


def test_a_get_does_not_switch_the_shop(shop, other_shop):
    user = make_staff(shop)
    make_staff(other_shop)
    desk = open_desk(user, shop)
    assert desk.get(reverse("admin:switch_shop"), {"shop": other_shop.pk}).status_code == 405
    assert current_shop(desk) == shop


def test_removed_staff_lose_access_at_once(shop, other_shop):
    user = make_staff(shop)
    desk = open_desk(user, shop)
    shop.staff.all().delete()
    assert desk.get(START).status_code == 403


def test_the_operator_can_open_every_shop(shop, other_shop):
    operator = User.objects.create_superuser("operator", email="op@example.com")
    desk = open_desk(operator, other_shop)
    assert current_shop(desk) == other_shop
    assert desk.get("/admin/shops/staffmember/").status_code == 200


OWNERS_ONLY = ["shops/shop", "shops/staffmember", "shops/apitoken", "shops/allowedorigin"]


@pytest.mark.parametrize("page", OWNERS_ONLY)
def test_pages_for_owners_are_closed_to_staff(shop, page):
    desk = open_desk(make_staff(shop, role="manager"))
    assert desk.get(f"/admin/{page}/", follow=True).status_code == 403
    assert desk.get(f"/admin/{page}/add/").status_code == 403
    assert page not in desk.get("/admin/settings/").content.decode()


@pytest.mark.parametrize("page", OWNERS_ONLY)
def test_pages_for_owners_are_open_to_owners(shop, page):
    desk = open_desk(make_staff(shop))
    assert desk.get(f"/admin/{page}/", follow=True).status_code == 200
    assert page in desk.get("/admin/settings/").content.decode()


def test_times_are_shown_in_the_shops_time_zone(db):
    from storefront.webhooks.models import Event
    from tests.shops.factories import NOW

    tokyo = make_shop("tokyo.example.com", timezone="Asia/Tokyo")
    Event.objects.create(shop=tokyo, topic="order.placed", data={}, created_at=NOW)
    listed = open_desk(make_staff(tokyo)).get("/admin/webhooks/event/").content.decode()
    assert "21 Nov 2026, 16:30" in listed
