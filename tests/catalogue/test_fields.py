"""One table defines each type of column for apps, for the checks before a write and for the native product file."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest
from django.core.exceptions import ValidationError
from django.db import models
from pydantic import TypeAdapter
from pydantic import ValidationError as NotGiven

from storefront.catalogue.fields import kind_of
from storefront.catalogue.models import BundleItem, Media, Option, OptionValue, Product, Variant
from storefront.catalogue.parsing import InvalidValue
from storefront.product_files.native.members import members
from storefront.shops.models import Shop

MOMENT = datetime(2026, 11, 21, 7, 30, tzinfo=UTC)
# A column of each kind: the value that files and apps send, and the value that is stored.
VALID = [
    ("price", "12.50", Decimal("12.50")),
    ("weight", "0.250", Decimal("0.250")),
    ("is_new", True, True),
    ("publish_at", "2026-11-21T07:30:00.000000Z", MOMENT),
    ("tags", ["new"], ["new"]),
    ("legacy_source_id", 2**40, 2**40),
    ("free_trial_days", 7, 7),
    ("stock_qty", -3, -3),
    ("canonical_url", "https://a.example.com/", "https://a.example.com/"),
    ("description", "<p>Blue</p>", "<p>Blue</p>"),
    ("sku", "M1", "M1"),
    ("status", "draft", "draft"),
]
REFUSED = [
    ("price", 12.5),
    ("weight", 0.25),
    ("is_new", 1),
    ("publish_at", "tomorrow"),
    ("legacy_source_id", "1"),
    ("free_trial_days", -1),
    ("stock_qty", 2**31),
    ("sku", "x" * 256),
    ("status", "gone"),
    ("name", None),
]


def kind(name: str):
    return kind_of(Product._meta.get_field(name))


@pytest.mark.parametrize(("name", "sent", "stored"), VALID)
def test_files_and_apps_send_a_column_in_the_same_form(name, sent, stored):
    assert kind(name).parse(sent) == stored
    assert TypeAdapter(kind(name).given).validate_python(sent) == stored
    assert kind(name).dump(stored) == sent
    assert kind(name).clean(Product(shop=Shop()), Product._meta.get_field(name), stored) == stored


@pytest.mark.parametrize(("name", "sent"), REFUSED)
def test_files_and_apps_are_refused_the_same_values(name, sent):
    with pytest.raises(InvalidValue):
        kind(name).parse(sent)
    with pytest.raises(NotGiven):
        TypeAdapter(kind(name).given).validate_python(sent)


def test_a_nullable_column_accepts_and_returns_null():
    setup_fee = kind("setup_fee")
    assert (setup_fee.parse(None), setup_fee.dump(None)) == (None, None)
    assert TypeAdapter(setup_fee.given).validate_python(None) is None


@pytest.mark.parametrize("name", ["publish_at", "stock_qty", "description", "tags", "brand"])
def test_refuses_values_that_the_database_cannot_store(db, shop, name):
    bad = {
        "publish_at": MOMENT.replace(tzinfo=None),
        "stock_qty": 2**31,
        "description": "<div>" * 200,
        "tags": ["\0"],
        "brand": 1,
    }
    with pytest.raises(ValidationError):
        kind(name).clean(Product(shop=shop), Product._meta.get_field(name), bad[name])


@pytest.mark.parametrize("model", [Product, Variant, Option, OptionValue, Media, BundleItem])
def test_every_column_has_a_kind(model):
    assert all(kind_of(column) for column in model._meta.concrete_fields)
    assert members(model)


def test_a_type_that_the_table_lacks_is_named():
    with pytest.raises(KeyError, match=r"catalogue/fields\.py"):
        kind_of(models.BinaryField())
