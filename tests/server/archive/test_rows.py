"""Rows as lines that are the same for every database, and digests of them."""

from datetime import UTC, datetime
from decimal import Decimal
from uuid import UUID

import pytest

from storefront.catalogue.models import Product
from storefront.server.archive.rows import Digest, columns, digest_of, line_of
from storefront.server.archive.tables import every_row
from tests.catalogue.factories import make_product


def digest(*lines: bytes) -> Digest:
    found = Digest()
    for line in lines:
        found.add(line)
    return found


def test_a_value_has_one_form():
    moment = datetime(2026, 11, 21, 7, 30, tzinfo=UTC)
    row = (1, Decimal("9.50"), moment, UUID(int=1), b"\0a", memoryview(b"\0a"), None, True, {"b": 100.0, "a": [0.5]})
    assert line_of(row, [8]) == (
        b'[1,"9.50","2026-11-21T07:30:00+00:00","00000000-0000-0000-0000-000000000001","AGE=","AGE=",null,true,'
        b'{"a":[0.5],"b":100}]'
    )


def test_a_digest_is_of_lines_in_any_order_with_their_count():
    assert digest(b"a", b"b") == digest(b"b", b"a")
    assert digest(b"a", b"b") != digest(b"a", b"c")
    assert digest(b"a", b"a") != digest(b"a")
    assert digest() != digest(b"a")


@pytest.mark.parametrize("column", ["name", "price", "tags", "publish_at", "is_pinned"])
def test_a_digest_changes_with_any_value(shop, column):
    mug = make_product(shop, "Mug", stock_qty=1)
    before = digest_of(every_row(Product, using="default"))
    value = {"name": "Mug ", "price": Decimal("9.51"), "tags": ["a"], "is_pinned": True}.get(column, mug.created_at)
    Product.objects.update(**{column: value})
    assert digest_of(every_row(Product, using="default")) != before
    assert column in columns(Product)
