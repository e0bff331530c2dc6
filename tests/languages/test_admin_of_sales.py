"""What the rooms of products, orders and prices show in the admin is in the language of the member of staff."""

import subprocess
import sys

import pytest

from storefront.catalogue.models import Product
from storefront.orders.models import Order
from storefront.product_files.models import ProductImport
from storefront.shops.models import User
from tests.catalogue.factories import make_product
from tests.product_files.test_admin_imports import upload, work
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
