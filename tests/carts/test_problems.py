"""A cart says whether its lines can be bought now, with the codes of adding, and what they cost."""

from datetime import timedelta
from decimal import Decimal

import pytest
import time_machine

from storefront.carts.models import CartLine
from storefront.catalogue.models import BundleItem, Product, Variant
from tests.carts.factories import add, contents, filled, make_bundle
from tests.catalogue.factories import make_option, make_product, make_variant
from tests.shops.factories import NOW

pytestmark = pytest.mark.rule("R-CART-52", "R-CART-53")


def change(row, **columns) -> None:
    type(row).objects.filter(pk=row.pk).update(**columns)


def states(api, cart) -> list[tuple[bool, str | None]]:
    """`available` and `current_price` of each line."""
    return [(line["available"], line["current_price"]) for line in contents(api, cart)["items"]]


def codes(api, cart) -> list[tuple[str, str]]:
    """Key and code of each problem."""
    return [(each["key"], each["code"]) for each in contents(api, cart)["problems"]]


def test_a_cart_that_can_be_bought_has_no_problems(shop, api):
    token = filled(api, make_product(shop, price="9.50"), 2)
    data = contents(api, token)
    assert (data["problems"], states(api, token)) == ([], [(True, "9.50")])
    assert list(data["items"][0])[-2:] == ["available", "current_price"]
    assert contents(api, None)["problems"] == []


@pytest.mark.parametrize(
    "columns",
    [
        {"status": "draft"},
        {"status": "archived"},
        {"deleted_at": NOW - timedelta(days=1)},
        {"unpublish_at": NOW - timedelta(days=1)},
    ],
)
def test_what_is_no_longer_published_is_unavailable_and_tells_no_price(shop, api, columns):
    mug, pot = make_product(shop, "Mug"), make_product(shop, "Pot", price="5.00")
    token = filled(api, mug)
    add(api, pot, cart=token)
    change(mug, price=Decimal("99.00"), **columns)
    assert states(api, token) == [(False, None), (True, "5.00")]
    (problem,) = contents(api, token)["problems"]
    assert problem == {
        "key": f"p{mug.pk}",
        "code": "product_unavailable",
        "message": "This product is not available.",
    }
    # The snapshots stay what the contract says.
    line = contents(api, token)["items"][0]
    assert (line["price_snapshot"], line["line_total"]) == ("9.50", "9.50")
    assert add(api, mug).json()["code"] == "product_unavailable"


def test_unavailable_from_the_moment_at_which_it_is_unpublished(shop, api):
    mug = make_product(shop, unpublish_at=NOW + timedelta(hours=1))
    with time_machine.travel(NOW, tick=False) as moment:
        token = filled(api, mug)
        moment.shift(3599)
        assert codes(api, token) == []
        moment.shift(1)
        assert codes(api, token) == [(f"p{mug.pk}", "product_unavailable")]


def test_sold_out_and_short_lines_say_how_many_are_left(shop, api):
    mug, pot = make_product(shop, "Mug", stock_qty=5), make_product(shop, "Pot", stock_qty=5)
    token = filled(api, mug, 3)
    add(api, pot, 3, cart=token)
    change(mug, stock_qty=2)
    change(pot, stock_qty=0)
    assert states(api, token) == [(False, "9.50"), (False, "9.50")]
    assert contents(api, token)["problems"] == [
        {"key": f"p{mug.pk}", "code": "insufficient_stock", "message": "Only 2 of Mug available.", "available": 2},
        {"key": f"p{pot.pk}", "code": "insufficient_stock", "message": "Pot is sold out.", "available": 0},
    ]
    # The number is the one that can be set.
    assert api.patch(f"/cart/p{mug.pk}", {"qty": 2}, cart=token).status_code == 200
    assert codes(api, token) == [(f"p{pot.pk}", "insufficient_stock")]
    change(pot, allow_backorders=True)
    assert codes(api, token) == []


