"""No index of the product's database repeats another; and those that do are found."""

import pytest
from django.db import connection

from benchmarks.indexes import index_count, repeated_indexes

pytestmark = pytest.mark.skipif("connection.vendor != 'postgresql'", reason="about PostgreSQL")

TABLE = "CREATE TABLE measured (shop bigint, sku varchar(20), price bigint, is_new boolean)"
REPEATED = {
    "a beginning": "CREATE INDEX short ON measured (shop)",
    "the same columns": "CREATE INDEX short ON measured (shop, sku)",
    "for LIKE": "CREATE INDEX short ON measured (shop, sku varchar_pattern_ops)",
}
NEEDED = {
    "another order": "CREATE INDEX short ON measured (sku)",
    "descending": "CREATE INDEX short ON measured (shop DESC)",
    "some rows": "CREATE INDEX short ON measured (shop) WHERE is_new",
    "a constraint": "CREATE UNIQUE INDEX short ON measured (shop)",
    "an expression": "CREATE INDEX short ON measured (shop, lower(sku))",
}


@pytest.fixture
def cursor(db):
    with connection.cursor() as cursor:
        yield cursor


@pytest.fixture
def long_index(cursor):
    cursor.execute(TABLE)
    cursor.execute("CREATE UNIQUE INDEX long ON measured (shop, sku, price)")
    cursor.execute("CREATE INDEX middle ON measured (shop, sku) WHERE price > 0")


def test_no_index_repeats_another(cursor):
    assert index_count(cursor) > 300
    assert repeated_indexes(cursor) == []


@pytest.mark.parametrize("name", REPEATED)
def test_repeated_index_is_found(cursor, long_index, name):
    cursor.execute(REPEATED[name])
    assert repeated_indexes(cursor) == [("measured", "short")]


@pytest.mark.parametrize("name", NEEDED)
def test_index_with_an_own_use_is_not_counted(cursor, long_index, name):
    cursor.execute(NEEDED[name])
    assert repeated_indexes(cursor) == []
