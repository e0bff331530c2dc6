"""Customers and guests with what they bought, read from the orders."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from storefront.customers.models import Customer
from storefront.kit import clock
from storefront.orders.models import Order, OrderMail
from storefront.payments.actions import mark_paid
from storefront.privacy.actions import erase_now
from tests.catalogue.factories import make_product
from tests.customers.factories import make_customer
from tests.orders.factories import make_order, sale_line
from tests.staff import admin_url, make_staff, open_desk

# Some of its orders are changed by hand.
pytestmark = pytest.mark.disagrees

GUESTS = "/admin/customers/customer/guests/"


def sold(shop, price: str, email: str, *, days: int = 0, paid: bool = True, **given) -> Order:
    now = clock.now()
    product = make_product(shop, price=Decimal(price), stock_qty=5)
    order = make_order(shop, sale_line(product), email=email, now=now - timedelta(days=days), **given)
    return mark_paid(shop=shop, order=order, now=now) if paid else order


@pytest.fixture
def sales(shop, other_shop) -> Customer:
    ada = make_customer(shop, email="ada@example.com", name="Ada", password="")
    sold(shop, "10.10", "Ada@Example.com", customer_id=ada.pk)
    # Nobody has proved the address yet, and all the same it is one person.
    sold(shop, "5.05", "ADA@example.com", days=3)
    sold(shop, "1.00", "ada@example.com", paid=False)
    order = sold(shop, "7.00", "Guest@example.com", days=2)
    Order.objects.filter(pk=order.pk).update(refunded=Decimal("2.50"))
    sold(shop, "3.30", "guest@example.com", days=9)
    sold(shop, "99.00", "rich@example.com", days=20)
    sold(other_shop, "50.00", "guest@example.com")
    sold(other_shop, "50.00", "theirs@example.com")
    return ada


def guests(desk, query: str = "") -> list[tuple[str, str, str]]:
    return [(row["guest"].email, row["count"], row["sum"]) for row in desk.get(GUESTS + query).context_data["rows"]]


def test_guests_are_listed_once_by_their_last_order(desk, sales, monkeypatch):
    guest, rich = ("guest@example.com", "2", "€7.80"), ("rich@example.com", "1", "€99.00")
    assert guests(desk) == [guest, rich]
    assert guests(desk, "?q=rich") == [rich]
    assert guests(desk, "?q=theirs") == []
    monkeypatch.setattr("storefront.orders.admin_customers.GUESTS_PER_PAGE", 1)
    assert guests(desk) == [guest]
    following = desk.get(GUESTS).context_data["after"]
    assert guests(desk, following) == [rich]
    assert not desk.get(GUESTS + following).context_data["after"]
    assert guests(desk, "?after=nonsense_1") == [guest]
    packer = open_desk(make_staff(sales.shop, "ben", "fulfilment"))
    assert packer.get(GUESTS).status_code == 403


def test_a_guest_with_many_orders_is_compared_once(desk, shop, sales, monkeypatch):
    """Else each read of the list would go through thousands of orders of one guest."""
    monkeypatch.setattr("storefront.orders.people.READ_AT_ONCE", 1)
    # An order of an account at the address hides none of the guest's behind it.
    sold(shop, "1.00", "rich@example.com", customer_id=sales.pk)
    with CaptureQueriesContext(connection) as found:
        assert [email for email, _count, _sum in guests(desk)] == ["guest@example.com", "rich@example.com"]
    compared = [each["sql"] for each in found if "MAX(" in each["sql"] and "refunded" not in each["sql"]]
    assert len(compared) == 2


def test_a_customer_has_the_guest_orders_of_the_address(desk, shop, sales):
    page = desk.get(admin_url(Customer, "changelist"))
    (row,) = page.context_data["cl"].result_list
    assert (row.bought.count, row.bought.sums) == (3, {"EUR": Decimal("15.15")})
    assert "€15.15" in page.content.decode()
    Order.objects.filter(shop=shop, email="ADA@example.com").update(currency="USD")
    shown = desk.page(sales).content.decode()
    assert "3 orders, €10.10 + $5.05 paid" in shown
    assert desk.get(f"{GUESTS}?email=ADA@example.com")["Location"] == admin_url(sales, "change")


def test_a_guests_page_shows_everything_and_leads_to_erasing(desk, shop, sales):
    order = Order.objects.filter(shop=shop, email="Guest@example.com").get()
    now = clock.now()
    given = {"kind": "message", "email": order.email, "subject": "About your mug", "created_at": now, "sent_at": now}
    OrderMail.objects.create(shop=shop, order=order, **given)
    page = desk.get(f"{GUESTS}?email=Guest@example.com").content.decode()
    for text in ("2 orders", "About your mug", "Hafenstraße 1", admin_url(order, "change"), "/admin/privacy/"):
        assert text in page
    assert desk.get(f"{GUESTS}?email=theirs@example.com").status_code == 404
    Order.objects.filter(shop=shop, email__iexact="guest@example.com").update(status="fulfilled")
    erase_now(shop=shop, email="guest@example.com", now=now)
    assert guests(desk) == [("rich@example.com", "1", "€99.00")]
    assert desk.get(f"{GUESTS}?email=guest@example.com").status_code == 404


def test_the_lists_ask_as_much_of_many_people(desk, shop, sales):
    def asked(url: str) -> int:
        desk.get(url)
        with CaptureQueriesContext(connection) as found:
            assert desk.get(url).status_code == 200
        return len(found)

    urls = (GUESTS, admin_url(Customer, "changelist"))
    few = [asked(url) for url in urls]
    for place in range(5):
        sold(shop, "1.00", f"more{place}@example.com")
        make_customer(shop, email=f"account{place}@example.com")
    assert [asked(url) for url in urls] == few
