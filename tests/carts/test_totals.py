from datetime import timedelta

import time_machine

from storefront.carts import queries
from storefront.catalogue.models import TaxClass
from storefront.kit import clock
from storefront.pricing.models import Discount, TaxRate
from storefront.pricing.queries import tax_terms
from tests.carts.factories import add, contents, filled
from tests.catalogue.factories import make_category, make_product, make_variant
from tests.orders.files import make_download
from tests.pricing.rows import make_discount, make_rate
from tests.shops.factories import NOW


def totals(api, token):
    return contents(api, token)["totals"]


def test_totals_add_up(shop, api):
    token = filled(api, make_product(shop, price="9.50"), 2)
    add(api, make_product(shop, price="0.99"), 3, cart=token)
    assert totals(api, token) == {
        "subtotal": "21.97",
        "shipping": "0.00",
        "tax": "0.00",
        "discount": "0.00",
        "total": "21.97",
        "amount_due": "21.97",
        "item_count": 5,
        "line_count": 2,
        "tax_included": True,
    }


def test_tax_and_shipping_are_zero_without_an_address(shop, api):
    TaxRate.objects.create(shop=shop, name="VAT", country="DE", percent=19)
    make_rate(shop)
    sums = totals(api, filled(api, make_product(shop)))
    assert (sums["tax"], sums["shipping"]) == ("0.00", "0.00")


def test_a_discount_that_runs_is_taken_off(shop, api):
    Discount.objects.create(shop=shop, name="Autumn", kind="percent", value=10)
    sums = totals(api, filled(api, make_product(shop, price="9.50"), 2))
    assert (sums["subtotal"], sums["discount"], sums["total"]) == ("19.00", "1.90", "17.10")


def test_a_discount_may_be_for_one_category(shop, api):
    cups = make_category(shop)
    make_discount(shop, name="Cups", value=50, items=[cups])
    token = filled(api, make_product(shop, price="10.00", categories=(cups,)))
    add(api, make_product(shop, price="7.00"), cart=token)
    assert totals(api, token)["discount"] == "5.00"


def test_discount_larger_than_the_subtotal_makes_the_total_zero(shop, api):
    Discount.objects.create(shop=shop, name="Gift", kind="amount", value="100.00")
    sums = totals(api, filled(api, make_product(shop, price="9.50")))
    assert (sums["discount"], sums["total"]) == ("9.50", "0.00")


def test_discounts_that_do_not_run_or_are_another_shops_count_for_nothing(shop, other_shop, api):
    now = clock.now()
    for given in (
        {"starts_at": now + timedelta(days=1)},
        {"ends_at": now - timedelta(days=1)},
        {"is_active": False},
        {"minimum_subtotal": "9.51"},
        {"shop": other_shop},
    ):
        Discount.objects.create(**{"shop": shop, "name": "No", "kind": "percent", "value": 10} | given)
    assert totals(api, filled(api, make_product(shop, price="9.50")))["discount"] == "0.00"


def test_a_discount_begins_and_ends_at_its_moments(shop, api):
    begin, end, instant = NOW + timedelta(days=1), NOW + timedelta(days=2), timedelta(microseconds=1)
    make_discount(shop, starts_at=begin, ends_at=end)
    with time_machine.travel(NOW, tick=False):
        token = filled(api, make_product(shop, price="10.00"))
    for now, discount in ((begin - instant, "0.00"), (begin, "1.00"), (end - instant, "1.00"), (end, "0.00")):
        with time_machine.travel(now, tick=False):
            assert [totals(api, token)["discount"] for _ in range(2)] == [discount] * 2


def test_response_to_a_change_has_the_discount(shop, api):
    Discount.objects.create(shop=shop, name="Autumn", kind="percent", value=10)
    mug = make_product(shop, price="9.50")
    token = filled(api, mug)
    body = api.patch(f"/cart/p{mug.pk}", {"qty": 2}, cart=token).json()
    assert body["data"]["totals"]["discount"] == "1.90"


def test_with_a_country_there_is_tax_by_class(shop, other_shop, api):
    reduced = TaxClass.objects.create(shop=shop, name="reduced")
    TaxRate.objects.create(shop=shop, name="VAT", country="DE", percent=19)
    TaxRate.objects.create(shop=shop, name="VAT", country="DE", percent=7, tax_class=reduced)
    TaxRate.objects.create(shop=other_shop, name="VAT", country="DE", percent=50)
    token = filled(api, make_product(shop, price="11.90"))
    add(api, make_product(shop, price="10.70", tax_class=reduced), cart=token)
    add(api, make_product(shop, price="5.00", is_taxable=False), cart=token)
    _, lines = queries.cart_with_lines(shop, clock.now(), token=token)
    terms = tax_terms(shop, destination={"country": "DE"})
    sums = queries.cart_totals(shop, lines, clock.now(), terms=terms, shipping=lines[0].price_snapshot)
    assert [(line.percent, line.name) for line in sums.tax_lines] == [(19, "VAT"), (7, "VAT")]
    assert sum(sums.line_taxes) + sums.shipping_tax == sums.tax
    assert sums.line_taxes[2] == 0
    assert sums.total == sums.subtotal + sums.shipping
    elsewhere = tax_terms(shop, destination={"country": "US"})
    assert queries.cart_totals(shop, lines, clock.now(), terms=elsewhere).tax == 0


def test_weight_is_the_variants_or_the_products_of_what_is_sent(shop, api):
    shirt = make_product(shop, "Shirt", weight="0.500")
    light, same = make_variant(shirt, "Light", weight="0.200"), make_variant(shirt, "Same")
    token = filled(api, shirt, 2, variant_id=light.pk)
    add(api, shirt, variant_id=same.pk, cart=token)
    add(api, make_product(shop, weight="9.000", requires_shipping=False), cart=token)
    add(api, make_download(shop, weight="9.000"), cart=token)
    cart, _ = queries.cart_with_lines(shop, clock.now(), token=token)
    lines = queries.cart_lines(shop, cart)
    parcel = queries.parcel(shop, lines)
    assert (str(parcel.weight), parcel.count) == ("0.900", 3)
    assert queries.needs_shipping(lines)
    assert not queries.needs_shipping(lines[2:])
