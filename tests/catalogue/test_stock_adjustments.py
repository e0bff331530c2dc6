"""Stock adjustments through both APIs, with a reason (R-APP-35)."""

import pytest

from storefront.catalogue.models import StockAdjustment
from storefront.webhooks.models import Event
from tests.answers import error_of
from tests.catalogue.factories import make_product, make_variant
from tests.catalogue.test_inventory_list import form, listed  # noqa: F401
from tests.client import ApiClient
from tests.factories.apps import Installed, install
from tests.shops.factories import make_token

PATH = "/inventory/adjustments"


@pytest.fixture
def installed(shop) -> Installed:
    return install(shop, "read_inventory", "write_inventory")


@pytest.fixture
def app(installed, form) -> ApiClient:  # noqa: F811
    return ApiClient(installed.token, prefix=form)


def adjusted(app, **body) -> dict:
    answer = app.post(PATH, {"reason": "Counted"} | body)
    assert answer.status_code == 201, answer.content
    ((_, item),) = answer.json().items()
    return item


def refused(app, **body) -> dict:
    answer = app.post(PATH, {"reason": "Counted"} | body)
    assert answer.status_code == 422, answer.content
    return answer.json()["errors"]


@pytest.mark.rule("R-APP-35")
def test_stock_is_changed_by_and_set_to_an_amount(shop, app):
    mug = make_product(shop, "Mug", stock_qty=10)
    assert adjusted(app, product_id=mug.pk, delta=5)["stock_qty"] == 15
    assert adjusted(app, product_id=mug.pk, delta=-15)["stock_qty"] == 0
    item = adjusted(app, product_id=mug.pk, set=7)
    assert item["stock_qty"] == 7
    assert listed(app.get("/inventory")) == [item]


@pytest.mark.rule("R-APP-35")
def test_a_product_with_variants_needs_a_variant_id(shop, app):
    blue = make_variant(make_product(shop, "Shirt", stock_qty=99), stock_qty=5)
    item = adjusted(app, product_id=blue.product_id, variant_id=blue.pk, delta=1)
    assert (item["id"], item["stock_qty"]) == (f"p{blue.product_id}-v{blue.pk}", 6)
    assert list(refused(app, product_id=blue.product_id, delta=1)) == ["variant_id"]
    blue.product.refresh_from_db()
    assert blue.product.stock_qty == 99


def test_records_the_author_and_the_reason(shop, app, installed):
    mug = make_product(shop, "Mug", stock_qty=10)
    adjusted(app, product_id=mug.pk, delta=-2, reason="  Two broke ")
    adjustment = StockAdjustment.objects.get(shop=shop, kind="adjusted")
    assert (adjustment.product, adjustment.variant, adjustment.delta, adjustment.stock_after) == (mug, None, -2, 8)
    assert (adjustment.reason, adjustment.installation) == ("Two broke", installed.installation)
    token = make_token(shop, "read_inventory", "write_inventory")
    adjusted(ApiClient(token), product_id=mug.pk, set=3)
    adjustment = StockAdjustment.objects.filter(shop=shop).first()
    assert (adjustment.delta, adjustment.stock_after, adjustment.installation) == (-5, 3, None)
    assert adjustment.token.ending == token[-4:]


def test_an_event_is_emitted_only_if_the_stock_changes(shop, app):
    mug = make_product(shop, "Mug", stock_qty=10)
    item = adjusted(app, product_id=mug.pk, delta=-2)
    assert [(event.topic, event.data) for event in Event.objects.all()] == [("inventory.updated", item)]
    adjusted(app, product_id=mug.pk, set=8)
    assert Event.objects.count() == 1
    assert StockAdjustment.objects.first().delta == 0


def test_refuses_to_remove_more_than_the_stock(shop, app):
    mug = make_product(shop, "Mug", stock_qty=3)
    answer = app.post(PATH, {"product_id": mug.pk, "delta": -4, "reason": "Lost"})
    assert answer.status_code == 422
    assert error_of(answer) == {
        "message": "Only 3 in stock.",
        "code": "insufficient_stock",
        "errors": {"delta": ["Only 3 in stock."]},
        "available": 3,
    }
    assert list(refused(app, product_id=mug.pk, set=-1)) == ["set"]
    mug.refresh_from_db()
    assert mug.stock_qty == 3
    assert not StockAdjustment.objects.filter(kind="adjusted").exists()
    assert not Event.objects.exists()


