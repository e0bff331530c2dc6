import pytest

from storefront.carts import actions
from storefront.carts.queries import cart_lines
from tests.carts.factories import make_bundle, make_cart, make_customer, make_group
from tests.catalogue.factories import make_media, make_option, make_product, make_variant
from tests.shops.factories import NOW


@pytest.fixture
def basket(shop):
    return make_cart(shop)


def put(cart, product, qty=1, **more):
    return actions.add_line(shop=cart.shop, now=NOW, cart=cart, product_id=product.pk, qty=qty, **more).line


def reprice(cart):
    return actions.reprice_cart(shop=cart.shop, cart=cart, now=NOW).checks


def only(cart):
    (line,) = cart_lines(cart.shop, cart)
    return line


def test_repricing_updates_and_returns_a_changed_price(shop, basket):
    mug = make_product(shop, price="9.50")
    put(basket, mug, 2)
    type(mug).objects.update(price="11.00")
    (change,) = reprice(basket)
    assert (str(change.old_price), str(change.line.price_snapshot)) == ("9.50", "11.00")
    assert not change.is_unavailable
    assert (str(only(basket).price_snapshot), only(basket).qty) == ("11.00", 2)


def test_repricing_without_changes_returns_and_writes_nothing(shop, basket, django_assert_max_num_queries):
    put(basket, make_product(shop))
    with django_assert_max_num_queries(5) as asked:
        assert reprice(basket) == []
    assert not [query for query in asked.captured_queries if query["sql"].startswith("UPDATE")]


def test_repricing_updates_name_and_picture_without_returning_them(shop, basket):
    mug = make_product(shop, "Mug")
    put(basket, mug)
    type(mug).objects.update(name="Cup")
    make_media(mug, "https://cdn.example.com/cup.jpg")
    assert reprice(basket) == []
    assert (only(basket).name_snapshot, only(basket).image_snapshot) == ("Cup", "https://cdn.example.com/cup.jpg")


def test_repricing_updates_option_prices(shop, basket):
    mug = make_product(shop, price="9.50")
    option = make_option(mug, values={"Gold": "5.00"})
    text = make_option(mug, "Dedication", {"Text": "1.00"}, type="text")
    put(basket, mug, options={option.pk: option.values.get().pk, text.pk: "To Ada"})
    option.values.update(price="6.00")
    assert [str(change.line.price_snapshot) for change in reprice(basket)] == ["16.50"]


def test_repricing_keeps_a_custom_price(shop, basket):
    gift = make_product(shop, allow_custom_price=True)
    put(basket, gift, custom_price=25)
    type(gift).objects.update(price="99.00")
    assert reprice(basket) == []


@pytest.mark.parametrize(
    "change",
    [
        {"status": "draft"},
        {"status": "archived"},
        {"deleted_at": NOW},
        {"unpublish_at": NOW},
        {"allow_custom_price": False},
        {"min_custom_price": "26.00"},
    ],
)
def test_repricing_returns_unavailable_lines_and_keeps_them(shop, basket, change):
    gift = make_product(shop, allow_custom_price=True)
    put(basket, gift, custom_price=25)
    type(gift).objects.update(**change)
    (returned,) = reprice(basket)
    assert returned.is_unavailable
    assert only(basket).qty == 1


def test_inactive_variant_or_deleted_value_makes_a_line_unavailable(shop, basket):
    shirt = make_product(shop)
    blue = make_variant(shirt)
    option = make_option(shirt, values={"Logo": "1.00"})
    put(basket, shirt, variant_id=blue.pk)
    put(basket, shirt, variant_id=blue.pk, options={option.pk: option.values.get().pk})
    option.values.all().delete()
    assert [change.is_unavailable for change in reprice(basket)] == [True]
    blue.is_active = False
    blue.save()
    assert [change.is_unavailable for change in reprice(basket)] == [True, True]


def test_repricing_updates_the_items_of_a_bundle(shop, basket):
    mug, plate = make_product(shop, "Mug"), make_product(shop, "Plate")
    bundle = make_bundle(shop, parts={mug: 1})
    put(basket, bundle)
    bundle.bundle_items.update(product=plate)
    reprice(basket)
    assert [item["name"] for item in only(basket).bundle_items] == ["Plate"]


def test_repricing_uses_the_prices_of_the_customers_group(shop):
    customer = make_customer(shop)
    theirs = make_cart(shop, customer)
    put(theirs, make_product(shop, price="10.00"))
    customer.group = make_group(shop, "10")
    customer.save()
    assert [str(change.line.price_snapshot) for change in reprice(theirs)] == ["9.00"]


def test_another_shops_cart_is_not_repriced(shop, other_shop):
    theirs = make_cart(other_shop)
    put(theirs, make_product(other_shop, price="10.00"))
    theirs.lines.update(price_snapshot="1.00")
    assert actions.reprice_cart(shop=shop, cart=theirs, now=NOW).checks == []
    assert str(only(theirs).price_snapshot) == "1.00"