def test_lines_of_one_stock_have_it_in_their_order(shop, api):
    mug = make_product(shop, "Mug", stock_qty=4)
    token = filled(api, mug, 2)
    add(api, mug, 2, cart=token, custom_fields=[{"name": "For", "value": "Ada"}])
    assert states(api, token) == [(True, "9.50"), (True, "9.50")]
    change(mug, stock_qty=3)
    assert states(api, token) == [(True, "9.50"), (False, "9.50")]
    (problem,) = contents(api, token)["problems"]
    assert (problem["key"], problem["available"]) == (contents(api, token)["items"][1]["key"], 1)


def test_an_unavailable_line_leaves_its_stock_to_the_others(shop, api):
    part = make_product(shop, "Cup", stock_qty=4)
    bundle = make_bundle(shop, parts={part: 1})
    token = filled(api, bundle, 2)
    add(api, part, 2, cart=token)
    change(part, stock_qty=2)
    assert states(api, token) == [(True, "9.50"), (False, "9.50")]
    change(bundle, status="draft")
    assert states(api, token) == [(False, None), (True, "9.50")]


def test_a_product_that_was_given_variants(shop, api):
    mug = make_product(shop)
    token = filled(api, mug)
    blue = make_variant(mug, "Blue")
    change(mug, type="variable")
    (problem,) = contents(api, token)["problems"]
    assert (problem["code"], problem["allowed"]) == ("variant_required", [{"id": blue.pk, "name": "Blue"}])
    assert states(api, token) == [(False, None)]


def test_an_inactive_variant(shop, api):
    mug = make_product(shop)
    blue, red = make_variant(mug, "Blue", price="12.00"), make_variant(mug, "Red")
    token = filled(api, mug, variant_id=blue.pk)
    assert states(api, token) == [(True, "12.00")]
    change(blue, is_active=False)
    (problem,) = contents(api, token)["problems"]
    assert (problem["key"], problem["code"]) == (f"p{mug.pk}-v{blue.pk}", "product_unavailable")
    assert problem["allowed"] == [{"id": red.pk, "name": "Red"}]


def test_a_deleted_variant_takes_its_lines_along(shop, api):
    mug = make_product(shop)
    blue = make_variant(mug, "Blue")
    make_variant(mug, "Red")
    token = filled(api, mug, variant_id=blue.pk)
    Variant.objects.filter(pk=blue.pk).delete()
    assert (contents(api, token)["items"], contents(api, token)["problems"]) == ([], [])


def test_a_product_that_was_given_a_required_option(shop, api):
    mug = make_product(shop)
    token = filled(api, mug)
    option = make_option(mug, "Engraving", {"Gold": "5.00"}, required=True)
    (problem,) = contents(api, token)["problems"]
    assert (problem["code"], problem["message"]) == ("option_required", "Please choose Engraving.")
    assert problem["option_id"] == option.pk
    assert problem["allowed"] == [{"id": option.values.get().pk, "label": "Gold"}]
    assert states(api, token) == [(False, None)]


def test_a_value_that_is_no_longer_offered(shop, api):
    mug = make_product(shop)
    option = make_option(mug, "Engraving", {"Gold": "5.00"})
    token = filled(api, mug, options={str(option.pk): option.values.get().pk})
    option.values.update(price="6.00")
    assert states(api, token) == [(True, "15.50")]
    option.values.all().delete()
    assert codes(api, token)[0][1] == "invalid_option"


def test_a_custom_price_that_is_no_longer_accepted(shop, api):
    card = make_product(shop, allow_custom_price=True, min_custom_price="10.00")
    token = filled(api, card, custom_price="12.00")
    assert states(api, token) == [(True, "12.00")]
    change(card, min_custom_price=Decimal("20.00"))
    assert codes(api, token)[0][1] == "invalid_custom_price"


