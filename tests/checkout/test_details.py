"""Contact, addresses and delivery: required fields, refused input, saved data."""

from decimal import Decimal

import pytest

from storefront.checkout.models import Checkout
from storefront.orders.history import order_ids_of
from storefront.orders.models import Order
from storefront.pricing.models import ShippingRate, TaxRate
from tests.answers import words_of
from tests.catalogue.factories import make_product
from tests.checkout.shopper import details
from tests.orders.files import make_download
from tests.pricing.rows import make_rate

pytestmark = pytest.mark.slow


@pytest.fixture
def mug(shop):
    return make_product(shop, "Mug", price=Decimal("9.50"), stock_qty=10, weight=Decimal("0.400"))


@pytest.fixture
def basket(api, shopper, mug):
    return shopper.bring(api, {"product_id": mug.pk, "qty": 2})


@pytest.fixture
def rates(shop):
    parcel = make_rate(shop, countries=["DE"])
    make_rate(shop, countries=["AT"])
    return parcel, make_rate(shop, "Express", "12.00", countries=["DE"], sort_order=1)


def test_an_address_is_found_again_whatever_the_letters_of_its_domain(shop, shopper, basket):
    """Databases that compare only ASCII letters ignoring case find orders by their address, too."""
    shopper.fill_details(email="Ada@BÜCHER.example")
    assert Checkout.objects.get().email == "Ada@bücher.example"
    shopper.choose_delivery()
    shopper.post("/checkout/payment", shopper.payment_fields())
    assert order_ids_of(shop, email="ada@bücher.example") == [Order.objects.get().pk]


def test_details_are_saved_and_shown_again(shopper, basket):
    assert shopper.fill_details(phone="+49 30 1234")["Location"] == "/checkout/delivery"
    page = shopper.get("/checkout").content.decode()
    assert 'value="ada@example.com"' in page
    assert "+49 30 1234" in page
    assert "Hafenstraße 1" in page


@pytest.mark.parametrize(
    ("field", "typed", "says"),
    [
        ("email", "", "required"),
        ("email", "ada", "valid email"),
        ("shipping-name", "", "required"),
        ("shipping-line1", "   ", "required"),
        ("shipping-postal_code", "", "required"),
        ("shipping-city", "x" * 101, "at most 100"),
        ("shipping-city", "Ber\x07lin", "control characters"),
        ("shipping-country", "", "required"),
        ("shipping-country", "XX", "does not deliver to this country"),
        ("phone", "call me", "digits"),
    ],
)
def test_a_field_that_does_not_fit_says_so_keeps_the_rest_and_has_the_focus(shopper, basket, field, typed, says):
    answer = shopper.fill_details(**{field: typed})
    page = answer.content.decode()
    assert answer.status_code == 422
    assert says in page.split(f'id="id_{field}_error"')[1].split("</p>")[0]
    tag = next(part for part in page.split("<") if f'name="{field}"' in part)
    assert 'aria-invalid="true"' in tag
    assert f"id_{field}_error" in tag
    assert "autofocus" in tag
    assert page.count("autofocus") == 1
    assert "Hafenstraße 1" in page or field == "shipping-line1"
    assert not Checkout.objects.exists()


def test_an_address_is_what_its_country_needs(shopper, basket):
    """Hong Kong has regions and no postal codes, Germany codes of five digits. Phones without a country are of the
    address's."""
    there = {"shipping-country": "HK", "shipping-postal_code": ""}
    answer = shopper.fill_details(**there)
    assert answer.status_code == 422
    assert "An example: Hong Kong Island" in answer.content.decode()
    assert '<option value="Kowloon">' in answer.content.decode()
    assert shopper.fill_details(phone="2345 6789", **there, **{"shipping-region": "kowloon"}).status_code == 303
    assert Checkout.objects.get().phone == "+852 2345 6789"
    # A region that nobody has heard of is kept as it was typed.
    assert shopper.fill_details(**there, **{"shipping-region": "Lantau"}).status_code == 303
    for typed, says in ({"shipping-postal_code": "2045"}, "An example: 26133"), ({"phone": "1"}, "not a phone number"):
        answer = shopper.fill_details(**typed)
        assert answer.status_code == 422
        assert says in answer.content.decode()


