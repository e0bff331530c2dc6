"""What an integration gives with a checkout link: checked, carried to the order, and found there again."""

from datetime import timedelta
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4

import pytest
import time_machine

from storefront.carts.models import Arrival, CheckoutLink
from storefront.checkout.link import delete_expired_links
from storefront.kit import clock
from storefront.orders.models import Order
from storefront.shops.models import AllowedOrigin
from storefront.webhooks.models import Event
from tests.carts.factories import contents
from tests.catalogue.factories import make_product
from tests.checkout.shopper import Shopper, fill_cart
from tests.client import ApiClient
from tests.customers.factories import make_customer
from tests.factories.apps import install
from tests.orders.factories import make_order, sale_line
from tests.shops.factories import make_token
from tests.walker import Walker

GIVEN = {
    "return_url": "https://www.example.com/thanks?order={ORDER_NUMBER}",
    "cancel_url": "https://www.example.com/cart",
    "client_reference": "session-4711",
    "metadata": {"campaign": "autumn", "<b>name</b>": "<script>alert(1)</script>"},
}


@pytest.fixture(autouse=True)
def allowed(shop) -> None:
    AllowedOrigin.objects.create(shop=shop, origin="https://www.example.com")


@pytest.fixture
def cart(api, mug) -> str:
    return fill_cart(api, {"product_id": mug.pk})


def ask(api: ApiClient, cart: str, given=None, **headers):
    return api.post("/cart/checkout", given, cart=cart, **headers)


def link(api: ApiClient, cart: str, given=None) -> str:
    answer = ask(api, cart, given)
    assert answer.status_code == 200, answer.content
    return answer.json()["checkout_url"]


def named_cart(url: str) -> str:
    return parse_qs(urlsplit(url).query)["cart"][0]


def bought(shopper: Shopper, url: str) -> Order:
    shopper.arrive(url)
    assert shopper.order().status_code == 303
    return Order.objects.latest("pk")


@pytest.mark.rule("R-LINK-1", "R-LINK-20")
@pytest.mark.parametrize("body", [None, {}, {"return_url": None, "client_reference": None, "metadata": None}, {"x": 1}])
def test_every_member_of_the_body_can_be_left_out(api, cart, shopper, body):
    answer = ask(api, cart, body)
    assert (answer.status_code, list(answer.json())) == (200, ["cart_token", "checkout_url", "expires_in", "problems"])
    order = bought(shopper, answer.json()["checkout_url"])
    record = api.get(f"/orders/{order.pk}").json()["data"]
    assert [record[name] for name in GIVEN] == [None, None, None, {}]


@pytest.mark.rule("R-LINK-22")
def test_what_was_given_is_in_the_order_its_event_and_both_apis(shop, api, cart, shopper):
    url = link(api, cart, GIVEN)
    order = bought(shopper, url)
    expected = GIVEN | {"cart": named_cart(url)}
    for record in (
        api.get(f"/orders/{order.pk}").json()["data"],
        install(shop, "read_orders").api.get(f"/orders/{order.pk}").json()["order"],
        Event.objects.get(topic="order.placed").data,
    ):
        assert {name: record[name] for name in expected} == expected


@pytest.mark.rule("R-CART-36")
def test_the_cart_says_which_order_was_placed(api, cart, shopper):
    order = bought(shopper, link(api, cart, GIVEN))
    (placed,) = contents(api, cart)["orders"]
    assert (placed["id"], placed["number"]) == (order.pk, order.number)
    assert placed["placed_at"] == api.get(f"/orders/{order.pk}").json()["data"]["placed_at"]


@pytest.mark.rule("R-LINK-24")
@pytest.mark.parametrize("prefix", ["/api/v1", "/api/apps"])
def test_orders_are_found_by_reference_cart_and_email_in_their_own_shop_only(
    shop, other_shop, api, cart, shopper, prefix
):
    url = link(api, cart, GIVEN)
    order = bought(shopper, url)
    same = {"attribution": {"client_reference": GIVEN["client_reference"]}, "email": order.email}
    make_order(other_shop, sale_line(make_product(other_shop)), **same)
    make_order(shop, sale_line(make_product(shop)), email="else@example.com")
    app = ApiClient(install(shop, "read_orders").token, prefix=prefix)

    def found(query: str) -> list[int]:
        body = app.get(f"/orders?{query}").json()
        return [record["id"] for record in body.get("orders", body.get("data"))]

    for query in ("client_reference=session-4711", f"cart={named_cart(url)}", "email=ADA@example.com"):
        assert found(query) == [order.pk], query
    assert found(f"client_reference=session-4711&cart={named_cart(url)}&status=open") == [order.pk]
    for query in ("client_reference=session", f"cart={uuid4()}", "email=ada@example.co", "email=da@example.com"):
        assert found(query) == [], query


