"""The admin's menu and topics lead to every page that its user may open, and its search finds rows and pages."""

import re

import pytest
from django.contrib import admin
from django.urls import reverse

from storefront.server.admin_menu import APPS, MENU, SETTINGS
from tests.catalogue.factories import make_product
from tests.customers.factories import make_customer
from tests.orders.factories import make_order, sale_line
from tests.staff import admin_url, make_staff, open_desk

# Shown on the pages of others.
ELSEWHERE = {"catalogue.variant", "deployment.deployedshop"}


def links_of(answer) -> set[str]:
    return set(re.findall(r'href="(/admin/[^"#?]*)', answer.content.decode()))


def found(desk, term: str) -> list[str]:
    answer = desk.get("/admin/search/", {"s": term})
    assert answer.status_code == 200
    return [f"{item.title} · {item.description}" for item in answer.context_data["results"]]


@pytest.mark.parametrize(
    ("role", "texts"),
    [
        ("owner", ["Add a product", "Import products", "Add a discount", "Add a shipping rate", "Install an app"]),
        ("fulfilment", []),
    ],
)
def test_the_start_page_leads_to_what_may_be_added(shop, role, texts):
    desk = open_desk(make_staff(shop, role=role))
    shown = desk.get("/admin/").context_data["shortcuts"]
    assert [text for text, _ in shown] == texts
    assert all(desk.get(url).status_code == 200 for _, url in shown)


def test_headings_say_what_is_new_and_what_a_search_left_out(desk, shop):
    make_product(shop, "Mug")
    make_product(shop, "Plate")

    def heading(path: str) -> str:
        found = re.search(r"<h1.*?</h1>", desk.get(path).content.decode(), re.DOTALL)[0]
        return " ".join(re.sub(r"<[^>]*>", " ", found).split())

    assert heading("/admin/catalogue/product/") == "Products"
    assert heading("/admin/catalogue/product/?q=mug") == "Products 1 result ( Show all )"
    assert heading("/admin/pricing/discount/add/") == "Discounts chevron_right New"
    assert heading(desk.get("/admin/content/looks/").url) == "Looks"


def test_every_list_stands_in_the_menu_or_in_a_topic_once():
    named = [
        model
        for models in (*(models for _, models in MENU), *(topic.models for topic in (APPS, *SETTINGS)))
        for model in models.split()
    ]
    assert len(named) == len(set(named))
    registered = {model._meta.label_lower for model, page in admin.site._registry.items()}
    assert set(named) | ELSEWHERE == registered


@pytest.mark.parametrize(
    ("role", "may", "may_not"),
    [("owner", "shops_staffmember", None), ("fulfilment", "orders_order", "pricing_taxrate")],
)
def test_the_menu_shows_what_the_user_may_open(shop, role, may, may_not):
    desk = open_desk(make_staff(shop, role=role))
    shown = links_of(desk.get("/admin/"))
    everything = shown | links_of(desk.get("/admin/settings/"))
    assert reverse("admin:settings") in shown
    assert reverse(f"admin:{may}_changelist") in everything
    if may_not:
        assert reverse(f"admin:{may_not}_changelist") not in everything
    else:
        assert reverse("admin:apps_installation_changelist") in shown


def test_lists_of_a_topic_have_tabs(desk):
    rates = desk.get(reverse("admin:pricing_shippingrate_changelist"))
    assert {reverse(f"admin:pricing_{name}_changelist") for name in ("deliveryzone", "pickupplace")} <= links_of(rates)
    assert reverse("admin:pricing_deliveryzone_changelist") not in links_of(desk.get("/admin/"))


def test_the_search_finds_rows_of_this_shop_and_pages(desk, shop, other_shop):
    for each in (shop, other_shop):
        mug = make_product(each, f"Mug of {each.pk}", sku="LIGHT-7")
        make_customer(each, "ada@example.com")
        order = make_order(each, sale_line(mug, 1))
    own = f"Mug of {shop.pk} · Product"
    assert own in found(desk, "light-7")
    assert own in found(desk, "Mug of")
    assert not any(str(other_shop.pk) in each.split(" · ")[0] for each in found(desk, "Mug of"))
    assert sum("Customer" in each for each in found(desk, "ada@")) == 1
    assert found(desk, "tax r") == ["Tax rates · Taxes"]
    assert "Shipping rates · Delivery" in found(desk, "delivery")
    assert found(desk, "zzz") == found(desk, "") == []
    assert sum(each.endswith("· Order") for each in found(desk, f"#{order.number}")) == 1


def test_the_search_finds_only_what_the_user_may_open(shop):
    make_product(shop, "Mug")
    make_customer(shop, "ada@example.com")
    desk = open_desk(make_staff(shop, role="fulfilment"))
    assert not any("Customer" in each for each in found(desk, "ada@"))
    assert found(desk, "tax") == []


def test_a_form_has_one_button_that_saves(desk, shop):
    page = desk.get(admin_url(make_customer(shop, "ada@example.com"), "change")).content.decode()
    assert (page.count('name="_save"'), page.count('name="_continue"'), page.count('name="_addanother"')) == (1, 0, 0)


def test_an_empty_list_says_what_would_stand_there(desk):
    url = reverse("admin:pricing_deliveryzone_changelist")
    assert "A zone is where the same delivery costs the same" in desk.get(url).content.decode()
    assert "No delivery zones match" in desk.get(url, {"q": "zzz"}).content.decode()