def test_browsers_can_fill_the_form_in_and_every_field_has_a_label(shopper, basket):
    page = shopper.get("/checkout").content.decode()
    for token in ("email", "tel", "shipping name", "shipping address-line1", "shipping postal-code", "billing country"):
        assert f'autocomplete="{token}"' in page
    for name in ("email", "phone", "shipping-name", "shipping-country", "billing-city"):
        assert f'<label for="id_{name}">' in page


def test_the_shops_own_country_is_chosen_at_first(shopper, basket):
    page = shopper.get("/checkout").content.decode()
    assert '<option value="DE" selected>Germany</option>' in page


def test_only_countries_that_are_delivered_to_can_be_chosen(shopper, basket, rates):
    page = shopper.get("/checkout").content.decode()
    choices = page.split('name="shipping-country"')[1].split("</select>")[0]
    assert 'value="DE"' in choices
    assert 'value="AT"' in choices
    assert 'value="FR"' not in choices
    answer = shopper.fill_details(**{"shipping-country": "FR"})
    assert b"does not deliver to this country" in answer.content


def test_a_rate_for_everywhere_opens_every_country(shop, shopper, basket, rates):
    make_rate(shop, "World", "30.00")
    assert shopper.fill_details(**{"shipping-country": "FR"}).status_code == 303


def test_another_shops_rates_count_for_nothing(other_shop, shopper, basket, rates):
    make_rate(other_shop, "Elsewhere", "1.00")
    assert shopper.fill_details(**{"shipping-country": "FR"}).status_code == 422


def test_the_billing_address_is_the_same_unless_another_is_given(shopper, basket):
    other = {"billing-name": "Charles", "billing-line1": "1 Dorset Street", "billing-postal_code": "W1U 4EG"}
    shopper.fill_details(**other)
    assert Checkout.objects.get().billing_address is None
    fields = details(**other) | {"billing-city": "London", "billing-country": "GB"}
    del fields["same"]
    assert shopper.post("/checkout", fields).status_code == 303
    assert Checkout.objects.get().billing_address["name"] == "Charles"
    shopper.post("/checkout/payment", shopper.payment_fields())
    order = Order.objects.get()
    assert (order.shipping_address["city"], order.billing_address["city"]) == ("Kiel", "London")


def test_another_billing_address_is_checked(shopper, basket):
    fields = details()
    del fields["same"]
    answer = shopper.post("/checkout", fields)
    assert answer.status_code == 422
    assert b'id="id_billing-name_error"' in answer.content


def test_delivery_is_chosen_and_added_to_the_total(shopper, basket, rates):
    _, express = rates
    shopper.fill_details()
    page = shopper.get("/checkout/delivery").content.decode()
    assert "Parcel" in page
    assert "€12.00" in page
    assert shopper.choose_delivery(str(express.pk))["Location"] == "/checkout/payment"
    shopper.post("/checkout/payment", shopper.payment_fields())
    order = Order.objects.get()
    assert (order.shipping_method, order.shipping, order.total) == ("Express", Decimal("12.00"), Decimal("31.00"))


@pytest.mark.parametrize("given", ["", "-", "999999999", "x"])
def test_refuses_an_unavailable_delivery_method(shopper, basket, rates, given):
    shopper.fill_details()
    assert shopper.choose_delivery(given).status_code == 422
    assert shopper.get("/checkout/payment")["Location"] == "/checkout/delivery"


def test_an_address_that_the_chosen_way_does_not_serve_asks_again(shopper, basket, rates):
    _, express = rates
    shopper.fill_details()
    shopper.choose_delivery(str(express.pk))
    shopper.fill_details(**{"shipping-country": "AT", "shipping-postal_code": "1010"})
    shopper.post("/checkout/payment", shopper.payment_fields())
    assert Order.objects.get().shipping_method == "Parcel"


