"""The page after the order."""

from uuid import uuid4

import pytest

from storefront.orders.fulfilling import Tracking, fulfil_order
from storefront.orders.models import Order
from tests.catalogue.factories import make_option, make_product
from tests.checkout.shopper import Shopper
from tests.customers.factories import make_customer
from tests.shops.factories import NOW


@pytest.mark.slow
def test_it_shows_what_was_bought_where_it_goes_and_how_to_pay(shop, api, shopper):
    shop.manual_payment_instructions = "Transfer to DE00 1234."
    shop.save()
    mug = make_product(shop, "Mug <b>")
    engraving = make_option(mug)
    gold = engraving.values.first()
    shopper.bring(api, {"product_id": mug.pk, "qty": 2, "options": {str(engraving.pk): gold.pk}})
    placed = shopper.order()
    page = shopper.get(placed["Location"])
    text = page.content.decode()
    for part in ("Mug &lt;b&gt;", "Engraving: Gold", "24103 Kiel", "Germany", "Transfer to DE00 1234.", "€29.00"):
        assert part in text
    assert str(Order.objects.get().number) in text
    assert page["Cache-Control"] == "no-store"
    assert page["Referrer-Policy"] == "no-referrer"


def test_needs_only_its_unguessable_url(shop, api, shopper):
    shopper.bring(api, {"product_id": make_product(shop).pk})
    placed = shopper.order()
    assert Shopper(shop).get(placed["Location"]).status_code == 200
    assert Shopper(shop).get(f"/orders/{uuid4()}").status_code == 404
    assert Shopper(shop).get(f"/orders/{Order.objects.get().number}").status_code == 404


def test_another_shop_does_not_show_the_order(other_shop, shop, api, shopper):
    shopper.bring(api, {"product_id": make_product(shop).pk})
    placed = shopper.order()
    assert Shopper(other_shop).get(placed["Location"]).status_code == 404


def test_a_cancelled_order_says_so(shop, api, shopper):
    shopper.bring(api, {"product_id": make_product(shop).pk})
    placed = shopper.order()
    Order.objects.update(status="cancelled")
    assert "This order was cancelled" in shopper.get(placed["Location"]).content.decode()


@pytest.mark.slow
def test_shows_fulfilments_with_their_tracking(shop, api, shopper):
    shopper.bring(api, {"product_id": make_product(shop, "Mug").pk, "qty": 2})
    placed = shopper.order()
    assert "On its way" not in shopper.get(placed["Location"]).content.decode()
    order = Order.objects.get()
    tracking = Tracking("DHL <b>", "JD0146", "https://dhl.example.com/?q=JD0146&a=b")
    fulfil_order(shop=shop, order=order, pieces=[(order.lines.get().pk, 1)], tracking=tracking, now=NOW)
    page = shopper.get(placed["Location"]).content.decode()
    for part in (
        "On its way",
        "1 × Mug",
        "DHL &lt;b&gt; JD0146",
        'href="https://dhl.example.com/?q=JD0146&amp;a=b" rel="noopener noreferrer"',
    ):
        assert part in page


@pytest.mark.disagrees
def test_shows_the_refunded_amount(shop, api, shopper):
    shopper.bring(api, {"product_id": make_product(shop).pk})
    placed = shopper.order()
    Order.objects.update(payment_status="partially_refunded", refunded="2.50")
    assert "€2.50 refunded" in shopper.get(placed["Location"]).content.decode()


@pytest.mark.slow
def test_guests_are_offered_an_account(shop, api, shopper, mailoutbox):
    offer = "Create an account"
    mug = make_product(shop, "Mug")
    shopper.bring(api, {"product_id": mug.pk})
    assert offer in shopper.get(shopper.order()["Location"]).content.decode()
    answer = shopper.post("/account/register", {"email": "ada@example.com"})
    assert (answer.status_code, answer["Location"]) == (303, "/account/mailed")

    make_customer(shop)
    shopper.sign_in()
    shopper.bring(api, {"product_id": mug.pk})
    assert offer not in shopper.get(shopper.order()["Location"]).content.decode()
