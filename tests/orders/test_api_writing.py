"""What every change of an order by the API has in common: scopes, other shops' orders, members that do not fit."""

import pytest

from storefront.orders.models import Order
from storefront.payments import actions as payments
from tests.answers import without_id
from tests.catalogue.factories import make_product
from tests.client import ApiClient
from tests.factories.apps import install
from tests.orders.conftest import one
from tests.orders.factories import make_order, sale_line
from tests.shops.factories import NOW

LONG = "x" * 10_001


@pytest.fixture(params=["", "/fulfilments", "/cancellation", "/refunds"])
def command(request) -> str:
    return request.param


def change(api: ApiClient, order_id: int, command: str, body: dict | None = None):
    """Carry out the command; the empty one changes the note."""
    path = f"/orders/{order_id}{command}"
    return api.post(path, body or {}) if command else api.patch(path, {"note": "x"} | (body or {}))


def state(order: Order) -> list:
    found = Order.objects.get(pk=order.pk)
    children = [[*rows.values_list("pk", flat=True)] for rows in (found.fulfilments, found.refunds)]
    return [found.status, found.note, found.tags, found.updated_at, *children]


def test_another_shops_order_looks_like_an_unknown_one(app, other_shop, command):
    theirs = make_order(other_shop, sale_line(make_product(other_shop)))
    before = state(payments.mark_paid(shop=other_shop, order=theirs, now=NOW))
    known, unknown = (change(app, id, command) for id in (theirs.pk, theirs.pk + 1000))
    assert known.status_code == 404
    assert without_id(known) == without_id(unknown)
    assert state(theirs) == before


def test_requires_the_write_scope(shop, form, paid, command):
    before = state(paid)
    api = ApiClient(install(shop, "read_orders").token, prefix=form)
    assert change(api, paid.pk, command).json()["required_scopes"] == ["write_orders"]
    assert state(paid) == before


def test_without_the_read_scope_only_the_id_is_returned(shop, form, paid, command):
    api = ApiClient(install(shop, "write_orders").token, prefix=form)
    made = one(change(api, paid.pk, command))
    children = {"/fulfilments": paid.fulfilments, "/refunds": paid.refunds}
    assert made == {"id": children[command].get().pk if command in children else paid.pk}


@pytest.mark.parametrize("form", ["/api/v1"])
@pytest.mark.parametrize(
    ("command", "sent", "field"),
    [
        ("/fulfilments", {"lines": []}, "lines"),
        ("/fulfilments", {"lines": [{"line_id": 1}]}, "lines.0.qty"),
        ("/fulfilments", {"lines": [{"line_id": 1, "qty": 0}]}, "lines.0.qty"),
        ("/fulfilments", {"lines": [{"line_id": 1, "qty": 1.5}]}, "lines.0.qty"),
        ("/fulfilments", {"lines": [{"line_id": "1", "qty": 1}]}, "lines.0.line_id"),
        ("/fulfilments", {"lines": [{"line_id": 2**53, "qty": 1}]}, "lines.0.line_id"),
        ("/fulfilments", {"carrier": "x" * 101}, "carrier"),
        ("/fulfilments", {"tracking_number": "a\r\nb"}, "tracking_number"),
        ("/fulfilments", {"tracking_url": "javascript:alert(1)"}, "tracking_url"),
        ("/fulfilments", {"tracking_url": "ftp://example.com/"}, "tracking_url"),
        ("/fulfilments", {"tracking_url": "https://example.com/" + "x" * 2048}, "tracking_url"),
        ("/cancellation", {"restock": "no"}, "restock"),
        ("/cancellation", {"reason": 1}, "reason"),
        ("/cancellation", {"reason": LONG}, "reason"),
        ("/refunds", {"reason": 1}, "reason"),
        ("/refunds", {"restock": 1}, "restock"),
        *(
            ("/refunds", {"amount": amount}, "amount")
            for amount in ("0.00", 5, 5.5, True, "-1.00", "1.005", "1,00", "", "NaN", "1e2", "9" * 13, ["1.00"])
        ),
        ("", {"note": 5}, "note"),
        ("", {"note": None}, "note"),
        ("", {"note": LONG}, "note"),
        ("", {"note": "a\x07b"}, "note"),
        ("", {"tags": "gift"}, "tags"),
        ("", {"tags": ["x"] * 21}, "tags"),
        ("", {"tags": ["gift", "x" * 41]}, "tags.1"),
        *(("", {"tags": [tag]}, "tags.0") for tag in ("", "  ", "a,b", "a\nb", 1)),
        ("", {"client_reference": "x" * 201}, "client_reference"),
        ("", {"client_reference": None}, "client_reference"),
        ("", {"metadata": {"x": 1}}, "metadata"),
        ("", {"metadata": None}, "metadata"),
    ],
)
def test_a_member_that_does_not_fit_is_named_and_changes_nothing(app, paid, form, command, sent, field):
    before = state(paid)
    answer = change(app, paid.pk, command, sent)
    assert (answer.status_code, list(answer.json()["errors"])) == (422, [field])
    assert state(paid) == before
