"""`order.updated`, `refund.failed`, and what of an order can be changed: by the API and in the admin."""

import pytest

from storefront.kit import clock
from storefront.payments.jobs import pay_back_refunds
from storefront.payments.models import Payment, Refund
from storefront.payments.refunds import request_refund
from storefront.webhooks.models import Event
from tests.catalogue.factories import make_product
from tests.orders.conftest import one
from tests.orders.factories import make_order, sale_line


def updates() -> list[dict]:
    return [event.data for event in Event.objects.filter(topic="order.updated").order_by("pk")]


@pytest.mark.rule("R-HOOK-26")
@pytest.mark.parametrize(
    "change",
    [{"note": "Call"}, {"tags": ["gift"]}, {"client_reference": "A-1"}, {"metadata": {"a": "b"}}],
)
def test_a_change_by_the_api_is_one_event_with_the_order(app, order, change):
    record = one(app.patch(f"/orders/{order.pk}", change))
    assert {name: record[name] for name in change} == change
    assert updates() == [record]


@pytest.mark.rule("R-HOOK-26")
def test_what_changes_nothing_is_no_event(app, order):
    app.patch(f"/orders/{order.pk}", {"note": "Call"})
    for change in ({}, {"note": "Call"}, {"tags": [], "metadata": {}}):
        assert app.patch(f"/orders/{order.pk}", change).status_code == 200
    assert len(updates()) == 1


@pytest.mark.rule("R-HOOK-26")
def test_a_change_in_the_admin_is_an_event(order, desk):
    desk.fill(order, note="From the desk", tags="gift")
    (data,) = updates()
    assert (data["note"], data["tags"]) == ("From the desk", ["gift"])
    desk.fill(order)
    assert len(updates()) == 1


def test_the_admin_keeps_what_an_app_changed_meanwhile(app, order, desk):
    app.patch(f"/orders/{order.pk}", {"tags": ["gift"]})
    desk.fill(order, note="From the desk")
    order.refresh_from_db()
    assert (order.note, order.tags) == ("From the desk", ["gift"])


def test_reference_and_metadata_are_replaced_and_removed(app, order):
    path = f"/orders/{order.pk}"
    app.patch(path, {"client_reference": "A-1", "metadata": {"a": "b"}})
    changed = one(app.patch(path, {"metadata": {"c": "d"}}))
    assert (changed["client_reference"], changed["metadata"]) == ("A-1", {"c": "d"})
    emptied = one(app.patch(path, {"client_reference": "", "metadata": {}}))
    assert (emptied["client_reference"], emptied["metadata"]) == (None, {})


@pytest.mark.rule("R-HOOK-26")
def test_a_failed_refund_is_an_event_with_the_refund(shop, other_shop, paid):
    make_order(other_shop, sale_line(make_product(other_shop)))
    Payment.objects.filter(order=paid).update(gateway="gone")
    request_refund(shop=shop, order=paid, now=clock.now())
    assert pay_back_refunds(now=clock.now(), limit=9) == 1
    event, refund = Event.objects.get(topic="refund.failed"), Refund.objects.get()
    assert (event.shop, event.data["id"], event.data["order_id"]) == (shop, refund.pk, paid.pk)
    assert (event.data["status"], event.data["failure"]) == ("failed", refund.failure)
    assert event.data["amount"] == "48.50"
    assert not Event.objects.filter(topic="order.refunded").exists()