@pytest.mark.rule("R-LINK-24")
@pytest.mark.parametrize(("query", "field"), [("cart=x", "cart"), ("client_reference=", "client_reference")])
def test_a_filter_that_does_not_fit_is_named(api, query, field):
    answer = api.get(f"/orders?{query}")
    assert (answer.status_code, list(answer.json()["errors"])) == (422, [field])


def test_a_page_of_found_orders_keeps_its_filters(shop, api):
    for _ in range(2):
        make_order(shop, sale_line(make_product(shop)), attribution={"client_reference": "a b"})
    page = api.get("/orders?client_reference=a+b&per_page=1").json()
    assert page["total"] == 2
    following = api.get(page["next_page_url"].removeprefix(f"{shop.base_url}/api/v1")).json()
    assert [following["total"], following["to"]] == [2, 2]


@pytest.mark.rule("R-LINK-20")
@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"return_url": "/thanks"}, "return_url"),
        ({"return_url": "javascript:alert(1)"}, "return_url"),
        ({"return_url": "ftp://www.example.com/"}, "return_url"),
        ({"return_url": "https://www.example.com/" + "x" * 2048}, "return_url"),
        ({"return_url": "https://www.exam\tple.com/"}, "return_url"),
        ({"cancel_url": 5}, "cancel_url"),
        ({"client_reference": ""}, "client_reference"),
        ({"client_reference": "x" * 201}, "client_reference"),
        ({"client_reference": 5}, "client_reference"),
        ({"metadata": []}, "metadata"),
        ({"metadata": {"n": 1}}, "metadata"),
        ({"metadata": {"": "x"}}, "metadata"),
        ({"metadata": {"x" * 41: "x"}}, "metadata"),
        ({"metadata": {"x": "x" * 501}}, "metadata"),
        ({"metadata": {str(number): "" for number in range(21)}}, "metadata"),
        ({"metadata": {"x": "a\0b"}}, "metadata"),
    ],
)
def test_a_member_that_does_not_fit_is_named_and_no_link_is_made(api, cart, given, field):
    answer = ask(api, cart, given)
    assert (answer.status_code, list(answer.json()["errors"])) == (422, [field])
    assert not CheckoutLink.objects.exists()


@pytest.mark.rule("R-LINK-20")
def test_the_limits_can_be_reached(api, cart, shopper):
    given = {"client_reference": "x" * 200, "metadata": {f"{number:040}": "ü" * 500 for number in range(20)}}
    order = bought(shopper, link(api, cart, given))
    assert (order.client_reference, order.metadata) == (given["client_reference"], given["metadata"])


@pytest.mark.rule("R-LINK-21")
@pytest.mark.parametrize(
    "url",
    [
        "https://evil.example/",
        "http://www.example.com/",
        "https://www.example.com:8443/",
        "https://www.example.com.evil.example/",
        "https://www.example.com@evil.example/",
        "https://ada:secret@www.example.com/",
        "https://www.example.com\\@evil.example/",
        "https://theirs.example.com/",
    ],
)
def test_other_origins_are_refused_and_the_merchant_is_told_where_to_allow_them(api, other_shop, cart, url):
    AllowedOrigin.objects.create(shop=other_shop, origin="https://theirs.example.com")
    for field in ("return_url", "cancel_url"):
        answer = ask(api, cart, {field: url})
        assert (answer.status_code, list(answer.json()["errors"])) == (422, [field])
        (message,) = answer.json()["errors"][field]
        assert "secret" not in message
        if answer.json()["code"] == "origin_not_allowed" and "@" not in url:
            assert "Allowed origins" in message
    assert not CheckoutLink.objects.exists()


@pytest.mark.rule("R-LINK-21")
@pytest.mark.parametrize("url", ["HTTPS://WWW.Example.com/a?b#c", "https://www.example.com:443", ""])
def test_an_allowed_origin_is_compared_as_browsers_do(api, cart, url):
    assert ask(api, cart, {"return_url": url}).status_code == 200


@pytest.mark.rule("R-LINK-23")
def test_the_confirmation_leads_back_with_the_number_where_it_was_asked_for(api, cart, shopper):
    order = bought(shopper, link(api, cart, GIVEN))
    page = shopper.read(f"/orders/{order.public_id}")
    assert (
        f'href="https://www.example.com/thanks?order={order.number}" rel="noreferrer">Back to www.example.com<' in page
    )