@pytest.mark.parametrize("given", [{"allow_backorders": True}, {"track_inventory": False}])
def test_stock_can_be_below_zero_with_backorders_or_untracked(shop, app, given):
    mug = make_product(shop, "Mug", stock_qty=3, **given)
    assert adjusted(app, product_id=mug.pk, delta=-4)["stock_qty"] == -1
    assert adjusted(app, product_id=mug.pk, set=-2)["stock_qty"] == -2


INVALID = [
    ({}, "delta"),
    ({"delta": 1, "set": 1}, "delta"),
    ({"delta": None}, "delta"),
    ({"delta": "1"}, "delta"),
    ({"delta": 1.5}, "delta"),
    ({"delta": True}, "delta"),
    ({"delta": 2**40}, "delta"),
    ({"delta": 2**31 - 1}, "delta"),
    ({"set": "1"}, "set"),
    ({"delta": 1, "reason": ""}, "reason"),
    ({"delta": 1, "reason": "   "}, "reason"),
    ({"delta": 1, "reason": None}, "reason"),
    ({"delta": 1, "reason": "x" * 256}, "reason"),
    ({"delta": 1, "reason": "a\nb"}, "reason"),
    ({"delta": 1, "product_id": "1"}, "product_id"),
    ({"delta": 1, "product_id": 99999}, "product_id"),
    ({"delta": 1, "variant_id": 99999}, "variant_id"),
]


def test_an_invalid_value_is_named_and_nothing_is_written(shop, app):
    mug = make_product(shop, "Mug", stock_qty=10)
    for body, field in INVALID:
        errors = refused(app, **({"product_id": mug.pk} | body))
        assert list(errors) == [field], body
        assert errors[field][0].endswith(".")
    mug.refresh_from_db()
    assert mug.stock_qty == 10


def test_another_shops_stock_looks_like_an_unknown_one(shop, other_shop, app):
    theirs = make_variant(make_product(other_shop, "Theirs"), stock_qty=5)
    mine = make_product(shop, "Mine")
    for body, field in (
        ({"product_id": theirs.product_id}, "product_id"),
        ({"product_id": theirs.product_id, "variant_id": theirs.pk}, "product_id"),
        ({"product_id": mine.pk, "variant_id": theirs.pk}, "variant_id"),
    ):
        known = refused(app, delta=1, **body)
        assert list(known) == [field]
        unknown = {name: id + 1000 if id != mine.pk else id for name, id in body.items()}
        assert refused(app, delta=1, **unknown) == known
    theirs.refresh_from_db()
    assert theirs.stock_qty == 5


def test_refuses_a_deleted_product(shop, app):
    gone = make_product(shop, "Gone", deleted_at="2026-11-21T07:30:00Z")
    assert list(refused(app, product_id=gone.pk, delta=1)) == ["product_id"]


def test_adjusting_needs_the_scope(shop, form):  # noqa: F811
    answer = ApiClient(install(shop, "read_inventory").token, prefix=form).post(PATH, {})
    assert (answer.status_code, answer.json()["required_scopes"]) == (403, ["write_inventory"])


def test_the_same_idempotency_key_adjusts_once(shop, app):
    mug = make_product(shop, "Mug", stock_qty=10)
    body = {"product_id": mug.pk, "delta": 1, "reason": "Found"}
    first, again = (app.post(PATH, body, Idempotency_Key="found-1") for _ in range(2))
    assert (first.status_code, first.json()) == (again.status_code, again.json()) == (201, first.json())
    mug.refresh_from_db()
    assert mug.stock_qty == 11


def test_an_adjustment_takes_at_most_fourteen_queries(shop, app, django_assert_max_num_queries):
    shirt = make_product(shop, "Shirt")
    for number in range(10):
        blue = make_variant(shirt, f"V{number}")
    with django_assert_max_num_queries(14):
        adjusted(app, product_id=shirt.pk, variant_id=blue.pk, delta=1)
    before = blue.stock_qty
    blue.refresh_from_db()
    assert blue.stock_qty == before + 1
