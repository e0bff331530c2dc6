"""Rows that lead to a shop: which foreign keys the database checks, and that nothing is left of a deleted shop.

A foreign key to the shop is checked in the database unless another checked one already leads there: the row of an order
cannot be of no shop, since its order cannot. Each check locks the shop's row, which every order of the shop would pay
for with its own record in the log. `storefront verify` compares the shops of a row and of what it belongs to.
"""

from functools import cache

import pytest
from django.apps import apps
from django.db import connection, models

from storefront.shops.models import Shop
from tests.catalogue.factories import make_product
from tests.checkout.shopper import Shopper
from tests.factories.apps import install

# Why these rows need no key: nothing goes wrong if one is left of a shop that is gone.
UNGUARDED = {
    "shops.AuditEntry": "stays when its shop goes",
    "sync.Change": "is appended while a shop is deleted, and goes by its age",
    "webhooks.Attempt": "is written while its delivery is locked, and goes by its age",
    "catalogue.TextChange": "the next count deletes it",
    "catalogue.ListingTotal": "a sum that nobody reads",
    "catalogue.StockAdjustment": "its product's trigger deletes it",
    "catalogue.PastPrice": "its product's trigger deletes it",
    "catalogue.OldSlug": "its product's trigger deletes it",
    "catalogue.TranslatedSlug": "its product's trigger deletes it",
    "catalogue.LastChange": "its product's trigger deletes it",
    "catalogue.ImportedChange": "goes by its age, as the import does",
}
# Rows that are kept, or written while the shop is deleted.
LEFT = {"shops_auditentry", "sync_change", "catalogue_textchange", "catalogue_listingtotal"}


@cache
def is_guarded(model: type[models.Model]) -> bool:
    """Returns True if checked foreign keys lead from the model to the shop, none of them null."""
    keys = [field for field in model._meta.local_fields if field.remote_field and not field.null]
    checked = [field.related_model for field in keys if field.db_constraint and field.related_model is not model]
    return any(each is Shop or (_shop_key(each) and is_guarded(each)) for each in checked)


def _shop_key(model: type[models.Model]) -> models.Field | None:
    return next((each for each in model._meta.local_fields if each.related_model is Shop), None)


SHOPS_MODELS = [model for model in apps.get_models() if _shop_key(model)]


@pytest.mark.parametrize("model", SHOPS_MODELS, ids=lambda model: model._meta.label)
def test_every_row_of_a_shop_is_guarded_or_says_why_not(model):
    assert is_guarded(model) != (model._meta.label in UNGUARDED)


@pytest.mark.parametrize("model", SHOPS_MODELS, ids=lambda model: model._meta.label)
def test_a_key_to_the_shop_is_not_checked_twice(model):
    key = _shop_key(model)
    others = [
        field.related_model
        for field in model._meta.local_fields
        if field.remote_field and field is not key and not field.null and field.db_constraint
    ]
    is_checked_by_another = any(_shop_key(each) and is_guarded(each) for each in others if each is not model)
    is_root = isinstance(key, models.OneToOneField)
    assert is_root or not (key.db_constraint and is_checked_by_another)


@pytest.mark.skipif("connection.vendor != 'postgresql'", reason="SQLite keeps keys until it remakes a table")
def test_the_database_checks_what_the_models_say(db):
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT conrelid::regclass::text FROM pg_constraint"
            " WHERE contype = 'f' AND conparentid = 0 AND confrelid = 'shops_shop'::regclass"
        )
        checked = {table for (table,) in cursor.fetchall()}
    keys = [(model, _shop_key(model)) for model in SHOPS_MODELS]
    assert checked == {model._meta.db_table for model, key in keys if key.db_constraint}


def test_nothing_is_left_of_a_deleted_shop(shop, api, other_shop):
    install(shop, "read_orders", "read_products")
    mug, theirs = make_product(shop, "Mug", stock_qty=5), make_product(other_shop, "Pot", stock_qty=5)
    shopper = Shopper(shop)
    shopper.bring(api, {"product_id": mug.pk, "qty": 2})
    assert shopper.order("demo").status_code == 303
    filled = {table for table in _rows(shop) if table not in LEFT}
    assert filled >= {"orders_orderline", "orders_payment", "payments_paymententry", "carts_cart", "webhooks_event"}
    gone = shop.pk
    shop.delete()
    assert set(_rows(Shop(pk=gone))) <= LEFT
    theirs.refresh_from_db()


def _rows(shop: Shop) -> list[str]:
    """The tables with rows of the shop."""
    found = []
    with connection.cursor() as cursor:
        for model in SHOPS_MODELS:
            table, column = model._meta.db_table, _shop_key(model).column
            cursor.execute(f"SELECT 1 FROM {table} WHERE {column} = %s LIMIT 1", [shop.pk])
            found += [table] if cursor.fetchone() else []
    return found
