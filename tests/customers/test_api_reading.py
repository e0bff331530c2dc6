"""Reading customers through both APIs (R-APP-30, R-APP-34)."""

from decimal import Decimal

import pytest

from storefront.kit.clock import timestamp
from storefront.orders.models import Order
from storefront.payments import actions as payments
from tests.addresses import ADDRESS
from tests.answers import error_of, without_id
from tests.carts.factories import make_group
from tests.catalogue.factories import make_product
from tests.client import ApiClient
from tests.customers.conftest import many, one
from tests.customers.factories import add_address, make_customer
from tests.factories.apps import install
from tests.orders.factories import Promise, make_order, sale_line
from tests.shops.factories import NOW


@pytest.fixture
def ada(shop):
    return make_customer(shop, name="Ada Lovelace", phone="0431 1", note="Likes tea.", group=make_group(shop))


def buy(customer, price: str, **given) -> Order:
    mug = make_product(customer.shop, price=Decimal(price))
    return make_order(customer.shop, sale_line(mug), customer_id=customer.pk, **given)


def pay(order: Order) -> None:
    payments.mark_paid(shop=order.shop, order=order, now=NOW)


def test_reads_the_whole_customer(app, ada):
    address = add_address(ada, company="Engines Ltd")
    ada.refresh_from_db()
    found = one(app.get(f"/customers/{ada.pk}"))
    assert found == {
        "id": ada.pk,
        "email": "ada@example.com",
        "pending_email": None,
        "name": "Ada Lovelace",
        "phone": "0431 1",
        "group": {"id": ada.group.pk, "name": "Trade"},
        "note": "Likes tea.",
        "orders_count": 0,
        "total_spent": "0.00",
        "created_at": timestamp(NOW),
        "updated_at": timestamp(NOW),
        "addresses": [
            ADDRESS
            | {"id": address.pk, "company": "Engines Ltd", "line2": "", "region": "", "phone": "", "is_default": True}
        ],
    }


def test_the_list_contains_all_members_except_addresses(app, ada):
    add_address(ada)
    (listed,) = many(app.get("/customers"))
    whole = one(app.get(f"/customers/{ada.pk}"))
    assert listed == {name: value for name, value in whole.items() if name != "addresses"}


def test_the_password_is_in_no_response(app, ada):
    for answer in (app.get("/customers"), app.get(f"/customers/{ada.pk}")):
        assert ada.password.encode() not in answer.content
        assert b"password" not in answer.content
        assert str(ada.session_mark).encode() not in answer.content


def test_counts_orders_not_cancelled_and_adds_up_paid_ones(app, shop, ada):
    pay(buy(ada, "10.00"))
    pay(buy(ada, "5.50"))
    buy(ada, "100.00")
    payments.cancel_order(shop=shop, order=buy(ada, "1000.00"), now=NOW)
    for email in (ada.email, "bob@example.com"):
        make_order(shop, sale_line(make_product(shop)), promise=Promise("manual", Decimal("9.50")), email=email)
    found = one(app.get(f"/customers/{ada.pk}"))
    assert (found["orders_count"], found["total_spent"]) == (4, "15.50")
    assert many(app.get("/customers"))[0]["total_spent"] == "15.50"


def test_refunds_reduce_the_total_spent(app, shop, ada):
    order = buy(ada, "10.00")
    pay(order)
    Order.objects.filter(pk=order.pk).update(payment_status="partially_refunded", refunded="4.00")
    assert one(app.get(f"/customers/{ada.pk}"))["total_spent"] == "6.00"
    Order.objects.filter(pk=order.pk).update(payment_status="refunded", refunded="10.00")
    assert one(app.get(f"/customers/{ada.pk}"))["total_spent"] == "0.00"


def test_newest_customers_come_first(app, shop):
    for name in ("a", "b", "c"):
        make_customer(shop, f"{name}@example.com")
    assert [row["email"][0] for row in many(app.get("/customers"))] == ["c", "b", "a"]


