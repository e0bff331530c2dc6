"""What pages, mails and papers show is what is charged, to the last digit: also of currencies that people write without
decimals, though hundredths are charged."""

import re
from decimal import Decimal

import pytest
from babel.numbers import get_currency_precision

from storefront.documents.drawing import pdf_of
from storefront.documents.models import Document
from storefront.kit.currencies import decimals
from storefront.orders import jobs
from storefront.orders.models import Order
from storefront.payments import actions as payments
from tests.catalogue.factories import make_product
from tests.checkout.shopper import Shopper
from tests.documents.factories import make_settings, texts_of, work
from tests.kit.test_money import CODES
from tests.pricing.rows import make_rate
from tests.shops.factories import NOW, make_shop

AMOUNT = re.compile(r"RSD[\d,]+(?:\.\d+)?")


def amounts(text: str) -> set[str]:
    return set(AMOUNT.findall(text))


@pytest.mark.slow
def test_dinars_have_their_hundredths_everywhere(db, desk, shop):
    shop.currency = "RSD"
    shop.save()
    make_rate(shop, price="0.50")
    make_settings(shop)
    mug = make_product(shop, "Mug", price=Decimal("98.50"))
    shopper = Shopper(shop)
    assert amounts(shopper.read("/products")) == amounts(shopper.read("/products/mug")) == {"RSD98.50"}
    shopper.post("/basket/add", {"product": mug.pk, "qty": "3"})
    assert amounts(shopper.read("/basket")) == {"RSD98.50", "RSD295.50", "RSD0.50"}
    shopper.fill_details()
    sums = {"RSD98.50", "RSD295.50", "RSD0.50", "RSD296.00"}
    page = shopper.read("/checkout/payment")
    assert amounts(page) == sums
    assert "Place order and pay RSD296.00" in page
    confirmation = shopper.post("/checkout/payment", shopper.payment_fields())["Location"]
    assert amounts(shopper.read(confirmation)) == sums
    order = Order.objects.get()
    assert order.total == Decimal("296.00")
    assert amounts(jobs.confirmation_mail(order).body) == {"RSD295.50", "RSD0.50", "RSD296.00"}
    assert sums <= amounts(desk.page(order).content.decode())
    payments.mark_paid(shop=shop, order=order, now=NOW)
    work()
    (paper,) = texts_of(pdf_of([Document.objects.get().record]))
    assert amounts(paper) >= sums


@pytest.mark.parametrize("code", [code for code in CODES if decimals(code) != get_currency_precision(code)])
def test_pages_have_the_decimals_of_iso_4217(db, code):
    """Of each currency for which Babel has others."""
    shop = make_shop(language="en")
    shop.currency = code
    shop.save()
    make_product(shop, "Mug", price=Decimal("1234.50"))
    page = Shopper(shop).read("/products/mug")
    assert f"1,234.5{'0' * (decimals(code) - 1)}<" in page
    assert f'data-decimals="{decimals(code)}"' in page
