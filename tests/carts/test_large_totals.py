"""A cart that comes to more than an order can is refused when it is filled (R-LIM-5), never when it is paid for."""

from decimal import Decimal

import pytest

from storefront.carts import actions, merging
from storefront.carts.models import CartLine
from storefront.orders.models import Order
from storefront.pricing.models import TaxRate
from tests.carts.factories import add, contents, filled, make_cart, only_key
from tests.catalogue.factories import make_product
from tests.checkout.shopper import Shopper
from tests.shops.factories import NOW

MAX_TOTAL = "999999999999.99"


@pytest.fixture
def donation(shop):
    return make_product(shop, "Donation", price="1.00", allow_custom_price=True, track_inventory=False)


def refusal(answer) -> tuple:
    assert answer.status_code == 422, answer.content
    return answer.json()["code"], list(answer.json()["errors"])


def test_adding_is_refused(api, donation):
    assert refusal(add(api, donation, 2, custom_price=MAX_TOTAL)) == ("total_too_large", ["qty"])
    assert refusal(add(api, donation, 9_999, custom_price=MAX_TOTAL)) == ("total_too_large", ["qty"])
    token = filled(api, donation, custom_price=MAX_TOTAL)
    assert refusal(add(api, donation, custom_price=MAX_TOTAL, cart=token)) == ("total_too_large", ["qty"])
    assert refusal(add(api, donation, custom_price="0.01", cart=token)) == ("total_too_large", ["qty"])
    assert contents(api, token)["totals"]["total"] == MAX_TOTAL


def test_of_many_lines_those_that_are_too_much_are_named(api, donation):
    lines = [{"product_id": donation.pk, "qty": 1, "custom_price": price} for price in ("500000000000.00",) * 2]
    lines += [{"product_id": donation.pk, "qty": 1, "custom_price": price} for price in ("1.00", MAX_TOTAL)]
    answer = api.post("/cart/lines", {"lines": lines})
    assert [(each["field"], each["code"]) for each in answer.json()["problems"]] == [
        ("lines.1.qty", "total_too_large"),
        ("lines.3.qty", "total_too_large"),
    ]


def test_a_quantity_is_not_raised_beyond_it_and_can_be_lowered(api, donation):
    token = filled(api, donation, 3, custom_price="300000000000.00")
    path = f"/cart/{only_key(api, token)}"
    assert refusal(api.patch(path, {"qty": 4}, cart=token)) == ("total_too_large", ["qty"])
    assert api.patch(path, {"qty": 2}, cart=token).status_code == 200


def test_merging_takes_what_fits(shop, donation):
    source, basket = make_cart(shop), make_cart(shop)
    for cart in (source, basket):
        actions.add_line(
            shop=shop, now=NOW, cart=cart, product_id=donation.pk, qty=3, custom_price=Decimal("300000000000.00")
        )
    merging.merge_carts(shop=shop, source=source, target=basket, now=NOW)
    basket.refresh_from_db()
    assert CartLine.objects.get(cart=basket).qty == 3
    assert basket.merge_report["missing"] == [{"name": "Donation", "wanted": 3, "qty": 0}]


def test_a_cart_says_which_line_is_too_much_since_prices_were_raised(shop, api):
    mug, yacht = make_product(shop, "Mug", price="10.00"), make_product(shop, "Yacht", price="100.00", stock_qty=9)
    token = filled(api, mug)
    add(api, yacht, 3, cart=token)
    yacht.price = Decimal("400000000000.00")
    yacht.save()
    cart = contents(api, token)
    problems = [(each["key"], each["code"]) for each in cart["problems"] if each["code"] != "price_changed"]
    assert problems == [(f"p{yacht.pk}", "total_too_large")]
    assert [line["available"] for line in cart["items"]] == [True, False]


def test_the_shop_says_so(shop, donation):
    shopper = Shopper(shop)
    given = {"product": donation.pk, "custom_price": MAX_TOTAL}
    page = shopper.post("/basket/add", given | {"qty": "2"}, follow=True).content.decode()
    assert "A cart can come to at most 999,999,999,999.99." in page
    shopper.post("/basket/add", given | {"qty": "1"})
    key = CartLine.objects.get().key
    page = shopper.post("/basket/update", {"key": key, "qty": "2"}, follow=True).content.decode()
    assert "A cart can come to at most 999,999,999,999.99." in page


def test_prices_that_were_raised_meanwhile_lead_back_to_the_basket(shop):
    yacht = make_product(shop, "Yacht", price="100.00", stock_qty=9_999)
    shopper = Shopper(shop)
    shopper.post("/basket/add", {"product": yacht.pk, "qty": "9000"})
    shopper.fill_details()
    fields = shopper.payment_fields()
    yacht.price = Decimal(MAX_TOTAL)
    yacht.save()
    assert shopper.post("/checkout/payment", fields).status_code < 500
    assert shopper.get("/checkout/payment")["Location"] == "/basket"
    assert "A cart can come to at most 999,999,999,999.99." in shopper.read("/basket")
    assert not Order.objects.exists()


def test_taxes_that_make_it_too_much_are_no_error_at_payment(shop, donation):
    shop.country, shop.prices_include_tax = "DE", False
    shop.save()
    TaxRate.objects.create(shop=shop, country="DE", name="VAT", percent=19)
    shopper = Shopper(shop)
    shopper.post("/basket/add", {"product": donation.pk, "custom_price": MAX_TOTAL, "qty": "1"})
    shopper.fill_details()
    answer = shopper.post("/checkout/payment", shopper.payment_fields())
    assert answer.status_code < 500
    assert "This is more than a single order can come to" in answer.content.decode()
    assert not Order.objects.exists()
