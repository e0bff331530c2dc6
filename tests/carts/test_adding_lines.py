"""POST /cart/lines: several lines at once, all or none."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from storefront.carts.models import Cart, CartLine
from storefront.pricing.models import Discount
from storefront.shops.models import Shop
from storefront.webhooks.models import Event
from tests.answers import error_of
from tests.carts.factories import add, contents, filled, make_bundle, quantities
from tests.catalogue.factories import make_option, make_product, make_variant
from tests.client import ApiClient
from tests.shops.factories import make_token


def line(product, qty: int = 1, **more) -> dict:
    return {"product_id": product.pk, "qty": qty} | more


def add_lines(api: ApiClient, *lines: dict, cart: str | None = None, dry_run: str | None = None, **headers):
    path = "/cart/lines" if dry_run is None else f"/cart/lines?dry_run={dry_run}"
    return api.post(path, {"lines": list(lines)}, cart=cart, **headers)


def state(shop: Shop) -> list:
    """All carts and lines of the shop."""
    carts = Cart.objects.filter(shop=shop).order_by("pk").values()
    return [*carts, *CartLine.objects.filter(shop=shop).order_by("pk").values()]


@pytest.fixture
def mug(shop):
    return make_product(shop, "Mug", price="9.50", stock_qty=10)


@pytest.fixture
def pot(shop):
    return make_product(shop, "Pot", price="20.00", stock_qty=10)


@pytest.mark.rule("R-CART-38")
def test_several_lines_make_a_cart_that_is_answered_as_a_read_shows_it(api, mug, pot):
    answer = add_lines(api, line(mug, 2), line(pot))
    body = answer.json()
    assert (answer.status_code, list(body)) == (201, ["message", "cart_token", "data"])
    assert body["data"] == contents(api, body["cart_token"])
    assert [(item["name_snapshot"], item["qty"]) for item in body["data"]["items"]] == [("Mug", 2), ("Pot", 1)]
    assert body["data"]["totals"]["total"] == "39.00"


@pytest.mark.rule("R-CART-38")
def test_lines_are_added_to_an_existing_cart_and_equal_lines_add_up(api, mug, pot):
    token = filled(api, mug)
    answer = add_lines(api, line(pot), line(mug, 2), line(pot, 3), cart=token)
    assert (answer.json()["cart_token"], answer.json()["data"]) == (token, contents(api, token))
    assert quantities(api, token) == {f"p{mug.pk}": 3, f"p{pot.pk}": 4}


@pytest.mark.rule("R-CART-38")
def test_each_line_is_what_a_single_add_makes(shop, api, mug):
    shirt = make_product(shop, "Shirt")
    blue = make_variant(shirt, stock_qty=5)
    ring = make_product(shop, "Ring", allow_custom_price=True, damaged_qty=3, damaged_price="1.00", stock_qty=9)
    option = make_option(ring, required=True)
    chosen = {str(option.pk): option.values.first().pk}
    wanted = [
        line(shirt, 2, variant_id=blue.pk),
        line(ring, options=chosen, custom_price="30.00"),
        line(ring, options=chosen, is_damaged=True),
        line(ring, options=chosen, custom_fields=[{"name": "Text", "value": "Hi"}]),
        line(make_bundle(shop, parts={mug: 2})),
    ]
    one_by_one = None
    for each in wanted:
        one_by_one = api.post("/cart", each, cart=one_by_one).json()["cart_token"]
    assert add_lines(api, *wanted).json()["data"] == contents(api, one_by_one)


@pytest.mark.rule("R-CART-38", "R-CART-12")
def test_a_line_that_the_cart_has_gets_todays_price(api, mug):
    token = filled(api, mug)
    type(mug).objects.filter(pk=mug.pk).update(price="11.00", name="Big mug")
    (item,) = add_lines(api, line(mug), cart=token).json()["data"]["items"]
    assert (item["qty"], item["price_snapshot"], item["name_snapshot"]) == (2, "11.00", "Big mug")
    assert contents(api, token)["items"] == [item]


@pytest.mark.rule("R-CART-39")
def test_every_line_that_cannot_be_added_is_named_and_none_is(shop, api, mug, pot, other_shop):
    option = make_option(make_product(shop, "Ring"), required=True)
    token = filled(api, mug)
    before = state(shop)
    answer = add_lines(
        api,
        line(mug),
        line(make_product(other_shop)),
        line(pot, 11),
        line(option.product),
        line(mug, 9999),
        cart=token,
    )
    body = answer.json()
    assert (answer.status_code, body["code"]) == (422, "invalid_lines")
    assert body["message"] == "Nothing was added, because 4 lines cannot be added."
    assert body["errors"] == {
        "lines.1.product_id": ["This product is not available."],
        "lines.2.qty": ["Not enough stock of Pot. Only 10 more available."],
        "lines.3.options": [f"Please choose {option.name}."],
        "lines.4.qty": ["Not enough stock of Mug. Only 8 more available."],
    }
    assert [(problem["field"], problem["code"], problem.get("available")) for problem in body["problems"]] == [
        ("lines.1.product_id", "product_unavailable", None),
        ("lines.2.qty", "insufficient_stock", 10),
        ("lines.3.options", "option_required", None),
        ("lines.4.qty", "insufficient_stock", 8),
    ]
    assert state(shop) == before


@pytest.mark.rule("R-CART-39")
def test_each_refused_variant_comes_with_those_on_offer_in_a_fixed_number_of_queries(shop, api):
    shirts = [make_product(shop, f"Shirt {number}") for number in range(20)]
    blues = [make_variant(shirt, name="Blue") for shirt in shirts]
    counts = []
    for number in (1, 20):
        lines = [line(shirt) for shirt in shirts[:number]] + [
            line(shirt, variant_id=10**6) for shirt in shirts[:number]
        ]
        with CaptureQueriesContext(connection) as asked:
            problems = add_lines(api, *lines).json()["problems"]
        assert [problem["allowed"] for problem in problems] == [
            [{"id": blue.pk, "name": "Blue"}] for blue in blues[:number] * 2
        ]
        counts.append(len(asked))
    assert counts[0] == counts[1]


@pytest.mark.rule("R-CART-32", "R-CART-39")
@pytest.mark.parametrize("kind", ["same", "custom", "bundle"])
def test_stock_is_shared_by_the_lines_of_one_call(shop, api, mug, kind):
    second = {
        "same": line(mug, 6),
        "custom": line(mug, 6, custom_fields=[{"name": "Text", "value": "Hi"}]),
        "bundle": line(make_bundle(shop, parts={mug: 1}), 6),
    }[kind]
    body = add_lines(api, line(mug, 5), second).json()
    assert list(body["errors"]) == ["lines.1.qty"]
    assert body["problems"][0]["available"] == 5
    assert not Cart.objects.exists()


@pytest.mark.rule("R-CART-32")
def test_a_bundle_whose_items_changed_counts_as_it_is_now(shop, api, mug):
    bundle = make_bundle(shop, parts={mug: 1})
    token = filled(api, bundle, 4)
    bundle.bundle_items.update(qty=2)
    assert add_lines(api, line(bundle, 2), cart=token).json()["problems"][0]["available"] == 1
    assert add_lines(api, line(bundle), cart=token).status_code == 201
    assert add_lines(api, line(mug), cart=token).json()["problems"][0]["available"] == 0


@pytest.mark.rule("R-CART-38")
@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "lines"),
        ({"lines": []}, "lines"),
        ({"lines": {}}, "lines"),
        ({"lines": [{"product_id": 1, "qty": 1}] * 101}, "lines"),
        ({"lines": [{"product_id": 1, "qty": 1}, {"product_id": 1, "qty": 0}]}, "lines.1.qty"),
        ({"lines": [{"qty": 1}]}, "lines.0.product_id"),
        ({"lines": [{"product_id": 1, "qty": 1, "custom_price": 5}]}, "lines.0.custom_price"),
    ],
)
def test_a_member_that_does_not_fit_is_named_by_its_position(api, body, field):
    answer = api.post("/cart/lines", body)
    assert (answer.status_code, list(answer.json()["errors"])) == (422, [field])
    assert not Cart.objects.exists()


@pytest.mark.slow
@pytest.mark.rule("R-LIM-5", "R-LIM-6")
def test_the_limits_of_a_cart_hold(shop, api, mug):
    texts = [[{"name": f"{number}-{field}", "value": "x" * 1000} for field in range(20)] for number in range(4)]
    refused = add_lines(api, *(line(mug, custom_fields=fields) for fields in texts)).json()
    assert {problem["code"] for problem in refused["problems"]} == {"cart_too_large"}
    assert list(refused["errors"]) == ["lines.3.cart"]
    token = filled(api, mug)
    for _ in range(2):
        lines = [line(make_product(shop)) for _ in range(100)]
        answer = add_lines(api, *lines, cart=token)
    assert (answer.status_code, list(answer.json()["errors"])) == (422, ["lines.99.cart"])
    assert add_lines(api, *lines[:99], cart=token).json()["data"]["totals"]["line_count"] == 200


@pytest.mark.rule("R-CART-37")
def test_a_dry_run_answers_the_cart_as_it_would_be_and_changes_nothing(shop, api, mug, pot):
    token = filled(api, mug)
    before = state(shop)
    dry = add_lines(api, line(mug), line(pot), cart=token, dry_run="1")
    assert (dry.status_code, state(shop)) == (200, before)
    written = add_lines(api, line(mug), line(pot), cart=token).json()
    assert dry.json()["data"] == written["data"]
    assert (dry.json()["cart_token"], dry.has_header("ETag")) == (token, False)


@pytest.mark.rule("R-CART-37")
def test_a_dry_run_makes_no_cart(shop, api, mug):
    for token in (None, "cart_" + "x" * 43):
        dry = add_lines(api, line(mug, 2), cart=token, dry_run="true")
        assert (dry.status_code, dry.json()["cart_token"]) == (200, None)
        assert dry.json()["data"]["totals"]["item_count"] == 2
    assert not Cart.objects.exists()


@pytest.mark.rule("R-CART-37")
def test_a_dry_run_refuses_what_the_write_refuses(api, mug):
    refused = [add_lines(api, line(mug), line(mug, 10), dry_run=dry_run) for dry_run in ("1", "0")]
    assert error_of(refused[0]) == error_of(refused[1])
    assert refused[0].json()["problems"][0]["available"] == 9
    assert add_lines(api, line(mug), dry_run="maybe").json()["errors"].keys() == {"dry_run"}


@pytest.mark.rule("R-CART-1")
def test_it_needs_the_scope_to_write(shop, mug):
    assert add_lines(ApiClient(make_token(shop, "read_cart")), line(mug)).status_code == 403


@pytest.mark.rule("R-CART-2")
def test_another_shops_cart_is_unknown(api, other_api, other_shop, mug):
    theirs = filled(other_api, make_product(other_shop))
    answer = add_lines(api, line(mug), cart=theirs)
    assert answer.json()["cart_token"] != theirs
    assert len(contents(other_api, theirs)["items"]) == 1


@pytest.mark.rule("R-CALL-21")
def test_a_repeated_call_with_its_key_is_carried_out_once(api, mug):
    token = filled(api, mug)
    answers = [add_lines(api, line(mug, 2), cart=token, Idempotency_Key="k1") for _ in range(2)]
    assert answers[0].json() == answers[1].json()
    assert answers[1]["Idempotent-Replayed"] == "true"
    assert quantities(api, token) == {f"p{mug.pk}": 3}


@pytest.mark.rule("R-CART-19")
def test_it_records_no_event(api, mug):
    before = Event.objects.count()
    add_lines(api, line(mug))
    assert Event.objects.count() == before


def rich_lines(shop: Shop, count: int) -> list[dict]:
    """Lines of variants with options, and of bundles."""
    lines, part = [], make_product(shop, stock_qty=1000)
    for number in range(count):
        product = make_product(shop, stock_qty=10)
        option = make_option(product, required=True)
        chosen = {str(option.pk): option.values.first().pk}
        lines.append(line(product, variant_id=make_variant(product).pk, options=chosen))
        if number % 2 == 0:
            lines[-1:] = [lines[-1], line(make_bundle(shop, f"Set {count} {number}", parts={part: 1}))]
    return lines


@pytest.mark.slow
@pytest.mark.parametrize("existing", [False, True])
def test_a_hundred_lines_take_as_many_queries_as_a_few(shop, api, django_assert_max_num_queries, existing):
    Discount.objects.create(shop=shop, name="All", kind="percent", value=50)
    counts = []
    for lines in (rich_lines(shop, 1), rich_lines(shop, 66)):
        token = add_lines(api, *lines).json()["cart_token"] if existing else None
        with django_assert_max_num_queries(16) as asked:
            answer = add_lines(api, *lines, cart=token)
        assert answer.status_code == 201, answer.content
        counts.append((len(asked), answer.json()["data"]["totals"]["item_count"] // len(lines)))
    assert counts[0] == counts[1]
    assert len(lines) == 99


def test_a_single_add_afterwards_finds_the_same_line(api, mug):
    token = add_lines(api, line(mug)).json()["cart_token"]
    assert add(api, mug, cart=token).json()["data"]["qty"] == 2


@pytest.mark.rule("R-CALL-32")
def test_refuses_a_dry_run_in_the_body_which_would_add_the_lines(shop, api, mug):
    answer = api.post("/cart/lines", {"lines": [line(mug)], "dry_run": True})
    assert (answer.status_code, answer.json()["errors"]) == (
        422,
        {"dry_run": ["dry_run is a parameter of the query. Send ?dry_run=1."]},
    )
    assert not Cart.objects.exists()
