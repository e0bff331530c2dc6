"""Limits on the lists and the JSON of a product, so that its page and its import take bounded time."""

import orjson
import pytest

from storefront.catalogue import rules
from storefront.catalogue.models import Product, Variant
from storefront.kit import clock
from storefront.product_files import importing
from storefront.website import choices
from tests.factories.apps import install

pytestmark = pytest.mark.slow

DEEP = "[" * 300 + "]" * 300


@pytest.fixture
def app(shop):
    return install(shop, "write_products", "read_products")


@pytest.fixture(autouse=True)
def _few(monkeypatch):
    monkeypatch.setitem(rules.MAX_ENTRIES, "variants", 3)
    monkeypatch.setitem(rules.MAX_ENTRIES, "options", 3)
    monkeypatch.setitem(rules.MAX_ENTRIES, "values", 3)


def variants(count: int) -> list[dict]:
    return [{"name": f"V{number}", "price": "1.00", "option_values": {"Size": str(number)}} for number in range(count)]


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"variants": variants(4)}, "variants"),
        ({"options": [{"name": f"O{number}", "type": "text"} for number in range(4)]}, "options"),
        (
            {"options": [{"name": "O", "type": "select", "values": [{"label": f"L{n}"} for n in range(4)]}]},
            "options.0.values",
        ),
    ],
)
def test_a_list_that_is_too_long_is_named(app, given, field):
    answer = app.api.post("/products", {"name": "Cup", "price": "1.00", **given})
    assert (answer.status_code, answer.json()["errors"]) == (
        422,
        {field: ["This list has 4 entries; at most 3 are allowed."]},
    )
    assert not Product.objects.exists()


def test_accepts_a_list_of_the_maximum_length(app):
    answer = app.api.post("/products", {"name": "Cup", "price": "1.00", "variants": variants(3)})
    assert (answer.status_code, Variant.objects.count()) == (201, 3)


def test_a_product_over_the_limit_can_be_changed_otherwise(shop, app, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setitem(rules.MAX_ENTRIES, "variants", 10)
        made = app.api.post("/products", {"name": "Cup", "price": "1.00", "variants": variants(5)}).json()["product"]
    assert app.api.patch(f"/products/{made['id']}", {"name": "Mug"}).status_code == 200
    assert Variant.objects.count() == 5


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"variants": variants(4)}, ("variants", "has 4 entries; at most 3 are allowed")),
        (
            {"categories": [" > ".join("abcdefghijklmnopqrstuvwxyz12345")]},
            ("categories.0", "31 levels; at most 30 are allowed"),
        ),
        ({"attributes": [{"name": "a", "x": [[]]}]}, ("attributes", "a list such as")),
        ({"tags": ["x" * 100_000]}, ("tags", "100,000 bytes")),
    ],
)
def test_an_import_names_the_list_that_is_too_long(shop, tmp_path, given, problem):
    file = tmp_path / "a.jsonl"
    file.write_bytes(orjson.dumps({"name": "Cup", "price": "1.00", **given}))
    report = importing.import_products(shop=shop, file=file, now=clock.now())
    (found,) = report.problems
    assert (report.failed, found.line, found.column) == (1, 1, problem[0])
    assert problem[1] in found.reason


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("attributes", [{"name": "a", "values": [], "more": orjson.loads(DEEP)}]),
        ("attributes", [{"name": "a", "values": orjson.loads(DEEP)}]),
        ("translations", {"de": {"name": orjson.loads(DEEP)}}),
        ("tags", orjson.loads(DEEP)),
        ("tags", ["x" * 100_000]),
        ("translations", {"de": {"name": "x" * 100_000}}),
    ],
)
def test_refuses_json_that_is_too_deep_or_too_large(app, field, value):
    answer = app.api.post("/products", {"name": "Cup", "price": "1.00", field: value})
    assert (answer.status_code, list(answer.json()["errors"])) == (422, [field])


def test_a_products_page_reads_each_variant_a_constant_number_of_times(shop):
    """And not once for each option value: two thousand of both would take seconds."""
    looks = 0

    class Counted(dict):
        def get(self, name, default=None):
            nonlocal looks
            looks += 1
            return super().get(name, default)

    given = [
        {
            "id": number,
            "price": "1.00",
            "option_values": Counted(Size=str(number)),
            "track_inventory": False,
            "stock_qty": 0,
            "allow_backorders": False,
            "is_active": True,
        }
        for number in range(500)
    ]
    given = [{"name": str(each["id"]), **each} for each in given]
    record = {"attributes": [], "variants": given, "low_stock_threshold": 0, "default_variant_id": None}
    (axis,) = choices.choose(shop, record, given, {}).axes
    assert len(axis.values) == 500
    assert looks <= 5 * 500
