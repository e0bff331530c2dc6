"""What the basket says of the delivery before the checkout asks for an address."""

import re

import pytest

from storefront.pricing.models import PickupPlace
from tests.catalogue.factories import make_product
from tests.pricing.rows import make_discount, make_rate, make_zone


@pytest.fixture
def mug(shop):
    return make_product(shop, "Mug", price="10.00", weight="1.500")


@pytest.fixture
def basket(visitor, page, mug):
    """`basket(country="DE")` is the text of the basket's sums after that was entered."""
    visitor.post("/basket/add", {"product": mug.pk, "qty": 1})

    def read(**place) -> str:
        if place:
            assert visitor.post("/basket/delivery", place).status_code == 302
        found = page("/basket")
        return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", found[found.index("<dl") : found.index("</main>")]))

    return read


def test_a_shop_with_one_zone_says_the_cheapest_rate_at_once(shop, other_shop, basket):
    make_rate(shop, "Express", "12.50")
    make_rate(shop, "Parcel", "4.90", delivery_time="2 days")
    make_rate(other_shop, "Theirs", "1.00")
    text = basket()
    assert "Delivery estimate, 2 days €4.90" in text
    assert "Total without delivery €10.00" in text


def test_elsewhere_it_is_asked_where_to(shop, other_shop, basket, page):
    make_rate(shop, "Parcel", "4.90", countries=["DE"])
    make_rate(shop, "Abroad", "14.90", countries=["AT", "FR"])
    islands = make_zone(shop, "Islands", ["DE"], postcodes=["18565"])
    make_rate(shop, "Ferry", "19.90", zone=islands)
    make_rate(other_shop, "Theirs", "1.00", countries=["BE"])
    assert "Delivery Calculated at checkout" in basket()
    assert "Delivery to Germany estimate €4.90" in basket(country="DE")
    assert "Delivery to 18565 Germany estimate €19.90" in basket(country="DE", postal_code=" 18565 ")
    assert "Delivery to Austria estimate €14.90" in basket(country="AT")
    # It is remembered, and another visitor's basket knows nothing of it.
    assert "Delivery to Austria estimate €14.90" in basket()
    for country in ("BE", "", "XX"):
        basket(country=country)
    assert "Delivery to Austria" in basket()
    assert '<option value="BE"' not in page("/basket")


def test_a_country_that_is_not_served_is_refused_with_a_reason(shop, visitor, basket, page):
    make_rate(shop, countries=["DE"])
    visitor.post("/basket/delivery", {"country": "FR"})
    assert "We do not deliver to this country." in page("/basket")


def test_what_cannot_be_sent_there_is_said(shop, basket):
    make_rate(shop, "Parcel", "4.90", countries=["DE"], maximum_weight="1.000")
    make_zone(shop, "Mainland", ["AT"], postcodes=["1*"])
    make_rate(shop, "Abroad", zone=shop.delivery_zones.get(name="Mainland"))
    assert "No delivery method fits these items." in basket(country="DE")
    assert "No delivery to 2000." in basket(country="AT", postal_code="2000")


@pytest.mark.parametrize(("has_place", "said"), [(False, "Delivery estimate Free"), (True, "Calculated at checkout")])
def test_a_shop_without_zones_delivers_free_or_not_at_all(shop, basket, has_place, said):
    if has_place:
        PickupPlace.objects.create(shop=shop, name="Shop", line1="1", city="Kiel", country="DE")
    assert said in basket()
    assert "Estimate delivery" not in basket()


def test_free_delivery_by_discount_shows(shop, basket):
    make_rate(shop, "Parcel", "4.90")
    make_discount(shop, "Free", 0, kind="free_delivery")
    assert "Delivery estimate Free" in basket()


def test_a_basket_of_what_is_not_sent_says_nothing_of_delivery(shop, basket, mug):
    make_rate(shop)
    type(mug).objects.update(requires_shipping=False)
    text = basket()
    assert "Delivery" not in text
    assert "Total €10.00" in text


def test_without_a_new_page(shop, visitor, basket):
    make_rate(shop, countries=["DE"])
    make_rate(shop, "Abroad", "14.90", countries=["AT"])
    answer = visitor.post("/basket/delivery", {"country": "AT"}, headers={"HX-Request": "true"}).content.decode()
    assert "€14.90" in answer
    assert "<html" not in answer


def test_without_a_basket_no_session_begins(shop, visitor, settings):
    make_rate(shop, "Parcel", "4.90", countries=["DE"])
    make_rate(shop, "Abroad", "14.90", countries=["AT"])
    visitor.post("/basket/delivery", {"country": "DE"})
    assert settings.SESSION_COOKIE_NAME not in visitor.cookies
