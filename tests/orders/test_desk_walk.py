"""From an order's page to the next and the previous one of the list that it was opened from; its problems first."""

from datetime import timedelta
from decimal import Decimal
from urllib.parse import quote

import pytest
from django.urls import reverse

from storefront.catalogue.models import Product
from storefront.kit import clock
from storefront.orders.fulfilling import fulfil_order
from storefront.orders.models import Order, OrderMail
from storefront.payments.actions import mark_paid
from storefront.payments.models import Payment
from tests.catalogue.factories import make_product
from tests.orders.factories import make_order, sale_line
from tests.pricing.rows import make_zone
from tests.staff import admin_url, make_staff, open_desk


@pytest.fixture
def orders(shop, other_shop) -> list[Order]:
    """Four orders, the oldest first; another shop sold between them."""
    now, found = clock.now(), []
    for place, price in enumerate(("5.00", "9.00", "7.00", "1.00")):
        at = now - timedelta(hours=9 - place)
        mug = make_product(shop, f"Mug {place}", price=Decimal(price), stock_qty=9)
        found.append(make_order(shop, sale_line(mug), now=at))
        make_order(other_shop, sale_line(make_product(other_shop, f"Theirs {place}", stock_qty=9)), now=at)
    return found


def around(desk, order: Order, query: str) -> tuple[int, int]:
    """The places of the orders before and after this one in the list with this query."""
    context = desk.get(f"{admin_url(order, 'change')}?_changelist_filters={quote(query)}").context_data
    links = [context.get(name, "").partition("?")[0].split("/") for name in ("before", "after")]
    return tuple(int(link[-3]) if len(link) > 3 else 0 for link in links)  # type: ignore[return-value]


def test_neighbours_are_those_of_the_list_with_its_filter_search_and_sorting(desk, shop, orders):
    ids = [order.pk for order in orders]
    assert around(desk, orders[1], "") == (ids[2], ids[0])
    assert (around(desk, orders[3], ""), around(desk, orders[0], "")) == ((0, ids[2]), (ids[1], 0))
    # Sorted by the total, the smallest first.
    columns = ["action_checkbox", *desk.get(admin_url(Order, "changelist")).context_data["cl"].list_display]
    by_total = columns[1:].index("sum")
    assert around(desk, orders[0], f"o={by_total}") == (ids[3], ids[2])
    assert around(desk, orders[0], "q=M-none") == (0, 0)
    # An order that has left the list still has neighbours there.
    for place in (1, 2):
        fulfil_order(shop=shop, order=orders[place], now=clock.now())
    assert around(desk, orders[3], "view=to_send") == (0, ids[0])
    assert around(desk, orders[2], "view=to_send") == (ids[3], ids[0])
    assert around(desk, orders[1], "nonsense__x=1&status__exact=open") == (ids[2], ids[0])


def test_the_list_is_known_after_an_action(desk, orders):
    kept = "?_changelist_filters=view%3Dto_send"
    page = desk.get(admin_url(orders[2], "change") + kept)
    assert page.context_data["back_to_list"].endswith("/order/?view=to_send")
    path = page.context_data["deeds"]["fulfil"]["path"]
    answer = desk.post(path, {"_form_submitted": "on"})
    assert answer["Location"] == admin_url(orders[2], "change") + kept


def test_problems_stand_first_with_what_mends_them(desk, shop, other_shop):
    now = clock.now()
    make_zone(shop, countries=["AT"])
    mug = make_product(shop, "Mug", stock_qty=9, allow_backorders=True)
    order = make_order(shop, sale_line(mug, 2), now=now - timedelta(days=5))

    def told(user=desk) -> list[tuple[str, str]]:
        context = user.page(order).context_data
        return [(each.text, each.deed or each.link) for each in context["problems"]]

    zones = ("The delivery address is in none of your delivery zones.", "Delivery zones")
    assert told() == [("€19.00 is not paid yet.", "mark_paid"), zones]
    mark_paid(shop=shop, order=order, now=now)
    Product.objects.filter(pk=mug.pk).update(stock_qty=-3)
    given = {"shop": shop, "order": order, "email": order.email, "subject": "Order", "created_at": now}
    OrderMail.objects.create(kind="order_confirmation", failed_at=now, **given)
    OrderMail.objects.create(kind="order_paid", failed_at=now - timedelta(days=1), **given)
    OrderMail.objects.create(kind="order_paid", sent_at=now, **given)
    Payment.objects.filter(order=order).update(dispute="needs_response")
    assert told() == [
        ("The payment of €19.00 is disputed: needs_response.", "Payment"),
        ("Has waited 5 days to be sent.", "fulfil"),
        zones,
        ("Mug: 3 too few in stock.", "Change stock"),
        ("Order confirmation could not be sent to ada@example.com.", "write"),
    ]
    # A packer sees no payments.
    assert told(open_desk(make_staff(shop, "ben", "fulfilment")))[0] == ("Has waited 5 days to be sent.", "fulfil")
    Order.objects.filter(pk=order.pk).update(shipping_address={"name": "Ada", "country": "DE"})
    assert ("The delivery address lacks: street, city.", "write") in told()
    fulfil_order(shop=shop, order=order, now=now)
    assert [text for text, _mend in told()][1:] == ["Order confirmation could not be sent to ada@example.com."]
    assert reverse("admin:orders_order_write", args=[order.pk]) in desk.page(order).content.decode()
