"""The customer's addresses: add, edit, delete, set the default."""

import pytest

from storefront.customers.actions import MAX_ADDRESSES
from storefront.customers.models import Address
from tests.addresses import ADDRESS
from tests.checkout.shopper import Shopper
from tests.customers.factories import add_address, events, make_customer

FIELDS = {f"shipping-{name}": value for name, value in ADDRESS.items()}


@pytest.fixture
def shopper(shop, ada) -> Shopper:
    shopper = Shopper(shop)
    shopper.sign_in()
    return shopper


def cities() -> list[tuple[str, bool]]:
    return list(Address.objects.values_list("city", "is_default"))


def test_saves_an_address_and_records_an_event(shop, shopper):
    answer = shopper.post("/account/addresses/new", FIELDS)
    assert (answer.status_code, answer["Location"]) == (303, "/account/addresses")
    assert "24103 Kiel" in shopper.get("/account/addresses").content.decode()
    assert cities() == [("Kiel", True)]
    ((topic, data),) = events(shop)
    assert (topic, data["addresses"][0]["city"]) == ("customer.updated", "Kiel")


def test_the_first_address_is_the_default_until_another_is_chosen(shopper, ada):
    add_address(ada)
    work = add_address(ada, city="Plön")
    assert cities() == [("Kiel", True), ("Plön", False)]
    shopper.post(f"/account/addresses/{work.pk}/default", {})
    assert cities() == [("Kiel", False), ("Plön", True)]
    shopper.post("/account/addresses/new", FIELDS | {"shipping-city": "Husum", "shipping-is_default": "on"})
    assert cities() == [("Kiel", False), ("Plön", False), ("Husum", True)]


def test_edits_an_address(shopper, ada):
    home = add_address(ada)
    path = f"/account/addresses/{home.pk}"
    assert 'value="Kiel"' in shopper.get(path).content.decode()
    assert shopper.post(path, FIELDS | {"shipping-city": "Eutin"}).status_code == 303
    # The only address stays the default.
    assert cities() == [("Eutin", True)]


def test_deleting_the_default_address_makes_another_the_default(shopper, ada):
    home = add_address(ada)
    add_address(ada, city="Plön")
    shopper.post(f"/account/addresses/{home.pk}/delete", {})
    assert cities() == [("Plön", True)]


@pytest.mark.parametrize("field", ["name", "line1", "city", "country"])
def test_a_missing_field_has_its_error_beside_it(shopper, field):
    answer = shopper.post("/account/addresses/new", FIELDS | {f"shipping-{field}": ""})
    assert answer.status_code == 422
    assert f'id="id_shipping-{field}_error"' in answer.content.decode()


def test_refuses_an_unknown_country(shopper):
    answer = shopper.post("/account/addresses/new", FIELDS | {"shipping-country": "XX"})
    assert "Please choose a country." in answer.content.decode()


def test_refuses_too_many_addresses(shopper, ada):
    for _ in range(MAX_ADDRESSES):
        add_address(ada)
    answer = shopper.post("/account/addresses/new", FIELDS)
    assert answer.status_code == 422
    assert "at most 50 addresses" in answer.content.decode()


@pytest.mark.parametrize("action", ["", "/delete", "/default"])
def test_another_customers_and_another_shops_address_are_unknown(shop, other_shop, shopper, action):
    for customer in (make_customer(shop, "bob@example.com"), make_customer(other_shop)):
        theirs = add_address(customer)
        assert shopper.post(f"/account/addresses/{theirs.pk}{action}", FIELDS).status_code == 404
        assert Address.objects.filter(pk=theirs.pk, city="Kiel").exists()
    assert shopper.post(f"/account/addresses/99999{action}", FIELDS).status_code == 404


def test_a_visitor_is_redirected_to_sign_in(shop, ada):
    home = add_address(ada)
    stranger = Shopper(shop)
    for path in ("", "/new", f"/{home.pk}"):
        assert stranger.get(f"/account/addresses{path}")["Location"].startswith("/account/sign-in")
    assert stranger.post(f"/account/addresses/{home.pk}/delete", {})["Location"].startswith("/account/sign-in")
    assert Address.objects.exists()
