"""`storefront verify` names every stored value that other rows contradict, and says so by its exit code."""

import io
import json
from decimal import Decimal

import pytest
from django.core.management import call_command

from storefront.catalogue.models import ListingTotal, Media, OptionValue, Product
from storefront.orders.models import Order
from storefront.payments import actions as payments
from storefront.payments.models import Payment
from storefront.server.command import Failed
from tests.catalogue.factories import make_category, make_option, make_product
from tests.orders.factories import make_order, sale_line
from tests.shops.factories import NOW


def verify(*args: str) -> tuple[list[dict], str]:
    """What the command prints, and the sentence that it ends with."""
    out, err = io.StringIO(), io.StringIO()
    try:
        call_command("verify", *args, stdout=out, stderr=err)
    except Failed as failed:
        err.write(str(failed))
    return [json.loads(line) for line in out.getvalue().splitlines()], err.getvalue().strip()


@pytest.fixture
def order(shop) -> Order:
    mug = make_product(shop, "Mug", price=Decimal("9.50"), stock_qty=10, categories=(make_category(shop, "Cups"),))
    return payments.mark_paid(shop=shop, order=make_order(shop, sale_line(mug, 3)), now=NOW)


def test_a_shop_that_sold_agrees(shop, other_shop, order):
    assert verify() == ([], "Everything agrees.")


def test_each_deviation_is_named_with_its_shop(shop, other_shop, order):
    payment = Payment.objects.get()
    make_category(shop, "Bowls")
    shop.categories.filter(slug="cups").update(lft=7)
    ListingTotal.objects.filter(shop=shop, category=0).update(products=4)
    Order.objects.update(subtotal=Decimal("30.00"))
    Payment.objects.update(captured=Decimal("28.00"))
    with_trigger = Product.objects.get()
    with_trigger.adjustments.all().delete()
    option = make_option(with_trigger, "Size")
    OptionValue.objects.create(shop=other_shop, option=option, label="Large")
    Media.objects.create(shop=other_shop, product=with_trigger, source_url="https://a.example.com/1.png")
    found, said = verify("--shop", shop.domain)
    assert {each.pop("shop") for each in found} == {shop.domain}
    assert [tuple(each.values()) for each in found] == [
        ("stock", f"product {with_trigger.pk}", "7", "0"),
        ("shop of a row", f"media of {with_trigger.pk}", str(other_shop.pk), str(shop.pk)),
        ("shop of a row", f"optionvalue of {option.pk}", str(other_shop.pk), str(shop.pk)),
        ("category bounds", "category cups", "(7, 2)", "(1, 2)"),
        ("total of a list", "all products", "4", "1"),
        ("subtotal of the lines", f"order {order.number}", "30.00", "28.50"),
        ("total of the sums", f"order {order.number}", "28.50", "30.00"),
        ("payment log", f"payment {payment.public_id}", "28.00", "28.50"),
    ]
    assert said == "8 stored values differ from what explains them."
    assert verify("--shop", other_shop.domain) == ([], "Everything agrees.")
