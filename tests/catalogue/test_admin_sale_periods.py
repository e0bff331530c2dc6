"""Sale periods in the admin's forms, beside a worker that lets them begin and end."""

from datetime import timedelta
from decimal import Decimal

import pytest

from storefront.catalogue.actions import update_product
from storefront.catalogue.dated.turning import turn_due
from storefront.catalogue.models import PastPrice, Product
from storefront.kit import clock
from tests.catalogue.factories import make_product, make_variant
from tests.staff import admin_url, form_values

pytestmark = pytest.mark.slow

DAY = timedelta(days=1)


def save(desk, row, form, **changes) -> str:
    """Save the form. Returns its page if it is refused."""
    answer = desk.post(admin_url(row, "change"), {**form, **changes})
    row.refresh_from_db()
    return "" if answer.status_code == 302 else answer.content.decode()


def opened(desk, row) -> dict:
    return form_values(desk.page(row))


def prices(row) -> tuple[str, str]:
    row.refresh_from_db()
    return str(row.price), str(row.compare_price)


@pytest.mark.parametrize("kind", ["product", "variant"])
def test_a_sale_is_planned_runs_and_is_ended(desk, shop, kind):
    product = make_product(shop, "Mug", price="10.00")
    row = product if kind == "product" else make_variant(product, price=Decimal("10.00"))
    save(desk, row, opened(desk, row), sale_price="8.00", sale_until_0="2099-01-01", sale_until_1="00:00:00")
    assert prices(row) == ("8.00", "10.00")
    assert PastPrice.objects.get().price == 10
    form = opened(desk, row)
    assert "The sale price applies now." in save(desk, row, form, price="9.00")
    assert "Expected less than the regular price" in save(desk, row, form, sale_price="10.00")
    save(desk, row, form, compare_price="12.00")
    assert prices(row) == ("8.00", "12.00")
    save(desk, row, opened(desk, row), sale_price="")
    assert (*prices(row), row.sale_until) == ("12.00", "0.00", None)


@pytest.mark.parametrize("kind", ["product", "variant"])
def test_a_form_that_was_opened_before_the_begin_does_not_undo_the_sale(desk, shop, kind):
    begin = clock.now() + timedelta(hours=1)
    product = make_product(shop, "Mug", price="10.00", sale_price="8.00", sale_from=begin)
    row = product
    if kind == "variant":
        row = make_variant(product, price=Decimal("10.00"), sale_price=Decimal("8.00"), sale_from=begin)
    form = opened(desk, row)
    type(row).objects.update(sale_from=begin - DAY)
    turn_due(now=clock.now(), limit=9)
    save(desk, row, form, name="Beaker")
    assert (*prices(row), row.name) == ("8.00", "10.00", "Beaker")
    assert "The sale price applies now." in save(desk, row, form, price="12.00")
    # And one that was opened during the sale does not bring it back.
    form = opened(desk, row)
    type(row).objects.update(sale_until=begin - timedelta(hours=2))
    turn_due(now=clock.now(), limit=9)
    save(desk, row, form, name="Cup")
    assert (*prices(row), row.name, row.sale_price) == ("10.00", "0.00", "Cup", None)


def test_dates_alone_and_a_date_of_no_preorder_are_refused(desk, shop):
    mug = make_product(shop, "Mug", price="10.00")
    form = opened(desk, mug)
    date = {"sale_from_0": "2099-01-01", "sale_from_1": "00:00:00"}
    assert "Only a sale price has a start and an end." in save(desk, mug, form, **date)
    date = {"available_from_0": "2099-01-01", "available_from_1": "00:00:00"}
    assert "Only a pre-order has a date." in save(desk, mug, form, **date)
    save(desk, mug, form, is_preorder="on", **date)
    assert mug.is_preorder
    assert mug.available_from.year in (2098, 2099)


def test_another_shops_product_is_not_there(desk, shop, other_shop):
    theirs = make_product(other_shop, "Mug", price="10.00")
    form = opened(desk, make_product(shop, "Mug", price="10.00"))
    assert desk.post(admin_url(theirs, "change"), {**form, "sale_price": "1.00"}).status_code != 200
    assert prices(theirs) == ("10.00", "0.00")
    update_product(shop=other_shop, product=theirs, now=clock.now(), sale_price=Decimal("9.00"))
    assert Product.objects.filter(sale_price__isnull=False).count() == 1
