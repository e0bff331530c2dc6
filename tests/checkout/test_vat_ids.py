"""VAT IDs at the checkout: asked at the register, kept with the order, and free of tax only when they are valid."""

import json
from datetime import timedelta
from decimal import Decimal

import pytest
from aiohttp import web
from limits import parse

from storefront.checkout import vat_ids
from storefront.checkout.models import Checkout
from storefront.documents.issuing import issue_documents
from storefront.kit import clock
from storefront.kit.clock import timestamp
from storefront.orders.jobs import send_order_confirmation
from storefront.orders.models import Order
from storefront.orders.queries import order_record
from storefront.orders.verifying import deviations
from storefront.payments.models import Payment
from storefront.pricing.models import TaxRate
from storefront.shops.mail_html import TOTAL_RULE
from tests.catalogue.factories import make_product
from tests.checkout.shopper import Shopper
from tests.documents.factories import make_settings
from tests.orders.factories import capture
from tests.receiver import receiving
from tests.shops.factories import NOW
from tests.staff import make_staff, open_desk

FRENCH = "FR40303265045"
IN_FRANCE = {"shipping-country": "FR", "shipping-postal_code": "75001", "shipping-city": "Paris"}
KNOWN = {"valid": True, "name": "SA SODIMAS", "address": "---", "requestIdentifier": "WAPIAAAAYGzbxKBC"}


def saying(status=200, **said):
    """A register that answers so about the ID that it was asked about."""

    async def answer(request: web.Request) -> web.Response:
        asked = json.loads(await request.read())
        about = {name: asked[name] for name in ("countryCode", "vatNumber")}
        return web.json_response(about | said, status=status)

    return answer


@pytest.fixture
def register(settings):
    """The EU's register, which knows every VAT ID."""
    settings.ALLOW_PRIVATE_CALLBACKS = True
    with receiving(saying(**KNOWN)) as receiver:
        settings.VIES_API = receiver.url
        yield receiver


@pytest.fixture
def taxed(shop):
    shop.asks_vat_id, shop.vat_id = True, "DE136695976"
    shop.save()
    TaxRate.objects.create(shop=shop, name="VAT", country="DE", percent=19)
    TaxRate.objects.create(shop=shop, name="VAT", country="FR", percent=20)
    make_product(shop, "Mug", price="11.90", stock_qty=50)
    return shop


@pytest.fixture
def basket(taxed, shopper):
    shopper.post("/basket/add", {"product": taxed.products.get().pk, "qty": "2"})


def order_of(shopper: Shopper, **details) -> Order:
    answer = shopper.fill_details(**{**IN_FRANCE, "vat_id": FRENCH} | details)
    assert answer.status_code == 303, answer.content.decode()
    answer = shopper.post("/checkout/payment", shopper.payment_fields())
    assert answer.status_code == 303, answer.content.decode()
    return Order.objects.latest("pk")


def test_a_business_abroad_pays_no_tax_and_order_page_mail_and_invoice_say_why(
    taxed, shopper, basket, register, mailoutbox
):
    order = order_of(shopper, vat_id="fr 40 303 265 045")
    asked = json.loads(register.next().body)
    assert asked == {
        "countryCode": "FR",
        "vatNumber": "40303265045",
        "requesterMemberStateCode": "DE",
        "requesterNumber": "136695976",
    }
    assert (order.subtotal, order.tax, order.total, order.prices_include_tax) == (20, 0, 20, False)
    record = order_record(order)
    assert record["vat_id"] == FRENCH
    assert record["vat_check"]["result"] == "valid"
    assert record["vat_check"]["consultation_number"] == "WAPIAAAAYGzbxKBC"
    assert record["vat_check"]["name"] == "SA SODIMAS"
    line = {
        "name": "Reverse charge",
        "percent": "0",
        "base": "20.00",
        "amount": "0.00",
        "treatment": "reverse_charge",
    }
    assert record["tax_lines"] == record["lines"][0]["tax_lines"] == [line]
    assert record["lines"][0]["unit_price"] == "10.00"
    assert "Reverse charge" in shopper.read(f"/orders/{order.public_id}")
    send_order_confirmation.call(order.shop_id, order.pk)
    (mail,) = mailoutbox
    sums = f"Subtotal: €20.00\nReverse charge: €0.00\n{TOTAL_RULE}\nTotal: €20.00"
    assert sums in mail.body.replace("Delivery: Free\n", "")
    shown = " ".join(open_desk(make_staff(taxed)).page(order).content.decode().split())
    for part in ("Reverse charge on €20.00: €0.00", FRENCH, "WAPIAAAAYGzbxKBC", "SA SODIMAS"):
        assert part in shown, part
    make_settings(taxed)
    capture(Payment.objects.get(order=order))
    (invoice,) = issue_documents(shop=taxed, order=order, now=NOW)
    assert invoice.record["buyer_vat_id"] == FRENCH
    assert invoice.record["notes"][0].startswith("Reverse charge: the recipient is liable")
    assert invoice.record["taxes"][0]["base"] == "20.00"
    assert list(deviations(taxed)) == []