def test_damaged_units(shop, api):
    mug = make_product(shop, damaged_price="4.00", damaged_qty=2)
    token = filled(api, mug, 2, is_damaged=True)
    assert states(api, token) == [(True, "4.00")]
    change(mug, damaged_qty=1, stock_qty=0)
    (problem,) = contents(api, token)["problems"]
    assert (problem["code"], problem["available"]) == ("insufficient_stock", 1)
    change(mug, damaged_price=None)
    assert codes(api, token)[0][1] == "invalid"


def test_a_bundle_whose_part_is_sold_out(shop, api):
    cup, plate = make_product(shop, "Cup", stock_qty=9), make_product(shop, "Plate", stock_qty=9)
    bundle = make_bundle(shop, parts={cup: 2, plate: 1})
    token = filled(api, bundle, 3)
    change(cup, stock_qty=5)
    (problem,) = contents(api, token)["problems"]
    assert (problem["code"], problem["available"]) == ("insufficient_stock", 2)
    # What the bundle holds today is what the checkout takes.
    BundleItem.objects.filter(product=cup).update(qty=1)
    assert codes(api, token) == []


def test_a_gift_card_and_a_download_without_its_file(shop, api):
    card = make_product(shop, "Card", is_gift_card=True, is_taxable=False, type="digital", price="20.00")
    token = filled(api, card)
    assert states(api, token) == [(True, "20.00")]
    change(card, is_gift_card=False)
    (problem,) = contents(api, token)["problems"]
    assert (problem["code"], "download without a file" in problem["message"]) == ("product_unavailable", True)


def test_a_subscription(shop, api):
    mug = make_product(shop)
    token = filled(api, mug)
    change(mug, billing_interval="month")
    assert codes(api, token) == [(f"p{mug.pk}", "subscription_not_sold")]


def test_a_changed_price_is_told_and_keeps_nothing_from_being_bought(shop, api):
    mug = make_product(shop, "Mug", price="5.00")
    token = filled(api, mug, 2)
    change(mug, price=Decimal("50.00"))
    data = contents(api, token)
    line = data["items"][0]
    assert (line["available"], line["current_price"], line["price_snapshot"]) == (True, "50.00", "5.00")
    assert (line["line_total"], data["totals"]["total"]) == ("10.00", "10.00")
    assert data["problems"] == [
        {
            "key": f"p{mug.pk}",
            "code": "price_changed",
            "message": "The price of Mug changed from €5.00 to €50.00.",
            "old_price": "5.00",
            "new_price": "50.00",
        }
    ]
    # Adding gives the line today's price.
    assert add(api, mug, cart=token).json()["problems"] == []
    assert contents(api, token)["items"][0]["price_snapshot"] == "50.00"


def test_the_price_is_that_of_the_moment_of_a_sale(shop, api):
    mug = make_product(shop, price="10.00", sale_price="7.00", sale_from=NOW + timedelta(hours=1))
    with time_machine.travel(NOW, tick=False) as moment:
        token = filled(api, mug)
        moment.shift(3600)
        assert states(api, token) == [(True, "7.00")]


def test_every_write_answers_with_the_problems(shop, api):
    mug, pot = make_product(shop, "Mug"), make_product(shop, "Pot")
    token = filled(api, mug, 2)
    change(mug, status="draft")
    wanted = [(f"p{mug.pk}", "product_unavailable")]

    def problems(answer) -> list[tuple[str, str]]:
        body = answer.json()
        return [(each["key"], each["code"]) for each in body.get("problems", body["data"].get("problems"))]

    added = add(api, pot, cart=token)
    assert (added.json()["data"]["available"], added.json()["data"]["current_price"]) == (True, "9.50")
    assert problems(added) == wanted
    lines = {"lines": [{"product_id": pot.pk, "qty": 1}]}
    assert problems(api.post("/cart/lines?dry_run=1", lines, cart=token)) == wanted
    assert problems(api.post("/cart/lines", lines, cart=token)) == wanted
    assert problems(api.put("/cart/discount-codes", {"codes": []}, cart=token)) == wanted
    assert problems(api.put("/cart/gift-cards", {"codes": []}, cart=token)) == wanted
    assert problems(api.patch(f"/cart/p{mug.pk}", {"qty": 1}, cart=token)) == wanted
    assert problems(api.delete(f"/cart/p{pot.pk}", cart=token)) == wanted
    assert problems(api.delete(f"/cart/p{mug.pk}", cart=token)) == []


