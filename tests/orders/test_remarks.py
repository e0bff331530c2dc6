"""The shop's own note and tags on an order, over the API."""

import pytest

from tests.answers import error_of
from tests.orders.conftest import one


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


def test_accepts_twenty_tags_of_forty_characters(app, order):
    tags = [f"{number:040}" for number in range(20)]
    assert one(app.patch(f"/orders/{order.pk}", {"tags": tags}))["tags"] == tags