@pytest.mark.parametrize(
    "answering",
    [
        saying(status=500),
        saying(status=302),
        saying(valid="true"),
        saying(actionSucceed=False, errorWrappers=[{"error": "MS_UNAVAILABLE"}]),
        saying(valid=True, vatNumber="99999999999"),
        saying(valid=True, filler="x" * 100_000),
    ],
)
def test_without_a_clear_answer_the_order_is_taxed_and_the_shopper_is_told(taxed, shopper, basket, register, answering):
    register.answering = answering
    shopper.fill_details(**IN_FRANCE, vat_id=FRENCH)
    assert "could not be checked just now, so tax is charged" in shopper.read("/checkout/payment")
    shopper.post("/checkout/payment", shopper.payment_fields())
    order = Order.objects.get()
    assert (order.total, order.tax) == (Decimal("23.80"), Decimal("3.97"))
    assert (order.vat_id, order.vat_check["result"]) == (FRENCH, "unavailable")


def test_a_register_that_never_answers_is_given_up(taxed, shopper, basket, register, settings):
    settings.VIES_SECONDS = 0.2
    register.hold()
    assert order_of(shopper).tax == Decimal("3.97")


def test_the_register_is_never_called_at_an_address_of_our_own_network(taxed, shopper, basket, register, settings):
    settings.ALLOW_PRIVATE_CALLBACKS = False
    assert order_of(shopper).vat_check["result"] == "unavailable"
    assert register.received.empty()


def test_an_id_that_does_not_exist_is_refused_and_the_rest_is_kept(taxed, shopper, basket, register):
    register.answering = saying(valid=False)
    page = shopper.fill_details(**IN_FRANCE, vat_id=FRENCH)
    assert page.status_code == 422
    text = page.content.decode()
    assert "register does not have this VAT ID" in text
    assert f'value="{FRENCH}"' in text
    assert 'value="75001"' in text
    assert not Checkout.objects.exists()


def test_what_is_no_vat_id_is_refused_without_asking(taxed, shopper, basket, register):
    for wrong in ("FR123", "hello", "DE136695975", "\0FR40303265045"):
        assert shopper.fill_details(**IN_FRANCE, vat_id=wrong).status_code == 422
    assert register.received.empty()


def test_an_id_of_the_shops_own_country_is_kept_and_taxed_without_asking(taxed, shopper, basket, register):
    order = order_of(shopper, vat_id="DE136695976")
    assert (order.vat_id, order.vat_check, order.tax) == ("DE136695976", None, Decimal("3.97"))
    assert register.received.empty()


def test_a_valid_id_does_not_free_a_delivery_at_home(taxed, shopper, basket, register):
    at_home = {"shipping-country": "DE", "shipping-postal_code": "10115"}
    assert order_of(shopper, **at_home).tax == Decimal("3.80")


def test_the_same_id_is_asked_once_and_another_again(taxed, shopper, basket, register):
    for vat_id in (FRENCH, FRENCH, "ATU13585627"):
        shopper.fill_details(**IN_FRANCE, vat_id=vat_id)
    assert register.received.qsize() == 2
    shopper.fill_details(**IN_FRANCE, vat_id="")
    checkout = Checkout.objects.get()
    assert (checkout.vat_id, checkout.vat_check) == ("", None)


def test_an_old_answer_no_longer_counts(taxed, shopper, basket, register):
    shopper.fill_details(**IN_FRANCE, vat_id=FRENCH)
    fields = shopper.payment_fields()
    checkout = Checkout.objects.get()
    old = timestamp(clock.now() - vat_ids.COUNTS_FOR - timedelta(seconds=1))
    Checkout.objects.update(vat_check=checkout.vat_check | {"checked_at": old})
    page = shopper.post("/checkout/payment", fields)
    assert page.status_code == 422
    assert not Order.objects.exists()
    assert "VAT 20%" in page.content.decode()


def test_only_so_many_ids_are_asked_about_then_orders_are_taxed(taxed, shopper, basket, register, settings):
    settings.LIMITS = settings.LIMITS | {"vat_checks": [parse("1/hour")]}
    shopper.fill_details(**IN_FRANCE, vat_id="ATU13585627")
    assert order_of(shopper).vat_check["result"] == "unavailable"
    assert register.received.qsize() == 1


def test_a_shop_that_does_not_ask_has_no_such_field(taxed, shopper, basket, register):
    taxed.asks_vat_id = False
    taxed.save()
    assert "VAT ID" not in shopper.read("/checkout")
    order = order_of(shopper)
    assert (order.vat_id, order.tax) == ("", Decimal("3.97"))


def test_an_id_of_one_shops_checkout_is_not_in_anothers(taxed, other_shop, shopper, basket, register):
    shopper.fill_details(**IN_FRANCE, vat_id=FRENCH)
    other_shop.asks_vat_id = True
    other_shop.save()
    stranger = Shopper(other_shop)
    mug = make_product(other_shop, "Mug")
    stranger.post("/basket/add", {"product": mug.pk, "qty": "1"})
    assert FRENCH not in stranger.read("/checkout")
    assert FRENCH not in Shopper(taxed).get("/checkout").content.decode()