def test_another_shop_s_products_do_not_matter(shop, other_shop, api, other_api):
    mine, theirs = make_product(shop, "Mug"), make_product(other_shop, "Mug")
    tokens = filled(api, mine), filled(other_api, theirs)
    change(theirs, status="draft")
    assert (codes(api, tokens[0]), codes(other_api, tokens[1])) == ([], [(f"p{theirs.pk}", "product_unavailable")])
    assert codes(api, tokens[1]) == []


@pytest.mark.rule("R-LINK-25")
class TestCheckoutLink:
    def test_has_the_problems_while_something_can_be_bought(self, shop, api):
        mug, pot = make_product(shop, "Mug", stock_qty=5), make_product(shop, "Pot")
        token = filled(api, mug, 5)
        add(api, pot, cart=token)
        answer = api.post("/cart/checkout", cart=token).json()
        assert (set(answer), answer["problems"]) == (
            {"cart_token", "checkout_url", "expires_in", "problems"},
            [],
        )
        change(pot, status="draft")
        change(mug, stock_qty=1)
        answer = api.post("/cart/checkout", cart=token)
        assert answer.status_code == 200
        assert [each["code"] for each in answer.json()["problems"]] == ["insufficient_stock", "product_unavailable"]

    def test_is_refused_if_nothing_can_be_bought(self, shop, api):
        mug, pot = make_product(shop, "Mug", stock_qty=5), make_product(shop, "Pot")
        token = filled(api, mug, 2)
        add(api, pot, cart=token)
        change(pot, status="draft")
        change(mug, stock_qty=0)
        answer = api.post("/cart/checkout", cart=token)
        body = answer.json()
        assert (answer.status_code, body["code"]) == (422, "nothing_available")
        assert [(each["key"], each["code"]) for each in body["problems"]] == [
            (f"p{mug.pk}", "insufficient_stock"),
            (f"p{pot.pk}", "product_unavailable"),
        ]
        assert body["errors"][f"p{mug.pk}"] == ["Mug is sold out."]


@pytest.mark.parametrize("lines", [1, 20])
def test_a_fixed_number_of_queries_checks_every_kind_of_line(
    shop, api, django_assert_num_queries, lines, django_assert_max_num_queries
):
    token = api.delete("/cart").json()["cart_token"]
    for number in range(lines):
        shirt = make_product(shop, f"Shirt {number}")
        option = make_option(shirt, required=True)
        chosen = {str(option.pk): option.values.first().pk}
        add(api, shirt, cart=token, variant_id=make_variant(shirt).pk, options=chosen)
        part = make_product(shop, f"Part {number}")
        add(api, make_bundle(shop, f"Set {number}", parts={part: 1}), cart=token)
    # Credential, cart with options and bundles' items, discounts.
    with django_assert_num_queries(3):
        assert codes(api, token) == []
    change(Product.objects.get(slug="shirt-0"), status="draft")
    with django_assert_max_num_queries(10):
        assert len(codes(api, token)) == 1


def test_reading_changes_nothing(shop, api):
    mug = make_product(shop, price="5.00")
    token = filled(api, mug)
    etag = api.get("/cart", cart=token)["ETag"]
    change(mug, price=Decimal("50.00"))
    assert api.get("/cart", cart=token)["ETag"] == etag
    assert CartLine.objects.get().price_snapshot == 5
