"""Pre-orders with a date: told wherever they are shown, sent from their date on and not before, and ordinary then."""

from datetime import timedelta

import pytest
from django.core import mail

from storefront.catalogue import actions
from storefront.catalogue.dated.turning import turn_due
from storefront.kit.refusals import InvalidFields
from storefront.orders.dashboard import orders_to_send
from storefront.orders.fulfilling import fulfil_order
from storefront.orders.models import Order
from storefront.orders.sending import NotSentYet, explain
from storefront.webhooks.models import Event
from tests.carts.factories import add, contents
from tests.catalogue.factories import make_product, make_variant
from tests.checkout.shopper import Shopper
from tests.factories.apps import install
from tests.orders.factories import make_order, sale_line
from tests.shops.factories import NOW
from tests.staff import admin_url
from tests.worker import run_due_tasks

# 4 March in Berlin.
DAY = NOW.replace(year=2099, month=3, day=3, hour=23, minute=30)
SAID = "Pre-order, sent from 4 Mar 2099"


def preorder(shop, name="Novel", **given):
    return make_product(shop, name, **{"is_preorder": True, "available_from": DAY, "stock_qty": 9} | given)


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_the_date_goes_with_it_from_the_list_to_the_mail(shop, other_shop, api):
    novel, mug = preorder(shop), make_product(shop, "Mug")
    preorder(other_shop, "Theirs")
    shopper = Shopper(shop)
    assert SAID in shopper.read("/products")
    page = shopper.read("/products/novel")
    assert SAID in page
    assert ">Pre-order</button>" in page
    assert api.get("/products/novel").json()["data"]["available_from"] == "2099-03-03T23:30:00.000000Z"
    token = shopper.bring(api, {"product_id": novel.pk}, {"product_id": mug.pk})
    item, other = contents(api, token)["items"]
    assert (item["available_from"], other["available_from"]) == ("2099-03-03T23:30:00.000000Z", None)
    said = "The pre-order is sent from 4 Mar 2099 on. Everything else is sent earlier"
    for path in ("/basket", "/checkout"):
        text = shopper.read(path)
        assert text.count(SAID) == 1
        assert said in text
    placed = shopper.order()
    assert SAID in shopper.read(placed["Location"].removeprefix(shop.base_url))
    order = Order.objects.get()
    app = install(shop, "read_orders").api
    lines = app.get(f"/orders/{order.pk}").json()["order"]["lines"]
    assert [line["available_from"] for line in lines] == ["2099-03-03T23:30:00.000000Z", None]
    event = Event.objects.get(topic="order.placed")
    assert [line["available_from"] for line in event.data["lines"]] == ["2099-03-03T23:30:00.000000Z", None]
    run_due_tasks()
    assert any(SAID in message.body for message in mail.outbox)


def test_each_variant_of_a_preorder_says_so(shop):
    scarf = preorder(shop, "Scarf", type="variable", stock_qty=0)
    make_variant(scarf, "Blue", stock_qty=3)
    make_variant(scarf, "Red", stock_qty=0)
    text = Shopper(shop).read("/products/scarf")
    assert text.count(f'"note": "{SAID}"') == 1


def test_from_its_date_on_it_sells_like_any_other(shop, api):
    novel = preorder(shop, available_from=NOW)
    assert "Pre-order" not in Shopper(shop).read("/products/novel")
    item = add(api, novel).json()["data"]
    assert item["available_from"] is None
    # The worker makes it an ordinary product, which programs hear.
    install(shop, "read_products", now=NOW)
    assert turn_due(now=NOW, limit=9) == 1
    novel.refresh_from_db()
    assert (novel.is_preorder, novel.available_from, novel.updated_at) == (False, None, NOW)
    assert Event.objects.get(topic="product.updated").data["is_preorder"] is False
    assert turn_due(now=NOW, limit=9) == 0


def test_only_a_preorder_has_a_date(shop):
    mug = make_product(shop, "Mug")
    with pytest.raises(InvalidFields) as refused:
        actions.update_product(shop=shop, product=mug, available_from=DAY, now=NOW)
    assert list(refused.value.errors) == ["available_from"]


def test_it_is_not_sent_before_its_date_unless_it_is_named(shop, other_shop):
    novel, mug = preorder(shop), make_product(shop, "Mug")
    order = make_order(shop, sale_line(novel, available_from=DAY), sale_line(mug))
    make_order(other_shop, sale_line(make_product(other_shop)))
    assert list(orders_to_send(shop, NOW)) == [order]
    fulfil_order(shop=shop, order=order, now=NOW)
    late, sent = order.lines.order_by("pk")
    assert (late.fulfilled_qty, sent.fulfilled_qty) == (0, 1)
    assert not orders_to_send(shop, NOW).exists()
    with pytest.raises(NotSentYet) as refused:
        fulfil_order(shop=shop, order=order, now=NOW)
    assert "sent from 4 Mar 2099 on" in refused.value.text
    order.refresh_from_db()
    assert order.status == "open"
    # On its date it is to do, and sent without being named.
    assert list(orders_to_send(shop, DAY)) == [order]
    fulfil_order(shop=shop, order=order, now=DAY)
    order.refresh_from_db()
    assert order.status == "fulfilled"


def test_only_orders_that_wait_for_a_date_are_listed_as_preorders(desk, shop):
    waiting = make_order(shop, sale_line(preorder(shop), available_from=DAY))
    both = make_order(shop, sale_line(preorder(shop, "Both"), available_from=DAY), sale_line(make_product(shop)))
    file = make_order(shop, sale_line(make_product(shop, "File"), is_digital=True))
    Order.objects.filter(pk=file.pk).update(status="open")
    for view, listed in (("waiting", [waiting]), ("to_send", [both])):
        page = desk.get(admin_url(Order, "changelist"), {"view": view})
        assert list(page.context_data["cl"].result_list) == listed


def test_naming_it_sends_it_before(shop):
    order = make_order(shop, sale_line(preorder(shop), available_from=DAY))
    app = install(shop, "write_orders", "read_orders").api
    refused = app.post(f"/orders/{order.pk}/fulfilments", {})
    assert (refused.status_code, refused.json()["code"]) == (422, "preorder_not_due")
    line = order.lines.get()
    assert app.post(f"/orders/{order.pk}/fulfilments", {"lines": [{"line_id": line.pk, "qty": 1}]}).status_code == 201
    order.refresh_from_db()
    assert order.status == "fulfilled"


class Line:
    def __init__(self, available_from=None):
        self.available_from = available_from


LATER = DAY + timedelta(days=9)


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([], ""),
        ([None, NOW], ""),
        ([DAY], "This is a pre-order. It is sent from 4 Mar 2099 on."),
        ([DAY, DAY], "This is a pre-order. Each item is sent from 4 Mar 2099 on."),
        ([DAY, LATER], "This is a pre-order. Each item is sent from its own date on."),
        (
            [DAY, LATER, None],
            "Each pre-order is sent from its own date on. Everything else is sent earlier, without waiting for it.",
        ),
    ],
)
def test_what_becomes_of_an_order_is_said(shop, lines, said):
    assert explain([Line(each) for each in lines], shop, NOW) == said


def test_what_needs_no_sending_is_nothing_to_do(shop):
    """Of an order of a pre-order and a download, nothing can be sent before the date."""
    pattern = sale_line(make_product(shop, "Pattern", type="digital"), is_digital=True, uses=())
    order = make_order(shop, sale_line(preorder(shop), available_from=DAY), pattern)
    assert not orders_to_send(shop, NOW).exists()
    assert list(orders_to_send(shop, DAY)) == [order]
