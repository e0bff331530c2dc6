"""Whoever works in many shops finds each of them."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from storefront.shops.models import Shop, StaffMember
from storefront.staff.admin_site import MAX_SWITCHER_SHOPS
from tests.shops.factories import NOW
from tests.staff import make_staff, open_desk

CHOOSE = reverse("admin:choose_shop")


@pytest.fixture
def many(shop) -> list[Shop]:
    given = {"created_at": NOW, "updated_at": NOW}
    rows = [
        Shop(domain=f"s{at}.example.org", name=f"Branch {at:03}", base_url=f"https://s{at}.example.org", **given)
        for at in range(120)
    ]
    return Shop.objects.bulk_create(rows)


@pytest.fixture
def anna(shop, many):
    user = make_staff(shop)
    StaffMember.objects.bulk_create(StaffMember(shop=each, user=user, role="manager") for each in many)
    return open_desk(user, shop)


def test_the_menu_has_the_first_shops_and_a_way_to_the_others(anna, other_shop):
    page = anna.get("/admin/").content.decode()
    assert page.count("hx-post") == MAX_SWITCHER_SHOPS
    assert CHOOSE in page
    assert other_shop.name not in page


def test_few_shops_need_no_search(shop, other_shop):
    user = make_staff(shop)
    make_staff(other_shop)
    page = open_desk(user, shop).get("/admin/").content.decode()
    assert other_shop.name in page
    assert CHOOSE not in page


@pytest.mark.parametrize("term", ["branch 117", "s117.EXAMPLE"])
def test_each_shop_is_found_and_entered(anna, many, term):
    page = anna.get(CHOOSE, {"q": term}).content.decode()
    assert "Branch 117" in page
    assert "Branch 118" not in page
    answer = anna.post(reverse("admin:switch_shop"), {"shop": many[117].pk})
    assert answer["Location"] == "/admin/"
    assert "Branch 117" in anna.get("/admin/").content.decode()


def test_another_persons_shops_are_not_found(anna, other_shop):
    assert other_shop.name not in anna.get(CHOOSE, {"q": "other"}).content.decode()
    assert anna.post(reverse("admin:switch_shop"), {"shop": other_shop.pk}).status_code == 404


def test_pages_have_all_shops_with_as_many_queries_each(anna, many):
    seen, counts = "", set()
    for page in ("1", "2", "3", "nonsense", "99"):
        with CaptureQueriesContext(connection) as found:
            seen += anna.get(CHOOSE, {"p": page}).content.decode()
        counts.add(len(found))
    assert all(shop.name in seen for shop in many)
    assert len(counts) == 1
