"""The footer: where the shop is, when it is open, and the ways to pay and to get an order that are really on."""

import re

import pytest

from storefront.pricing.models import DeliveryZone, PickupPlace, ShippingRate
from tests.catalogue.factories import make_category
from tests.content.test_looks import make_looks

pytestmark = pytest.mark.django_db


def marks(text: str) -> list[str]:
    return re.findall(r'<li class="mark">.*?</svg>([^<]+)</li>', text)


def test_address_phone_and_hours_are_the_shops_own(shop, other_shop, page):
    make_looks(shop, address="Am Kai 12\n20457 <Hamburg>", phone="+49 (40) 123-4", hours="Mon to Fri, 10 to 18")
    make_looks(other_shop, address="Elsewhere 1", phone="999", hours="Never")
    text = page("/")
    assert "Am Kai 12<br>20457 &lt;Hamburg&gt;" in text
    assert '<a href="tel:+49401234" dir="ltr">+49 (40) 123-4</a>' in text
    assert "Mon to Fri, 10 to 18" in text
    assert not any(foreign in text for foreign in ("Elsewhere", "999", "Never"))


def test_marks_are_of_what_is_on(shop, other_shop, page):
    zone = DeliveryZone.objects.create(shop=shop, name="Home", countries=["DE"])
    rate = ShippingRate.objects.create(shop=shop, zone=zone, name="Parcel", price="4.90")
    place = PickupPlace.objects.create(shop=shop, name="Shop", line1="Am Kai 12", city="Hamburg", country="DE")
    shop.payment_methods = ["manual", "stripe", "demo"]
    shop.save()
    # Without keys, nobody can pay with Stripe.
    assert marks(page("/")) == ["Invoice or bank transfer", "Card (demo)", "Delivery", "Click and collect"]
    ShippingRate.objects.filter(pk=rate.pk).update(is_active=False)
    PickupPlace.objects.filter(pk=place.pk).update(is_active=False)
    assert marks(page("/")) == ["Invoice or bank transfer", "Card (demo)"]


def test_a_category_without_a_picture_has_a_tile_in_the_shops_colours(shop, page):
    make_category(shop, "Attic")
    assert '<svg class="tile"' in page("/")