@pytest.mark.slow
@pytest.mark.rule("R-LINK-23")
def test_basket_and_every_step_lead_back_until_the_items_are_gone(shop, api, cart, mug, shopper):
    shopper.arrive(link(api, cart, GIVEN))
    back = 'href="https://www.example.com/cart" rel="noreferrer">go back to www.example.com<'
    shopper.fill_details()
    for path in ("/basket", "/checkout", "/checkout/delivery", "/checkout/payment"):
        assert back in shopper.read(path), path
    shopper.post("/basket/add", {"product": make_product(shop).pk, "qty": "1"})
    shopper.post("/basket/update", {"key": f"p{mug.pk}", "qty": "0"})
    assert back not in shopper.read("/basket")
    assert back not in shopper.read("/checkout")


@pytest.mark.rule("R-LINK-22")
def test_an_order_without_items_of_the_link_has_nothing_of_it(shop, api, cart, mug, shopper):
    shopper.arrive(link(api, cart, GIVEN))
    shopper.post("/basket/add", {"product": make_product(shop, stock_qty=5).pk, "qty": "1"})
    shopper.post("/basket/update", {"key": f"p{mug.pk}", "qty": "0"})
    shopper.order()
    order = Order.objects.get()
    assert (order.client_reference, order.metadata, order.checkout_link) == ("", {}, None)


@pytest.mark.rule("R-LINK-22")
def test_of_several_links_the_last_one_followed_counts(api, cart, pot, shopper):
    other = fill_cart(api, {"product_id": pot.pk})
    first, second = link(api, cart, {"client_reference": "first"}), link(api, other, {"client_reference": "second"})
    shopper.arrive(second)
    order = bought(shopper, first)
    assert (order.client_reference, str(order.checkout_link)) == ("first", named_cart(first))
    assert [contents(api, token)["orders"][0]["id"] for token in (cart, other)] == [order.pk] * 2


@pytest.mark.rule("R-LINK-22")
def test_a_second_link_of_the_same_cart_replaces_the_first(api, cart, shopper):
    shopper.arrive(link(api, cart, GIVEN))
    order = bought(shopper, link(api, cart, {"client_reference": "second"}))
    assert (order.client_reference, order.metadata, order.return_url) == ("second", {}, "")


def test_it_is_kept_while_a_session_can_still_copy_the_cart(shop, api, cart, shopper):
    begun = clock.now()
    with time_machine.travel(begun, tick=False):
        url = link(api, cart, GIVEN)
    with time_machine.travel(begun + timedelta(minutes=59), tick=False):
        shopper.follow(url)
    with time_machine.travel(begun + timedelta(minutes=118), tick=False):
        delete_expired_links(now=clock.now(), limit=9)
        assert shopper.get("/checkout").status_code == 200
    assert Arrival.objects.get().client_reference == "session-4711"


def test_it_survives_the_way_between_two_hosts(apart, shop, api, cart):
    Walker(shop).go(link(api, cart, GIVEN))
    assert Arrival.objects.get().client_reference == "session-4711"


@pytest.mark.rule("R-LINK-22")
def test_a_merge_at_sign_in_keeps_it(shop, api, cart, shopper):
    make_customer(shop)
    shopper.arrive(link(api, cart, GIVEN))
    shopper.sign_in()
    shopper.order()
    assert Order.objects.get().client_reference == "session-4711"


@pytest.mark.slow
def test_the_admin_shows_it_escaped(api, cart, shopper, desk):
    order = bought(shopper, link(api, cart, GIVEN))
    page = desk.page(order).content.decode()
    assert "session-4711" in page
    assert "<dt>&lt;b&gt;name&lt;/b&gt;</dt><dd>&lt;script&gt;alert(1)&lt;/script&gt;</dd>" in page
    assert "<script>alert(1)" not in page


def test_shoppers_do_not_see_reference_and_metadata(api, cart, shopper):
    order = bought(shopper, link(api, cart, GIVEN))
    page = shopper.read(f"/orders/{order.public_id}")
    for secret in ("session-4711", "autumn"):
        assert secret not in page


@pytest.mark.rule("R-LINK-20")
def test_the_same_key_with_another_body_is_refused(api, cart):
    first = ask(api, cart, GIVEN, Idempotency_Key="k1")
    assert ask(api, cart, GIVEN, Idempotency_Key="k1").json() == first.json()
    assert ask(api, cart, {}, Idempotency_Key="k1").json()["code"] == "idempotency_mismatch"


def test_a_caller_without_the_scope_learns_nothing(shop, cart):
    api = ApiClient(make_token(shop, "read_cart"))
    assert ask(api, cart, {"return_url": "https://evil.example/"}).status_code == 403
