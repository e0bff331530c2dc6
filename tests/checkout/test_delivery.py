"""Delivery in the checkout: zones decide, the cheapest is chosen beforehand, and what is collected needs no address."""

import pytest

from storefront.checkout.models import Checkout
from storefront.orders.fulfilling import fulfil_order
from storefront.orders.jobs import confirmation_mail, fulfilment_mail
from storefront.orders.models import Order
from storefront.orders.queries import order_record
from storefront.pricing.models import PickupPlace, Redemption, ShippingRate
from tests.addresses import ADDRESS
from tests.checkout.shopper import details
from tests.orders.files import make_download
from tests.pricing.rows import make_code, make_place, make_rate, make_zone
from tests.shops.factories import NOW

pytestmark = pytest.mark.slow

BILLING = {f"billing-{name}": value for name, value in ADDRESS.items()}


@pytest.fixture
def basket(api, shopper, mug):
    return shopper.bring(api, {"product_id": mug.pk})


@pytest.fixture
def rates(shop):
    express = make_rate(shop, "Express", "12.50", countries=["DE"], delivery_time="next working day")
    return express, make_rate(shop, "Parcel", "4.90", countries=["DE"], sort_order=1, delivery_time="2 to 3 days")


@pytest.fixture
def place(shop, rates):
    return make_place(shop, hours="Monday to Friday, 9 to 18", ready="Ready in 2 hours")


def collect(shopper, place, **changed):
    return shopper.post("/checkout", {"email": "ada@example.com", "way": place.pk, **BILLING} | changed)


def pay(shopper):
    return shopper.post("/checkout/payment", shopper.payment_fields())


def test_the_cheapest_is_chosen_beforehand_and_confirmed(shopper, basket, rates):
    express, parcel = rates
    shopper.fill_details()
    page = shopper.read("/checkout/delivery")
    assert f'value="{parcel.pk}" required checked' in page
    assert f'value="{express.pk}" required checked' not in page
    assert ("2 to 3 days" in page, "next working day" in page) == (True, True)
    # With the product at 9.50.
    assert "€14.40" in page
    assert shopper.get("/checkout/payment")["Location"] == "/checkout/delivery"
    shopper.choose_delivery(str(parcel.pk))
    assert "2 to 3 days" in shopper.read("/checkout/payment")
    pay(shopper)
    order = Order.objects.get()
    assert (order.shipping_method, order.delivery_time, str(order.shipping)) == ("Parcel", "2 to 3 days", "4.90")
    assert "Delivery time: 2 to 3 days" in confirmation_mail(order).body


def test_an_address_in_no_zone_gets_no_order(shop, shopper, basket, rates):
    make_zone(shop, "Islands", ["DE"], postcodes=["25*"])
    assert shopper.fill_details(**{"shipping-postal_code": "25 845"}).status_code == 303
    assert "We cannot deliver this order to this address." in shopper.read("/checkout/delivery")
    assert shopper.choose_delivery(str(rates[0].pk)).status_code == 422
    assert shopper.get("/checkout/payment")["Location"] == "/checkout/delivery"
    answer = shopper.post("/checkout/payment", {"method": "manual"})
    assert answer["Location"] == "/checkout/delivery"
    assert not Order.objects.exists()


@pytest.mark.parametrize("whose", ["shop", "other_shop"])
def test_a_changed_form_cannot_choose_a_method_of_another_zone_or_shop(request, shop, shopper, basket, rates, whose):
    foreign = make_rate(request.getfixturevalue(whose), "Cheap", "0.10", countries=["AT"])
    shopper.fill_details()
    assert shopper.choose_delivery(str(foreign.pk)).status_code == 422
    Checkout.objects.update(shipping_rate=foreign)
    assert shopper.get("/checkout/payment")["Location"] == "/checkout/delivery"


def test_a_zone_that_closes_between_page_and_press_stops_the_order(shopper, basket, rates):
    shopper.fill_details()
    shopper.choose_delivery(str(rates[1].pk))
    form = shopper.payment_fields()
    ShippingRate.objects.update(is_active=False)
    assert shopper.post("/checkout/payment", form)["Location"] == "/checkout/delivery"
    assert not Order.objects.exists()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"price": "5.20"}, "The delivery Parcel changed from €4.90 to €5.20."),
        ({"delivery_time": "a week"}, "The delivery time or the pick-up place changed."),
    ],
)
def test_a_change_between_page_and_press_is_shown(shopper, basket, rates, change, says):
    shopper.fill_details()
    shopper.choose_delivery(str(rates[1].pk))
    form = shopper.payment_fields()
    ShippingRate.objects.filter(pk=rates[1].pk).update(**change)
    assert says in shopper.post("/checkout/payment", form).content.decode()
    assert not Order.objects.exists()


def test_a_country_with_zones_by_region_asks_for_the_region(shop, shopper, basket, rates):
    make_rate(shop, "Ferry", "9.00", zone=make_zone(shop, "Islands", ["DE"], regions=["Helgoland"]))
    answer = shopper.fill_details()
    assert "Delivery depends on the state or region." in answer.content.decode()
    assert shopper.fill_details(**{"shipping-region": "HELGOLAND"}).status_code == 303
    assert "Ferry" in shopper.read("/checkout/payment")


def test_goods_to_send_need_an_address(shopper, basket, place):
    answer = shopper.post("/checkout", {"email": "ada@example.com", "way": "ship", **BILLING})
    assert answer.status_code == 422
    assert not Checkout.objects.exists()


def test_an_order_to_collect_has_no_delivery_address_and_no_delivery_step(shopper, basket, place):
    page = shopper.read("/checkout")
    assert ("Ship to an address" in page, "Collect at Harbour shop" in page) == (True, True)
    # A browser sends the hidden fields of the delivery address, too.
    hidden = {name: value for name, value in details().items() if name.startswith(("shipping-", "same"))}
    answer = collect(shopper, place, **hidden)
    assert answer["Location"] == "/checkout/payment"
    assert shopper.get("/checkout/delivery")["Location"] == "/checkout/payment"
    page = shopper.read("/checkout/payment")
    for text in ("Collect at", "Am Kai 1", "Monday to Friday, 9 to 18", "Ready in 2 hours"):
        assert text in page
    assert "Delivery address" not in page
    pay(shopper)
    order = Order.objects.get()
    assert (order.shipping_address, str(order.shipping)) == (None, "0.00")
    assert order.shipping_method == "Pick-up at Harbour shop"
    assert order.billing_address["name"] == ADDRESS["name"]
    record = order_record(order)
    assert (record["pickup_place"]["city"], record["pickup_place"]["hours"]) == ("Hamburg", place.hours)
    assert record["delivery_time"] == "Ready in 2 hours"
    body = confirmation_mail(order).body
    assert "Collect at:\nHarbour shop\nAm Kai 1\n20457 Hamburg\nGermany\nMonday to Friday, 9 to 18" in body
    assert "Ship to" not in body
    place.delete()
    assert "Am Kai 1" in shopper.read(f"/orders/{order.public_id}")


def test_the_mail_about_a_fulfilment_says_where_to_collect(shop, shopper, basket, place):
    collect(shopper, place)
    pay(shopper)
    mail = fulfilment_mail(fulfil_order(shop=shop, order=Order.objects.get(), now=NOW))
    assert mail.subject.endswith("is ready to collect")
    assert "are ready to collect:" in mail.body
    assert "Am Kai 1" in mail.body


def test_the_choice_is_shown_again_and_can_be_changed(shopper, basket, place):
    collect(shopper, place)
    page = shopper.read("/checkout")
    assert f'value="{place.pk}" checked' in page
    assert shopper.fill_details(way="ship")["Location"] == "/checkout/delivery"
    assert Checkout.objects.get().pickup_place is None


def test_a_shop_with_places_and_no_zones_does_not_ship(shop, shopper, basket):
    place = make_place(shop)
    page = shopper.read("/checkout")
    assert ("Ship to an address" in page, "Delivery address" in page) == (False, False)
    assert shopper.post("/checkout", {"email": "ada@example.com", **BILLING}).status_code == 303
    assert Checkout.objects.get().pickup_place == place


def test_another_shops_place_cannot_be_chosen(other_shop, shopper, basket, place):
    theirs = make_place(other_shop)
    assert "no longer offered" in collect(shopper, theirs).content.decode()
    assert not Checkout.objects.exists()
    collect(shopper, place)
    Checkout.objects.update(pickup_place=theirs)
    assert shopper.get("/checkout/payment")["Location"] == "/checkout"


def test_a_place_that_closes_or_moves_between_page_and_press_stops_the_order(shopper, basket, place):
    collect(shopper, place)
    form = shopper.payment_fields()
    PickupPlace.objects.update(line1="Am Kai 2")
    page = shopper.post("/checkout/payment", form).content.decode()
    assert "The delivery time or the pick-up place changed." in page
    PickupPlace.objects.update(is_active=False)
    assert shopper.post("/checkout/payment", form)["Location"] == "/checkout"
    assert not Order.objects.exists()


def test_a_place_may_have_a_price(shop, shopper, basket, place):
    PickupPlace.objects.update(price="2.00")
    collect(shopper, place)
    pay(shopper)
    assert (str(Order.objects.get().shipping), str(Order.objects.get().total)) == ("2.00", "11.50")


def test_downloads_are_not_asked_how_to_get_them(shop, api, shopper, place):
    song = make_download(shop, "Song", requires_shipping=False)
    shopper.bring(api, {"product_id": song.pk})
    page = shopper.read("/checkout")
    assert ("Collect at" in page, "Delivery address" in page) == (False, False)
    assert shopper.post("/checkout", {"email": "ada@example.com", **BILLING})["Location"] == "/checkout/payment"
    pay(shopper)
    assert (Order.objects.get().pickup_place, Order.objects.get().shipping_method) == (None, "")


@pytest.mark.parametrize(("name", "price", "uses"), [("Parcel", "0.00", 1), ("Express", "12.50", 0)])
def test_a_code_for_free_delivery_is_used_where_it_covers_the_method(shop, shopper, basket, rates, name, price, uses):
    make_code(shop, "FREE", kind="free_delivery", value=0)
    shopper.post("/basket/discount-codes", {"code": "FREE"})
    shopper.fill_details()
    page = shopper.read("/checkout/delivery")
    assert (page.count(">Free</span>"), "€12.50" in page) == (1, True)
    shopper.choose_delivery(str(ShippingRate.objects.get(name=name).pk))
    said = "This code does not make the chosen delivery method free." in shopper.read("/checkout/payment")
    pay(shopper)
    order = Order.objects.get()
    assert (said, str(order.shipping), Redemption.objects.count()) == (not uses, price, uses)
    assert len(order.discount_lines) == uses


def test_a_code_for_free_delivery_is_not_used_up_by_collecting(shop, shopper, basket, place):
    make_code(shop, "FREE", kind="free_delivery", value=0)
    shopper.post("/basket/discount-codes", {"code": "FREE"})
    collect(shopper, place)
    pay(shopper)
    assert (Order.objects.get().discount_lines, Redemption.objects.count()) == ([], 0)
