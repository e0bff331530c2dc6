"""What the rooms of products, orders and prices show in the admin is in the language of the member of staff."""

import re
import subprocess
import sys
from decimal import Decimal

import pytest
from django.utils import translation

from storefront.catalogue.inventory.actions import BelowZero, adjust_stock
from storefront.catalogue.inventory.ledger import NOBODY
from storefront.catalogue.models import Product
from storefront.kit import clock
from storefront.orders.models import Order
from storefront.payments import alerts
from storefront.payments.models import Payment
from storefront.product_files.models import ProductImport
from storefront.product_files.stated_prices import StatedPrices
from storefront.shops.models import User
from tests.catalogue.factories import make_product
from tests.product_files.test_admin_imports import upload, work
from tests.server.admin_rows import make_payment
from tests.staff import admin_url

BROKEN = b'{"name": "Cup", "sku": "C1", "price": "9.50", "variants": "two"}\n'


@pytest.fixture
def role() -> str:
    return "manager"


@pytest.fixture
def german(desk):
    User.objects.update(language="de")
    return desk


def test_the_report_of_an_import_is_in_the_language_of_whoever_uploaded_it(german):
    upload(german, BROKEN)
    work()
    row = ProductImport.objects.get()
    assert [each["reason"] for each in row.problems] == ["erwartet eine Liste"]
    page = german.page(row).content.decode()
    assert "0 angelegt, 0 geändert, 0 übersprungen, 1 fehlgeschlagen" in page


@pytest.mark.parametrize(
    ("member", "reason"),
    [
        ('"price": 9', "erwartet eine Dezimalzahl als Text wie \"12.50\", gefunden: '9'"),
        ('"is_featured": "yes"', "erwartet true oder false, gefunden: '\"yes\"'"),
        ('"tags": "new"', 'erwartet eine Liste von Texten wie ["new"]'),
    ],
)
def test_so_are_the_reasons_of_each_type_of_member(german, member, reason):
    upload(german, f'{{"name": "Cup", "sku": "C1", {member}}}\n'.encode())
    work()
    row = ProductImport.objects.get()
    assert [(each["reason"], each["severity"]) for each in row.problems] == [(reason, "error")]
    assert re.search(r"<td[^>]*>\s*Fehler\s*</td>", german.page(row).content.decode())
    assert ",Fehler," in german.get(admin_url(row, "change").replace("change/", "report/")).content.decode()


@pytest.mark.parametrize(
    ("sale", "reason"),
    [
        (None, "ist leer; die Aktion endet; wird einmal gemeldet"),
        (15, "ist nicht niedriger als der reguläre Preis; nicht beachtet; die frühere Aktion endet"),
    ],
)
def test_so_are_the_reasons_why_a_sale_ends(sale, reason):
    stated = StatedPrices(Decimal(12), sale and Decimal(sale), None, None, frozenset({"sale price"}))
    row = Product(price=Decimal(8), compare_price=Decimal(12))
    with translation.override("de"):
        assert stated.apply(row, is_new=False, now=clock.now()) == reason


def test_what_a_payment_needs_is_stored_in_english_and_shown_in_german():
    odd = [alerts.TOOK_LESS % {"captured": "4.00", "amount": "9.50"}, alerts.NO_SENSE]
    odd.append(alerts.ANOTHER_PAYMENT % {"reference": "100% of %(it)s"})
    assert [alerts.worded(text) for text in odd] == odd
    with translation.override("de"):
        assert [alerts.worded(text) for text in odd] == [
            "Der Zahlungsanbieter hat 4,00 der verlangten 9,50 eingezogen.",
            "Die Antwort des Zahlungsanbieters ergibt keinen Sinn.",
            "Der Zahlungsanbieter hat zu einer anderen Zahlung geantwortet: 100% of %(it)s.",
        ]
        assert " 0,50" in alerts.worded(alerts.STRIPE_FRACTIONS % {"currency": "ISK", "amount": "0.50"})
        assert alerts.worded("Damaged in transit, said Ada.") == "Damaged in transit, said Ada."
        assert alerts.worded("") == ""


def test_the_pages_of_payments_show_it_in_german(german, shop):
    payment = make_payment(shop)
    payment.alert = alerts.NO_SENSE
    payment.save()
    for path in (admin_url(Payment, "changelist"), admin_url(payment, "change"), admin_url(payment.order, "change")):
        assert "Die Antwort des Zahlungsanbieters ergibt keinen Sinn." in german.get(path).content.decode(), path


def test_the_stock_of_a_product_is_refused_in_german(shop):
    mug = make_product(shop, name="Mug", stock_qty=2)
    with translation.override("de"), pytest.raises(BelowZero) as refusal:
        adjust_stock(shop=shop, product_id=mug.pk, delta=-3, reason="", author=NOBODY, now=clock.now())
    assert refusal.value.text == "Nur 2 auf Lager."


def test_a_report_is_in_english_for_whoever_has_chosen_nothing(desk):
    upload(desk, BROKEN)
    work()
    assert [each["reason"] for each in ProductImport.objects.get().problems] == ["expected a list"]


def test_the_scripts_of_a_products_page_have_its_language(german, shop):
    page = german.page(make_product(shop, name="Mug")).content.decode()
    assert '"noneChosen": "Nichts ausgew\\u00e4hlt"' in page
    assert "Beschädigte Stücke" in page


def test_the_message_after_an_action_is_in_the_language_of_the_page(german, shop):
    product = make_product(shop, name="Mug")
    url = admin_url(Product, "changelist")
    page = german.post(url, {"action": "archive", "_selected_action": [product.pk]}, follow=True).content.decode()
    assert "1 geändert." in page


def test_states_of_orders_and_words_of_other_things_differ(german):
    page = german.get(admin_url(Order, "changelist")).content.decode()
    assert "Zu versenden" in page
    assert "Storniert" in page
    assert "Hier stehen Bestellungen, sobald sie aufgegeben sind." in page


def test_the_list_of_derived_texts_has_all_that_the_admin_shows():
    checked = subprocess.run(
        [sys.executable, "bin/admin_names.py", "--check"], capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr
