"""A signed-in shopper sees and pays the prices of their group, at once and everywhere (R-CART-30)."""

import json
import re

import pytest

from storefront.pricing.models import GroupPrice
from tests.carts.factories import make_group
from tests.catalogue.factories import make_category, make_option, make_product, make_variant
from tests.checkout.shopper import Shopper
from tests.customers.factories import make_customer


@pytest.fixture
def trade(shop):
    return make_group(shop, "10")


@pytest.fixture
def dealer(shop, trade) -> Shopper:
    make_customer(shop, group=trade)
    dealer = Shopper(shop)
    dealer.sign_in()
    return dealer


def price_on(page: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", "", page[page.index('id="price"') :].split(">", 1)[1].split("</p>")[0]).split())


def read(shopper: Shopper, path: str) -> str:
    return shopper.get(path).content.decode()


def test_product_pages_and_grids_show_the_group_price(shop, trade, dealer):
    cups = make_category(shop, "Cups")
    mug = make_product(shop, "Mug", price="10.00", is_featured=True, categories=(cups,))
    make_product(shop, "Bowl", price="20.00", categories=(cups,))
    GroupPrice.objects.create(shop=shop, group=trade, product=mug, price="8.00")
    assert price_on(read(dealer, "/products/mug")) == "€8.00"
    for path in ("/", "/products", "/categories/cups", "/products?q=mug"):
        page = read(dealer, path)
        assert "€8.00" in page
        assert "€10.00" not in page
    # The group's discount, for a product without a group price; also among the related products.
    assert "€18.00" in read(dealer, "/products/mug")


def test_everybody_else_sees_the_list_price(shop, trade, dealer):
    mug = make_product(shop, "Mug", price="10.00")
    GroupPrice.objects.create(shop=shop, group=trade, product=mug, price="8.00")
    make_customer(shop, "bob@example.com")
    bob = Shopper(shop)
    bob.sign_in("bob@example.com")
    for shopper in (bob, Shopper(shop)):
        assert price_on(read(shopper, "/products/mug")) == "€10.00"
    dealer.post("/account/sign-out", {})
    assert price_on(read(dealer, "/products/mug")) == "€10.00"


def test_variants_have_group_prices_in_the_range_and_in_the_script(shop, trade, dealer):
    shirt = make_product(shop, "Shirt")
    blue = make_variant(shirt, "Blue", price="12.00")
    make_variant(shirt, "Red", price="14.00")
    GroupPrice.objects.create(shop=shop, group=trade, product=shirt, variant=blue, price="13.50")
    page = read(dealer, "/products/shirt")
    assert price_on(page) == "€13.50"
    assert "€12.60 – €13.50" in page
    data = json.loads(re.search(r'id="variants">(.*?)</script>', page)[1])
    assert {each["name"]: (each["amount"], each["price"]) for each in data} == {
        "Blue": ("13.50", "€13.50"),
        "Red": ("12.60", "€12.60"),
    }


def test_options_cost_the_same_on_top(shop, trade, dealer):
    mug = make_product(shop, "Mug", price="10.00")
    make_option(mug, "Engraving", {"Gold": "5.00"}, required=True)
    assert price_on(read(dealer, "/products/mug")) == "€14.00"


def test_basket_checkout_and_order_have_the_same_price(shop, trade, dealer):
    mug = make_product(shop, "Mug", price="10.00")
    GroupPrice.objects.create(shop=shop, group=trade, product=mug, price="8.00")
    dealer.post("/basket/add", {"product": mug.pk, "qty": 2})
    assert "€16.00" in read(dealer, "/basket")
    dealer.order()
    order = shop.orders.get()
    assert (str(order.subtotal), str(order.lines.get().unit_price)) == ("16.00", "8.00")


def test_signing_in_applies_group_prices_to_the_basket(shop, trade):
    make_customer(shop, group=trade)
    mug = make_product(shop, "Mug", price="10.00")
    visitor = Shopper(shop)
    visitor.post("/basket/add", {"product": mug.pk, "qty": 1})
    assert "€10.00 each" in read(visitor, "/basket")
    visitor.sign_in()
    assert "€9.00 each" in read(visitor, "/basket")


def test_a_new_group_applies_at_once(shop, dealer):
    mug = make_product(shop, "Mug", price="10.00")
    dealer.post("/basket/add", {"product": mug.pk, "qty": 1})
    customer = shop.customers.get()
    customer.group = make_group(shop, "50", name="Friends")
    customer.save()
    assert price_on(read(dealer, "/products/mug")) == "€5.00"
    assert "€5.00 each" in read(dealer, "/basket")


def test_ignores_another_shops_group_prices(shop, other_shop, dealer):
    make_customer(other_shop, group=make_group(other_shop, "0", name="Trade"))
    make_product(other_shop, "Mug", price="10.00")
    page = dealer.get("/products/mug", headers={"host": other_shop.domain}).content.decode()
    assert price_on(page) == "€10.00"


@pytest.mark.parametrize("count", [1, 10])
def test_group_prices_take_a_constant_number_of_queries(shop, dealer, count, django_assert_max_num_queries):
    for number in range(count):
        make_variant(make_product(shop, f"Cup {number}"), price="12.00")
    for _ in range(2):
        read(dealer, "/products")
    with django_assert_max_num_queries(21):
        page = read(dealer, "/products")
    assert page.count("€10.80") == count
