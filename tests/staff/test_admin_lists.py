"""Lists of the admin: rows for desk and phone, filters as chips, and queries that do not grow with the rows."""

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from storefront.catalogue.models import Category, Product
from storefront.customers.models import Customer
from storefront.orders.models import Order
from storefront.staff import list_filters
from tests.catalogue.factories import make_category, make_product, make_variant
from tests.customers.factories import make_customer
from tests.orders.factories import make_order, sale_line
from tests.staff import admin_url, make_staff, open_desk

pytestmark = pytest.mark.django_db
PRODUCTS = "/admin/catalogue/product/"


def choices(desk, number, **query):
    """The choices of the product list's filter with this number, and the count of each."""
    page = desk.get(PRODUCTS, {**query, "_choices": number}, headers={"HX-Request": "true"}).content.decode()
    found = re.findall(r"<span>([^<]+)</span>(?: <span class=\"choices__count\">([^<]+)</span>)?", page)
    return dict(found)


def test_a_row_has_its_picture_name_state_price_and_stock_at_their_places(desk, shop):
    mug = make_product(shop, "Mug & <cup>", price="9.50", stock_qty=3)
    page = desk.get(PRODUCTS).content.decode()
    row = page[page.index("<tbody>") : page.index("</tbody>")]
    assert f'<a href="{PRODUCTS}{mug.pk}/change/" id="row-0">Mug &amp; &lt;cup&gt;</a>' in row
    assert re.findall(r"col-(\w+) (at-\w+)", row) == [
        ("picture", "at-picture"),
        ("name", "at-a"),
        ("state", "at-b"),
        ("price_shown", "at-c"),
        ("stock", "at-d"),
    ]
    assert '<span class="mark mark--success">Active</span>' in row
    assert f'name="_selected_action" form="chosen" value="{mug.pk}"' in row


def test_the_way_back_keeps_the_filters(desk, shop):
    make_product(shop, "Mug", status="draft")
    page = desk.get(PRODUCTS, {"status__exact": "draft"}).content.decode()
    assert "/change/?_changelist_filters=status__exact%3Ddraft" in page


def test_a_filter_counts_its_choices_in_this_shop_and_within_the_other_filters(desk, shop, other_shop):
    for number in range(3):
        make_product(shop, f"Mug {number}", status="draft" if number else "active", stock_qty=number)
        make_product(other_shop, f"Mug {number}")
    assert choices(desk, 0) == {"All": "3", "Draft": "2", "Active": "1", "Archived": "0"}
    assert choices(desk, 0, q="mug 2")["Draft"] == "1"
    cups = make_category(shop, "Cups")
    make_category(other_shop, "Theirs")
    make_product(shop, "Cup", categories=(cups,))
    assert choices(desk, 1)["Cups"] == "1"
    assert "Theirs" not in choices(desk, 1)


def test_more_rows_than_the_bound_are_not_counted(desk, shop, monkeypatch):
    monkeypatch.setattr(list_filters, "MAX_COUNT", 2)
    for number in range(4):
        make_product(shop, f"Mug {number}")
    assert choices(desk, 0)["Active"] == "2+"
    monkeypatch.setattr(list_filters, "MAX_SECONDS", -1)
    assert choices(desk, 0)["Active"] == ""


def test_a_chosen_filter_is_named_and_can_be_removed(desk, shop):
    cups = make_category(shop, "Cups")
    make_product(shop, "Cup", categories=(cups,))
    page = desk.get(PRODUCTS, {"categories__id__exact": cups.pk, "q": "cup"}).content.decode()
    assert "Categories: Cups" in page
    assert 'href="?q=cup" class="chip__off" aria-label="Remove the filter Categories"' in page


@pytest.mark.parametrize("number", ["99", "-1", "²", "x", "99999999999999999999"])
def test_a_filter_that_a_list_does_not_have_is_not_found(desk, number):
    assert desk.get(PRODUCTS, {"_choices": number}).status_code == 404


def test_choices_are_a_page_without_scripts_for_those_who_may_see_the_list(desk, shop):
    make_product(shop, "Mug")
    assert "?status__exact=draft" in desk.get(PRODUCTS, {"_choices": "0"}).content.decode()
    packer = open_desk(make_staff(shop, "zoe", role="fulfilment"))
    assert packer.get(admin_url(Customer, "changelist"), {"_choices": "0"}).status_code == 403
    make_category(shop, "Cups")
    assert desk.get(PRODUCTS, {"_choices": "0", "categories__id__exact": "x"}).status_code == 404


def test_all_that_match_can_be_chosen_where_they_are_counted(desk, shop):
    for number in range(51):
        make_product(shop, f"Mug {number}")
    page = desk.get(PRODUCTS).content.decode()
    assert "All 51 that match" in page
    assert "1–50 of 51" in page
    buttons = re.findall(r'<button name="action" value="(\w+)"', page)
    assert (buttons[-1], "restore_chosen" in buttons) == ("delete_selected", False)
    assert desk.post(PRODUCTS, {"action": "archive", "index": "0", "select_across": "1", "_selected_action": "1"})
    assert Product.objects.filter(shop=shop, status="archived").count() == 51


def test_an_empty_list_has_one_sentence_and_one_button(desk):
    page = desk.get(PRODUCTS).content.decode()
    assert page.count('class="list-add"') == 1
    assert "Add your first product here" in page
    assert "No products match your search and filters." in desk.get(PRODUCTS, {"q": "x"}).content.decode()


@pytest.mark.parametrize(
    ("model", "make", "budget"),
    [
        (Product, lambda shop, n: make_variant(make_product(shop, f"Mug {n}"), "Blue"), 16),
        (Category, lambda shop, n: make_category(shop, f"Cups {n}"), 12),
        (Customer, lambda shop, n: make_customer(shop, email=f"c{n}@example.com"), 13),
        (Order, lambda shop, n: make_order(shop, sale_line(make_product(shop, f"Mug {n}"), 1)), 12),
    ],
)
def test_a_list_takes_a_fixed_number_of_queries(desk, shop, model, make, budget):
    def queries(count):
        for number in range(count):
            make(shop, f"{count}-{number}")
        with CaptureQueriesContext(connection) as found:
            assert desk.get(admin_url(model, "changelist")).status_code == 200
        return len(found)

    desk.get("/admin/")
    queries(3)
    assert queries(1) == queries(5) <= budget


def test_rows_of_a_long_list_are_found_by_ids_in_the_order_of_the_list(desk, shop):
    for number in range(60):
        make_product(shop, f"Mug {number:02}", price=number)
    number = desk.get(PRODUCTS).context_data["cl"].list_display.index("price_shown")
    shown = desk.get(PRODUCTS, {"o": f"-{number}", "p": 2}).context_data["cl"].result_list
    assert [row.name for row in shown] == [f"Mug {number:02}" for number in range(9, -1, -1)]
