"""The demo provider takes no money, so it exists in demo shops alone."""

import pytest
from django.core.management import call_command

from storefront.catalogue.models import Product
from storefront.orders.models import Order
from storefront.payments import asking, methods
from storefront.payments.accounts import available_providers, offered_providers
from storefront.payments.models import Payment
from storefront.payments.providers.registry import PROVIDERS
from storefront.shops.models import Shop
from tests.checkout.shopper import Shopper
from tests.payments.conftest import stock
from tests.shops.factories import make_shop
from tests.staff import make_staff, open_desk


@pytest.fixture
def real_shop(db) -> Shop:
    return make_shop("real.example.com", is_demo=False)


def test_createshop_makes_a_demo_shop_only_if_told(db, capsys):
    for name, flags in (("real", ()), ("demo", ("--demo",))):
        call_command(
            *("createshop", "--domain", f"{name}.example.com", "--name", name, "--base-url", f"https://{name}"), *flags
        )
    shops = {shop.name: (shop.is_demo, shop.payment_methods) for shop in Shop.objects.all()}
    assert shops == {"real": (False, ["manual"]), "demo": (True, ["demo", "manual"])}


def test_only_a_demo_shop_offers_it(shop, real_shop):
    assert "demo" in shop.payment_methods
    assert "demo" in real_shop.payment_methods
    assert [provider.name for provider in offered_providers(shop)] == ["manual", "demo"]
    assert [provider.name for provider in offered_providers(real_shop)] == ["manual"]
    assert "demo" not in available_providers(real_shop)


def at_payment(shopper: Shopper, mug: Product) -> Shopper:
    shopper.post("/basket/add", {"product": mug.pk, "qty": 1})
    assert shopper.fill_details().status_code == 303
    return shopper


def test_elsewhere_shoppers_cannot_choose_it_even_if_they_send_it(shopper, mug):
    fields = at_payment(shopper, mug).payment_fields("demo")
    Shop.objects.update(is_demo=False)
    assert "Card (demo)" not in shopper.read("/checkout/payment")
    assert shopper.post("/checkout/payment", fields).status_code == 422
    assert not Payment.objects.exists()
    assert not Order.objects.exists()


def test_elsewhere_a_payment_with_it_is_refused_whoever_begins_it(shopper, mug, monkeypatch):
    fields = at_payment(shopper, mug).payment_fields("demo")
    Shop.objects.update(is_demo=False)
    monkeypatch.setattr(methods, "offered_providers", lambda _shop: [PROVIDERS["demo"]])
    refused = shopper.post("/checkout/payment", fields)
    assert refused.status_code == 422
    assert str(asking.MethodUnavailable.message) in refused.content.decode()
    assert Payment.objects.get().state == "cancelled"
    assert not Order.objects.exists()
    assert stock(mug) == 10


@pytest.mark.slow
def test_staff_of_other_shops_do_not_see_it(shop, real_shop):
    for each, is_shown in ((shop, True), (real_shop, False)):
        desk = open_desk(make_staff(each, name=each.domain.partition(".")[0]))
        page = desk.get(f"/admin/shops/shop/{each.pk}/change/")
        assert ("Card (demo)" in page.content.decode()) is is_shown
