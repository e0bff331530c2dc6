"""Records that are written from their schemas."""

from datetime import UTC, datetime
from decimal import Decimal
from types import SimpleNamespace

from ninja import Schema

from storefront.kit.api.records import writer
from storefront.kit.api.schemas import Money, Timestamp


class Part(Schema):
    name: str
    price: Money


class Whole(Schema):
    id: int
    price: Money | None
    placed_at: Timestamp | None
    parts: list[Part]
    key: str


class Alone(Schema):
    name: str


PLACED = datetime(2026, 11, 26, 8, 30, tzinfo=UTC)


def test_has_the_members_of_the_schema_in_its_order_as_on_the_wire():
    part = {"price": "1.00", "other": 1, "name": "Cup"}
    row = SimpleNamespace(id=1, price=Decimal("12.5"), placed_at=PLACED, parts=[part], key="p1", secret="no")
    record = writer(Whole, first="key", stored=["parts"])(row)
    assert list(record.items()) == [
        ("key", "p1"),
        ("id", 1),
        ("price", "12.50"),
        ("placed_at", "2026-11-26T08:30:00.000000Z"),
        ("parts", [{"name": "Cup", "price": "1.00"}]),
    ]
    assert list(record["parts"][0]) == ["name", "price"]


def test_leaves_null_as_it_is():
    row = SimpleNamespace(id=1, price=None, placed_at=None, parts=[], key="p1")
    assert writer(Whole)(row) == {"id": 1, "price": None, "placed_at": None, "parts": [], "key": "p1"}


def test_a_given_function_makes_its_member():
    assert writer(Part, price=lambda row: "free")(SimpleNamespace(name="Cup")) == {"name": "Cup", "price": "free"}


def test_writes_a_single_member():
    assert writer(Alone)(SimpleNamespace(name="Cup")) == {"name": "Cup"}
