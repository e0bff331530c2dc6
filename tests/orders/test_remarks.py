"""The shop's own note and tags on an order, over the API."""

import pytest

from storefront.orders.models import Order
from tests.answers import error_of, without_id
from tests.catalogue.factories import make_product
from tests.client import ApiClient
from tests.factories.apps import install
from tests.orders.conftest import one
from tests.orders.factories import make_order, sale_line


def test_changes_only_the_members_that_are_sent(app, order):
    answer = app.patch(f"/orders/{order.pk}", {"note": "Call first.\nThen send."})
    assert answer.status_code == 200
    assert one(answer)["note"] == "Call first.\nThen send."
    changed = one(app.patch(f"/orders/{order.pk}", {"tags": ["gift", " late "]}))
    assert (changed["note"], changed["tags"]) == ("Call first.\nThen send.", ["gift", "late"])
    assert changed == one(app.get(f"/orders/{order.pk}"))


def test_note_and_tags_can_be_emptied(app, order):
    app.patch(f"/orders/{order.pk}", {"note": "x", "tags": ["y"]})
    emptied = one(app.patch(f"/orders/{order.pk}", {"note": "", "tags": []}))
    assert (emptied["note"], emptied["tags"]) == ("", [])


def test_nothing_but_note_and_tags_can_be_changed(app, order):
    before = one(app.get(f"/orders/{order.pk}"))
    answer = app.patch(f"/orders/{order.pk}", {"total": "0.00", "email": "x@example.com", "x": 1})
    assert {**one(answer), "updated_at": ""} == {**before, "updated_at": ""}
    assert answer["X-Ignored"] == "total, email, x"


@pytest.mark.rule("R-CALL-32")
def test_what_reads_like_a_command_is_refused_and_names_the_operation(app, order, form):
    before = app.get(f"/orders/{order.pk}").json()
    answer = app.patch(f"/orders/{order.pk}", {"note": "x", "status": "cancelled", "payment_status": "refunded"})
    path = f"POST {form}/orders/{order.pk}"
    assert (answer.status_code, error_of(answer)["errors"]) == (
        422,
        {
            "status": [f"status cannot be set. Use {path}/fulfilments or {path}/cancellation."],
            "payment_status": [f"payment_status cannot be set. Use {path}/refunds."],
        },
    )
    assert answer.json()["problems"][1]["endpoint"] == [f"{path}/refunds"]
    assert app.get(f"/orders/{order.pk}").json() == before


@pytest.mark.parametrize(
    ("sent", "field"),
    [
        ({"note": 5}, "note"),
        ({"note": None}, "note"),
        ({"note": "x" * 10_001}, "note"),
        ({"note": "a\x07b"}, "note"),
        ({"tags": "gift"}, "tags"),
        ({"tags": ["x"] * 21}, "tags"),
        ({"tags": ["gift", "x" * 41]}, "tags.1"),
        ({"tags": [""]}, "tags.0"),
        ({"tags": ["  "]}, "tags.0"),
        ({"tags": ["a,b"]}, "tags.0"),
        ({"tags": ["a\nb"]}, "tags.0"),
        ({"tags": [1]}, "tags.0"),
    ],
)
def test_invalid_member_is_named_and_changes_nothing(app, order, sent, field):
    answer = app.patch(f"/orders/{order.pk}", sent)
    assert answer.status_code == 422
    assert list(answer.json()["errors"]) == [field]
    order.refresh_from_db()
    assert (order.note, order.tags) == ("", [])


def test_accepts_twenty_tags_of_forty_characters(app, order):
    tags = [f"{number:040}" for number in range(20)]
    assert one(app.patch(f"/orders/{order.pk}", {"tags": tags}))["tags"] == tags


def test_another_shops_order_is_not_changed(app, other_shop):
    theirs = make_order(other_shop, sale_line(make_product(other_shop)))
    known = app.patch(f"/orders/{theirs.pk}", {"note": "Mine now."})
    unknown = app.patch(f"/orders/{theirs.pk + 1000}", {"note": "Mine now."})
    assert known.status_code == 404
    assert without_id(known) == without_id(unknown)
    assert Order.objects.get(pk=theirs.pk).note == ""


def test_read_scope_does_not_allow_changes(shop, form, order):
    api = ApiClient(install(shop, "read_orders").token, prefix=form)
    assert api.patch(f"/orders/{order.pk}", {"note": "x"}).json()["required_scopes"] == ["write_orders"]


def test_without_the_read_scope_only_the_id_is_returned(shop, form, order):
    api = ApiClient(install(shop, "write_orders").token, prefix=form)
    assert one(api.patch(f"/orders/{order.pk}", {"note": "x"})) == {"id": order.pk}
    order.refresh_from_db()
    assert order.note == "x"
