"""What people read about a row that a database refused: its table and field and what was expected, and no values."""

from uuid import uuid4

import pytest
from django.db import DataError, IntegrityError, connection, transaction

from storefront.catalogue.models import Brand, Media, Product
from storefront.kit.bulk_insert import BulkTable
from storefront.kit.dialect import IS_POSTGRESQL
from storefront.kit.refused_rows import Refused, refused
from storefront.server.logs import redact
from tests.catalogue.factories import make_product

pytestmark = pytest.mark.django_db
SECRET = "ada@example.com"
ONLY_POSTGRESQL = pytest.mark.skipif(not IS_POSTGRESQL, reason="SQLite has no such types")


def error_of(action) -> Exception:
    with pytest.raises((DataError, IntegrityError)) as raised, transaction.atomic():
        _checked(action)
    return raised.value


def _checked(action) -> None:
    action()
    connection.check_constraints()


def twice(shop):
    Brand.objects.create(shop=shop, name=SECRET)
    return Brand.objects.create(shop=shop, name=SECRET.upper())


CASES = {
    "twice": (twice, "catalogue.Brand", "name", "a value that no other row of the shop has"),
    "null": (
        lambda shop: Brand.objects.bulk_create([Brand(shop=shop, name=None)]),
        "catalogue.Brand",
        "name",
        "a value",
    ),
    "below zero": (
        lambda shop: Product.objects.filter(pk=make_product(shop, SECRET).pk).update(stock_qty=-1),
        "catalogue.Product",
        "stock_qty",
        "0 or more, since backorders are not allowed",
    ),
    "check": (
        lambda shop: Media.objects.create(shop=shop, product=make_product(shop, SECRET), alt=SECRET),
        "catalogue.Media",
        "source_url",
        "another value",
    ),
    "too long": pytest.param(
        lambda shop: BulkTable(Brand, {"shop_id": shop.pk}).insert([{"name": SECRET * 99}]),
        "catalogue.Brand",
        "name",
        "at most 200 characters",
        marks=ONLY_POSTGRESQL,
    ),
    "gone": pytest.param(
        lambda shop: Product.objects.filter(pk=make_product(shop, SECRET).pk).update(brand_id=7777),
        "catalogue.Product",
        "brand",
        "something that the shop still has",
        marks=ONLY_POSTGRESQL,
    ),
}


@pytest.mark.parametrize(("action", "table", "field", "expected"), CASES.values(), ids=CASES)
def test_names_the_field_and_quotes_nothing(shop, action, table, field, expected):
    error = error_of(lambda: action(shop))
    found = refused(error)
    if table == "catalogue.Product" and not IS_POSTGRESQL:
        table = ""  # SQLite's triggers name the rule alone.
    assert found.expected == expected
    assert (found.table, found.field) in ((table, field), (table, "file"))
    assert SECRET not in str(found).lower()
    logged = redact(f"Traceback\n{error}\n\nDuring handling of the above exception, another one")
    assert SECRET not in logged.lower()
    assert "Traceback" in logged
    assert "During handling" in logged


def test_of_an_unknown_rule():
    name = f"rule_{uuid4().hex}"
    assert str(refused(IntegrityError(name))) == "expected another value"
    assert refused(IntegrityError(name)) == Refused("", "", "another value")
