"""Price and stock are changed in the row of a product, and taken back, without overwriting anybody's change."""

import re
from decimal import Decimal

import pytest
from django.urls import reverse

from storefront.catalogue.inventory.ledger import Author
from storefront.catalogue.models import Product, StockAdjustment
from storefront.catalogue.row_edits import ValueChanged, set_price, set_stock
from tests.audit.entries import one_entry
from tests.catalogue.factories import make_product, make_variant
from tests.races import run_concurrently
from tests.shops.factories import NOW
from tests.staff import make_staff, open_desk

pytestmark = pytest.mark.django_db
PRODUCTS = "/admin/catalogue/product/"


def url(product, name):
    return reverse(f"admin:catalogue_product_{name}", args=[product.pk])


def send(desk, product, name, seen, value, **given):
    answer = desk.post(url(product, name), {"seen": seen, "value": value, **given}, headers={"HX-Request": "true"})
    return answer.content.decode()


def stored(product):
    product.refresh_from_db()
    return product.price, product.stock_qty


def test_a_price_is_changed_recorded_and_taken_back(desk, shop):
    mug = make_product(shop, "Mug", price="9.50")
    assert f'hx-get="{url(mug, "row_price")}"' in desk.get(PRODUCTS).content.decode()
    with one_entry(shop) as found:
        page = send(desk, mug, "row_price", "9.50", "12")
    assert (found[0].action, found[0].before, found[0].after) == (
        "product.updated",
        {"price": "9.50"},
        {"price": "12.00"},
    )
    assert (stored(mug)[0], "€12.00" in page, "Undo" in page) == (Decimal("12.00"), True, True)
    back = dict(re.findall(r'name="(undo|seen|value)" value="([^"]+)"', page))
    assert back == {"undo": "1", "seen": "12.00", "value": "9.50"}
    page = send(desk, mug, "row_price", **back)
    assert (stored(mug)[0], "Undo" in page) == (Decimal("9.50"), False)


def test_a_stock_is_changed_with_a_row_of_the_ledger(desk, shop):
    mug = make_product(shop, "Mug", stock_qty=4)
    assert "Undo" in send(desk, mug, "row_stock", "4", "7")
    row = StockAdjustment.objects.filter(product=mug).latest("pk")
    assert (stored(mug)[1], row.delta, row.kind, row.reason) == (7, 3, "adjusted", "Set in the list")
    assert row.user.email == "anna@example.com"


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("row_price", "12.345", "no more than 2 decimal places"),
        ("row_price", "-1", "greater than or equal to 0"),
        ("row_price", "NaN", "Enter a number."),
        ("row_price", "", "This field is required."),
        ("row_stock", "1.5", "Enter a whole number."),
        ("row_stock", "-3", "below 0 only if"),
        ("row_stock", "99999999999999999999", "less than or equal to"),
    ],
)
def test_a_bad_value_is_told_at_its_place_and_kept(desk, shop, name, value, problem):
    mug = make_product(shop, "Mug", price="9.50", stock_qty=4)
    before = stored(mug)
    page = send(desk, mug, name, "9.50" if name == "row_price" else "4", value)
    assert problem in page
    assert f'value="{value}" aria-invalid="true"' in page
    assert stored(mug) == before


def test_a_currency_without_decimals_has_whole_prices(desk, shop):
    shop.currency = "JPY"
    shop.save()
    mug = make_product(shop, "Mug", price="950")
    assert "must be a whole number" in send(desk, mug, "row_price", "950.00", "950.5")
    assert "¥960" in send(desk, mug, "row_price", "950.00", "960")


def test_what_somebody_changed_meanwhile_is_told_and_kept(desk, shop):
    mug = make_product(shop, "Mug", price="9.50", stock_qty=4)
    Product.objects.filter(pk=mug.pk).update(price="11.00", stock_qty=3)
    page = send(desk, mug, "row_price", "9.50", "12")
    assert "Somebody changed it to €11.00 meanwhile." in page
    assert 'name="seen" value="11.00"' in page
    assert 'value="12" aria-invalid' in page
    page = send(desk, mug, "row_stock", "4", "8", undo="1")
    assert "Not undone: somebody changed it to 3." in page
    assert stored(mug) == (Decimal("11.00"), 3)
    send(desk, mug, "row_price", "11.00", "12")
    assert stored(mug)[0] == 12


def test_only_a_value_of_the_products_own_is_changed(desk, shop):
    shirt = make_product(shop, "Shirt", type="variable")
    make_variant(shirt, "Blue")
    loose = make_product(shop, "Loose", track_inventory=False)
    page = desk.get(PRODUCTS).content.decode()
    assert url(shirt, "row_price") not in page
    assert f"{PRODUCTS}{shirt.pk}/change/#variants-group" in page
    assert url(loose, "row_stock") not in page
    assert "Open the product." in send(desk, shirt, "row_price", stored(shirt)[0], "3")
    assert "Open the product." in send(desk, loose, "row_stock", stored(loose)[1], "3")


def test_roles_change_what_they_may(shop, other_shop):
    mug, theirs = make_product(shop, "Mug", stock_qty=4), make_product(other_shop, "Mug", stock_qty=4)
    packer = open_desk(make_staff(shop, "zoe", role="fulfilment"))
    page = packer.get(PRODUCTS).content.decode()
    assert url(mug, "row_price") not in page
    assert url(mug, "row_stock") in page
    assert packer.post(url(mug, "row_price"), {"seen": "1", "value": "2"}).status_code == 403
    assert "Undo" in send(packer, mug, "row_stock", "4", "5")
    assert packer.post(url(theirs, "row_stock"), {"seen": "4", "value": "5"}).status_code == 404
    assert stored(theirs)[1] == 4


def test_works_as_a_page_without_scripts(desk, shop):
    mug = make_product(shop, "Mug", price="9.50")
    page = desk.get(url(mug, "row_price"))
    assert "<html" in page.content.decode()
    assert 'name="value"' in page.content.decode()
    assert desk.post(url(mug, "row_price"), {"seen": "9.50", "value": "x"}).status_code == 422
    assert "Back to the list" in desk.post(url(mug, "row_price"), {"seen": "9.50", "value": "8"}).content.decode()
    assert stored(mug)[0] == 8


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_of_two_who_saw_the_same_one_changes_it(shop):
    mug = make_product(shop, "Mug", price="9.50", stock_qty=4)
    given = {"shop": shop, "product_id": mug.pk, "now": NOW}
    prices = [lambda to=to: set_price(seen=Decimal("9.50"), price=Decimal(to), **given) for to in (10, 11, 12)]
    told = {"reason": "Set in the list", "author": Author(), **given}
    stocks = [lambda to=to: set_stock(seen=4, stock=to, **told) for to in (5, 6, 7)]
    for calls in (prices, stocks):
        answers = run_concurrently(*calls, refusal=ValueChanged)
        assert sum(isinstance(answer, ValueChanged) for answer in answers) == 2
