"""The checkout shows what changed since the basket was filled, and the shopper must agree to it."""

from decimal import Decimal

import pytest

from storefront.catalogue.models import Product
from storefront.orders.models import Order
from storefront.payments.models import OrderDraft
from storefront.pricing.models import Discount
from tests.catalogue.factories import make_product, make_variant
from tests.checkout.shopper import Shopper
from tests.payments.conftest import bank  # noqa: F401, a fixture


def now_costs(product: Product, price: str) -> None:
    Product.objects.filter(pk=product.pk).update(price=Decimal(price))


def test_new_price_is_shown_in_the_checkout_and_applies(api, shopper, mug):
    shopper.bring(api, {"product_id": mug.pk})
    now_costs(mug, "11.00")
    page = shopper.get("/checkout").content.decode()
    assert "The price of Mug changed from €9.50 to €11.00." in page
    shopper.order()
    assert Order.objects.get().total == Decimal("11.00")


def test_price_that_changes_before_the_last_click_must_be_agreed_to(api, shopper, mug):
    shopper.bring(api, {"product_id": mug.pk})
    shopper.fill_details()
    fields = shopper.payment_fields(note="Ring twice")
    now_costs(mug, "11.00")
    answer = shopper.post("/checkout/payment", fields)
    page = answer.content.decode()
    assert answer.status_code == 422
    assert "changed from €9.50 to €11.00" in page
    assert "Place order and pay €11.00" in page
    assert "Ring twice" in page
    assert not Order.objects.exists()
    shopper.post("/checkout/payment", shopper.payment_fields())
    assert Order.objects.get().total == Decimal("11.00")


def test_an_old_form_is_not_an_agreement_to_the_new_total(shop, api, shopper, mug):
    shopper.bring(api, {"product_id": mug.pk})
    shopper.fill_details()
    fields = shopper.payment_fields()
    Discount.objects.create(shop=shop, name="Autumn", kind="amount", value=Decimal("2.00"))
    answer = shopper.post("/checkout/payment", fields)
    assert answer.status_code == 422
    assert b"Your order has changed. Please review it" in answer.content
    assert b"The discount Autumn (\xe2\x82\xac2.00) was added." in answer.content
    assert not Order.objects.exists()


def test_unavailable_product_redirects_to_the_basket(api, shopper, mug):
    shopper.bring(api, {"product_id": mug.pk})
    shopper.fill_details()
    fields = shopper.payment_fields()
    Product.objects.filter(pk=mug.pk).update(status="draft")
    answer = shopper.post("/checkout/payment", fields, follow=True)
    assert answer.redirect_chain[-1][0] == "/basket"
    assert "Mug is no longer available" in answer.content.decode()
    assert not Order.objects.exists()


def test_inactive_variant_redirects_to_the_basket(api, shopper, mug):
    blue = make_variant(mug, "Blue")
    shopper.bring(api, {"product_id": mug.pk, "variant_id": blue.pk})
    blue.is_active = False
    blue.save()
    assert shopper.get("/checkout")["Location"] == "/basket"


def test_sold_out_line_is_named_with_what_is_left_and_the_basket_is_kept(api, shopper, mug):
    token = shopper.bring(api, {"product_id": mug.pk, "qty": 3})
    shopper.fill_details()
    fields = shopper.payment_fields()
    Product.objects.filter(pk=mug.pk).update(stock_qty=1)
    answer = shopper.post("/checkout/payment", fields)
    assert answer.status_code == 422
    assert "Only 1 left of Mug." in answer.content.decode()
    assert 'href="/basket"' in answer.content.decode()
    assert api.get("/cart", cart=token).json()["data"]["items"][0]["qty"] == 3
    Product.objects.filter(pk=mug.pk).update(stock_qty=0)
    assert "Mug is sold out." in shopper.post("/checkout/payment", fields).content.decode()


@pytest.mark.parametrize("path", ["/checkout", "/checkout/payment"])
def test_a_short_line_leads_back_to_the_basket(api, shopper, mug, path):
    shopper.bring(api, {"product_id": mug.pk, "qty": 3})
    shopper.fill_details()
    Product.objects.filter(pk=mug.pk).update(stock_qty=1)
    answer = shopper.get(path, follow=True)
    assert answer.redirect_chain[-1][0] == "/basket"
    page = answer.content.decode()
    assert "Only 1 of Mug available. Please change your basket to continue." in page
    assert "Reduce to 1" in page


def test_pieces_that_the_own_payment_holds_are_not_sold_out(shop, bank, shopper):  # noqa: F811
    mug = make_product(shop, "Mug", stock_qty=1)
    shopper.post("/basket/add", {"product": mug.pk, "qty": "1"})
    shopper.fill_details()
    shopper.order("bank")
    mug.refresh_from_db()
    assert (OrderDraft.objects.get().state, mug.stock_qty) == ("open", 0)
    assert "Go to checkout" in shopper.read("/basket")
    assert "Place order and pay" in shopper.read("/checkout/payment")
    # For another shopper they are.
    other = Shopper(shop)
    assert other.post("/basket/add", {"product": mug.pk, "qty": "1"}).status_code == 422


def test_missing_basket_redirects_to_the_basket_page(shopper, db):
    for path in ("/checkout", "/checkout/delivery", "/checkout/payment"):
        assert shopper.get(path)["Location"] == "/basket"
