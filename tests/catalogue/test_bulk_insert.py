"""Rows in bulk: every text arrives as it is, and what a row does not give has its default."""

from decimal import Decimal

import pytest
from django.db import DataError, IntegrityError, connection, transaction

from storefront.catalogue.models import Media, Option, OptionValue, Variant
from storefront.kit.bulk_insert import BulkTable, allocate_ids
from tests.catalogue.factories import make_option, make_product
from tests.shops.factories import NOW

# What PostgreSQL's COPY would read as something else, and what only looks like it.
TEXTS = [
    "",
    r"\N",
    r"\.",
    "\\",
    r"a\tb",
    "tab\there",
    "line\nbreak",
    "\r\n",
    "\\\n\\",
    "ä€𝄞",
    "'\"",
    "t",
    "\x0b\x7f",
    "{1}",
]


@pytest.fixture
def option(shop) -> Option:
    return make_option(make_product(shop, "Mug"), "Size")


def test_texts_arrive_as_they_are(shop, option):
    table = BulkTable(OptionValue, {"shop_id": shop.pk, "option_id": option.pk})
    ids = allocate_ids(OptionValue, len(TEXTS))
    table.insert({"id": id, "label": text} for id, text in zip(ids, TEXTS, strict=True))
    assert list(OptionValue.objects.filter(id__in=ids).order_by("id").values_list("label", flat=True)) == TEXTS
    assert set(OptionValue.objects.filter(id__in=ids).values_list("price", "sort_order")) == {(Decimal("0.00"), 0)}


def test_many_rows_arrive_in_order(shop, option):
    table = BulkTable(OptionValue, {"shop_id": shop.pk, "option_id": option.pk})
    ids = allocate_ids(OptionValue, 451)
    table.insert({"id": id, "label": f"No. {number}"} for number, id in enumerate(ids))
    stored = OptionValue.objects.filter(id__in=ids).order_by("id").values_list("label", flat=True)
    assert list(stored) == [f"No. {number}" for number in range(451)]


def test_packed_rows_get_their_later_values(shop, other_shop, option):
    table = BulkTable(
        Variant,
        {"shop_id": shop.pk, "created_at": NOW, "updated_at": NOW},
        later=["id", "product_id", "name", "image_id"],
    )
    rows = [
        {"sku": "A", "option_values": {text: text for text in TEXTS}, "stock_qty": -3, "allow_backorders": True},
        {"price": Decimal("12.50"), "weight": Decimal("1E+1"), "barcode": None, "is_active": False},
    ]
    ids = allocate_ids(Variant, 2)
    laters = [(id, option.product_id, text, None) for id, text in zip(ids, (r"\N", "a\tb"), strict=True)]
    table.insert_packed(list(zip(laters, map(table.pack, rows), strict=True)))
    first, second = Variant.objects.order_by("id")
    assert (first.pk, first.name, first.sku, first.option_values) == (ids[0], r"\N", "A", rows[0]["option_values"])
    assert (first.stock_qty, first.allow_backorders, first.is_active, first.image_id) == (-3, True, True, None)
    assert (second.pk, second.name, second.price, second.weight) == (ids[1], "a\tb", Decimal("12.50"), Decimal(10))
    assert (second.barcode, second.is_active, second.option_values) == (None, False, {})
    assert {(each.shop_id, each.created_at) for each in (first, second)} == {(shop.pk, NOW)}


def test_later_ids_may_be_null_in_some_rows(shop, option):
    picture = Media.objects.create(shop=shop, product_id=option.product_id, source_url="https://p.example/1.jpg")
    stamped = {"shop_id": shop.pk, "created_at": NOW, "updated_at": NOW}
    table = BulkTable(Variant, stamped, later=["id", "product_id", "image_id"])
    ids = allocate_ids(Variant, 3)
    rows = zip(ids, (None, picture.pk, None), ("100 %d", "%b\\%", "plain"), strict=True)
    table.insert_packed([((id, option.product_id, image), table.pack({"name": name})) for id, image, name in rows])
    stored = Variant.objects.order_by("id").values_list("id", "product_id", "image_id", "name")
    product = option.product_id
    assert list(stored) == [
        (ids[0], product, None, "100 %d"),
        (ids[1], product, picture.pk, "%b\\%"),
        (ids[2], product, None, "plain"),
    ]


@pytest.mark.parametrize("label", [None, "x" * 300, "nul\0"], ids=["null", "long", "nul"])
def test_a_row_that_the_database_refuses_is_its_error(shop, option, label):
    if label and connection.vendor == "sqlite":
        pytest.skip("SQLite stores any text")
    table, before = BulkTable(OptionValue, {"shop_id": shop.pk, "option_id": option.pk}), OptionValue.objects.count()
    with pytest.raises((DataError, IntegrityError)), transaction.atomic():
        table.insert([{"id": id, "label": label} for id in allocate_ids(OptionValue, 1)])
    assert OptionValue.objects.count() == before