def test_says_if_no_delivery_method_fits_the_weight(shop, shopper, basket, rates):
    ShippingRate.objects.filter(shop=shop).update(maximum_weight=Decimal("0.500"))
    shopper.fill_details()
    page = shopper.get("/checkout/delivery")
    assert b"We cannot deliver this order to this address." in page.content
    assert shopper.get("/checkout/payment")["Location"] == "/checkout/delivery"


def test_tax_is_known_once_the_address_is(shop, shopper, basket):
    TaxRate.objects.create(shop=shop, name="VAT", country="DE", percent=Decimal(19))
    assert "VAT" not in words_of(shopper.read("/checkout"))
    shopper.fill_details()
    assert "Includes VAT 19%" in shopper.get("/checkout/payment").content.decode()
    shopper.post("/checkout/payment", shopper.payment_fields())
    order = Order.objects.get()
    assert (order.total, order.tax) == (Decimal("19.00"), Decimal("3.03"))
    assert order.tax_lines == [
        {"name": "VAT", "percent": "19", "base": "15.97", "amount": "3.03", "treatment": "taxed"}
    ]
    assert order.lines.get().tax == Decimal("3.03")


def test_tax_on_top_is_part_of_the_total_that_is_shown_and_paid(shop, shopper, basket):
    shop.prices_include_tax = False
    shop.save()
    TaxRate.objects.create(shop=shop, name="Sales tax", country="DE", percent=Decimal("7.5"))
    shopper.fill_details()
    assert "Place order and pay €20.43" in shopper.get("/checkout/payment").content.decode()
    shopper.post("/checkout/payment", shopper.payment_fields())
    assert Order.objects.get().total == Decimal("20.43")


def test_digital_products_need_no_delivery(shop, api, shopper):
    song = make_download(shop, "Song", requires_shipping=False)
    shopper.bring(api, {"product_id": song.pk})
    page = shopper.get("/checkout").content.decode()
    assert "Delivery address" not in page
    billing = {f"billing-{name}": value for name, value in details_of_billing().items()}
    assert shopper.post("/checkout", {"email": "ada@example.com", **billing})["Location"] == "/checkout/payment"
    assert shopper.get("/checkout/delivery")["Location"] == "/checkout/payment"
    shopper.post("/checkout/payment", shopper.payment_fields())
    order = Order.objects.get()
    assert order.shipping_address is None
    assert order.billing_address["name"] == "Ada Lovelace"
    assert order.shipping_method == ""


def details_of_billing() -> dict[str, str]:
    return {name.removeprefix("shipping-"): value for name, value in details().items() if name.startswith("shipping-")}


def test_what_has_to_be_sent_asks_for_the_address_when_it_comes_later(shop, api, shopper, mug):
    song = make_download(shop, "Song", requires_shipping=False)
    shopper.bring(api, {"product_id": song.pk})
    billing = {f"billing-{name}": value for name, value in details_of_billing().items()}
    shopper.post("/checkout", {"email": "ada@example.com", **billing})
    shopper.bring(api, {"product_id": mug.pk})
    assert shopper.get("/checkout/payment")["Location"] == "/checkout"


def test_later_steps_redirect_to_the_incomplete_one(shopper, basket):
    for path in ("/checkout/delivery", "/checkout/payment"):
        assert shopper.get(path)["Location"] == "/checkout"


def test_forms_need_the_sites_own_token(shop, basket, shopper):
    shopper.browser.handler.enforce_csrf_checks = True
    assert shopper.fill_details().status_code == 403


def test_browsers_tell_the_shop_itself_where_its_forms_come_from(shopper, basket):
    # Without this they would send "Origin: null" with them, as the header asks, and every form would be refused.
    shopper.browser.handler.enforce_csrf_checks = True
    page = shopper.get("/checkout")
    assert '<meta name="referrer" content="same-origin">' in page.content.decode()
    fields = details() | {"csrfmiddlewaretoken": shopper.browser.cookies["storefront_csrf"].value}
    assert shopper.post("/checkout", fields, headers={"origin": "http://shop.example.com"}).status_code == 303
    assert shopper.post("/checkout", fields, headers={"origin": "null"}).status_code == 403
