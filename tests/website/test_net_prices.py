"""A shopper of a group that sees prices without tax sees them everywhere, and the order has them."""

from decimal import Decimal

import pytest

from storefront.orders.models import Order
from storefront.orders.queries import order_record
from storefront.orders.verifying import deviations
from storefront.pricing.models import TaxRate
from storefront.webhooks.models import Event
from tests.carts.factories import make_group
from tests.catalogue.factories import make_option, make_product, make_variant
from tests.checkout.shopper import Shopper
from tests.customers.factories import make_customer
from tests.pricing.rows import make_discount, make_rate


@pytest.fixture
def dealer(shop) -> Shopper:
    group = make_group(shop, "0")
    group.sees_net_prices = True
    group.save()
    make_customer(shop, group=group)
    TaxRate.objects.create(shop=shop, name="VAT", country="DE", percent=19)
    dealer = Shopper(shop)
    dealer.sign_in()
    return dealer


@pytest.fixture
def mug(shop):
    return make_product(shop, "Mug", price="11.90", compare_price="23.80", stock_qty=9)


def test_pages_show_net_prices_to_the_group_alone(shop, dealer, mug):
    scarf = make_product(shop, "Scarf", type="variable", price="11.90")
    make_variant(scarf, "Blue", price="23.80")
    make_option(make_product(shop, "Cup", price="11.90"), "Engraving", {"Gold": "5.95"}, required=True)
    for path, said in (("/products/mug", "plus VAT"), ("/products", "excl. tax")):
        page = dealer.read(path)
        assert "€10.00" in page
        assert "€20.00" in page
        assert said in page
        assert "€11.90" not in page
    assert "€20.00" in dealer.read("/products/scarf")
    cup = dealer.read("/products/cup")
    assert "€15.00" in cup
    assert "€5.00" in cup
    page = Shopper(shop).read("/products/mug")
    assert "€11.90" in page
    assert "without tax" not in page


def test_basket_checkout_order_event_and_mail_have_the_same_sums(shop, dealer, mug, mailoutbox):
    make_rate(shop, price="5.95", countries=["DE"])
    make_discount(shop, "Autumn", "2.38", kind="amount")
    dealer.post("/basket/add", {"product": mug.pk, "qty": "2"})
    basket = dealer.read("/basket")
    assert "€20.00" in basket
    assert "€18.00" in basket
    assert "Tax is added at checkout." in basket
    dealer.fill_details()
    assert "€5.00" in dealer.read("/checkout/delivery")
    page = dealer.read("/checkout/payment")
    for part in ("€20.00", "−€2.00", "€5.00", "VAT 19%", "€4.37", "€27.37"):
        assert part in page, part
    dealer.post("/checkout/payment", dealer.payment_fields())
    order = Order.objects.get()
    sums = [str(getattr(order, name)) for name in ("subtotal", "discount", "shipping", "tax", "total")]
    assert sums == ["20.00", "2.00", "5.00", "4.37", "27.37"]
    assert not order.prices_include_tax
    line = order.lines.get()
    assert (line.unit_price, line.line_total, line.tax) == (Decimal("10.00"), Decimal("20.00"), Decimal("3.42"))
    event = Event.objects.get(topic="order.placed").data
    assert {name: event[name] for name in ("subtotal", "tax", "total", "tax_lines")} == {
        name: order_record(order)[name] for name in ("subtotal", "tax", "total", "tax_lines")
    }
    assert list(deviations(shop)) == []


def test_a_shop_whose_prices_are_without_tax_shows_them_as_they_are(shop, dealer, mug):
    shop.prices_include_tax = False
    shop.save()
    assert "€11.90" in dealer.read("/products/mug")


def test_a_visitor_pays_for_no_query(shop, mug, django_assert_max_num_queries):
    """A group that sees net prices changes nothing for others."""
    visitor = Shopper(shop)
    visitor.post("/basket/add", {"product": mug.pk, "qty": "1"})
    with django_assert_max_num_queries(21) as before:
        visitor.get("/basket")
    make_group(shop, "1")
    with django_assert_max_num_queries(len(before)):
        visitor.get("/basket")


def test_the_baskets_estimate_is_what_the_checkout_says(shop, dealer, mug):
    """Free delivery goes by entered prices, and the price of delivery is shown without tax."""
    make_rate(shop, "Parcel", "5.95", countries=["DE"], free_from="23.00")
    dealer.post("/basket/add", {"product": mug.pk, "qty": "1"})
    assert "€5.00" in dealer.read("/basket")
    dealer.post("/basket/add", {"product": mug.pk, "qty": "1"})
    assert "<dd>Free</dd>" in dealer.read("/basket")


def test_damaged_pieces_are_shown_at_the_net_price(shop, dealer):
    make_product(shop, "Bowl", price="23.80", damaged_price="5.95", damaged_qty=2, stock_qty=1)
    page = dealer.read("/products/bowl")
    assert ("€5.00" in page, "€5.95" in page) == (True, False)
