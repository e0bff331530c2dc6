"""Operations that change what a table costs: `storefront/kit/schema_changes.py`."""

import pytest
from django.db import connection, models
from django.db.migrations.loader import MigrationLoader

from benchmarks.order_cost import HOT_TABLES
from storefront.kit.schema_changes import AddIndexWhileWriting

NAME = "checkout_made_twice"


@pytest.mark.django_db(transaction=True)
def test_index_that_was_interrupted_is_made_again():
    state = MigrationLoader(connection).project_state()
    index = models.Index(fields=["created_at"], name=NAME)
    try:
        for _ in range(2):
            with connection.schema_editor(atomic=False) as editor:
                AddIndexWhileWriting("checkout", index).database_forwards("checkout", editor, state, state)
        with connection.cursor() as cursor:
            assert NAME in connection.introspection.get_constraints(cursor, "checkout_checkout")
    finally:
        with connection.cursor() as cursor:
            cursor.execute(f"DROP INDEX IF EXISTS {NAME}")


@pytest.mark.skipif("connection.vendor != 'postgresql'", reason="SQLite has no such setting")
def test_pages_of_tables_that_each_sale_updates_have_room(db):
    with connection.cursor() as cursor:
        cursor.execute("SELECT relname FROM pg_class, unnest(reloptions) given WHERE given LIKE %s", ["fillfactor=%"])
        assert {table for (table,) in cursor.fetchall()} >= set(HOT_TABLES)