@pytest.mark.parametrize("asked", ["ADA@example.com", "%20ada@example.com"])
def test_finds_a_customer_by_email_in_any_case(app, shop, ada, asked):
    make_customer(shop, "nada@example.com")
    assert [row["id"] for row in many(app.get(f"/customers?email={asked}"))] == [ada.pk]
    assert many(app.get("/customers?email=ada")) == []


def test_pages_follow_one_another(app, shop, form):
    for number in range(5):
        make_customer(shop, f"{number}@example.com")
    first = app.get("/customers?per_page=2").json()
    where = first if form == "/api/v1" else first["pagination"]
    assert (where["current_page"], where["last_page"], where["per_page"], where["total"]) == (1, 3, 2, 5)
    assert where["next_page_url"] == f"{shop.base_url}{form}/customers?per_page=2&page=2"
    assert where["prev_page_url"] is None
    pages = [many(app.get(f"/customers?per_page=2&page={page}")) for page in (1, 2, 3, 4)]
    assert [row["email"][0] for page in pages for row in page] == ["4", "3", "2", "1", "0"]


@pytest.mark.parametrize("query", ["page=0", "page=x", "per_page=0", "email=" + "a" * 255, "email=a%00b"])
def test_names_the_invalid_query_parameter(app, shop, query):
    answer = app.get(f"/customers?{query}")
    assert answer.status_code == 422
    assert list(answer.json()["errors"]) == [query.partition("=")[0]]


@pytest.mark.parametrize("id", ["0", "-1", "x", "9" * 30, "12345678"])
def test_an_unknown_customer_is_a_404(app, shop, id):
    answer = app.get(f"/customers/{id}")
    assert answer.status_code == 404
    assert error_of(answer) == {"message": "Not found.", "code": "not_found"}


def test_another_shops_customer_looks_like_an_unknown_one(app, other_shop, shop):
    secret = make_customer(other_shop, "secret@example.com")
    known, unknown = app.get(f"/customers/{secret.pk}"), app.get(f"/customers/{secret.pk + 1000}")
    assert known.status_code == 404
    assert without_id(known) == without_id(unknown)
    assert many(app.get("/customers")) == []
    assert many(app.get("/customers?email=secret@example.com")) == []


def test_another_shops_orders_do_not_count(app, shop, other_shop, ada):
    pay(make_order(other_shop, sale_line(make_product(other_shop)), email=ada.email))
    assert one(app.get(f"/customers/{ada.pk}"))["orders_count"] == 0


def test_the_write_scope_does_not_allow_reading(shop, form):
    api = ApiClient(install(shop, "write_customers").token, prefix=form)
    for path in ("/customers", "/customers/1"):
        answer = api.get(path)
        assert answer.status_code == 403
        assert answer.json()["required_scopes"] == ["read_customers"]


@pytest.mark.parametrize("count", [1, 12])
def test_a_list_takes_five_queries(app, shop, count, django_assert_num_queries):
    for number in range(count):
        pay(buy(make_customer(shop, f"{number}@example.com", group=make_group(shop, name=f"G{number}")), "5.00"))
    with django_assert_num_queries(5):
        listed = many(app.get("/customers"))
    assert [customer["total_spent"] for customer in listed] == ["5.00"] * count


@pytest.mark.parametrize("count", [1, 12])
def test_a_read_takes_four_queries(app, shop, ada, count, django_assert_num_queries):
    for _ in range(count):
        add_address(ada)
        pay(buy(ada, "5.00"))
    with django_assert_num_queries(4):
        found = one(app.get(f"/customers/{ada.pk}"))
    assert (len(found["addresses"]), found["orders_count"]) == (count, count)


def test_sums_leave_out_orders_in_a_currency_that_the_shop_had_before(app, shop, ada):
    pay(buy(ada, "10.00"))
    pay(buy(ada, "5000.00"))
    ada.orders.filter(total=5000).update(currency="JPY")
    found = one(app.get(f"/customers/{ada.pk}"))
    assert (found["orders_count"], found["total_spent"]) == (2, "10.00")
