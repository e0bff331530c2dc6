"""Filters of the listing, as the address has them and the page shows them."""

import re
from html import unescape
from itertools import chain
from urllib.parse import quote

import pytest

from storefront.customers.models import CustomerGroup
from storefront.listing import page_sql
from storefront.listing.page import clear_caches
from tests.catalogue.factories import make_category, make_media, make_product, make_variant
from tests.checkout.shopper import Shopper
from tests.customers.factories import make_customer
from tests.website.test_listing import names


@pytest.fixture
def goods(shop, other_shop):
    """Three cups and a bowl in Kitchen, a rug elsewhere."""
    acme, bolt = (shop.brands.create(name=name) for name in ("Acme", "Bolt & Sons"))
    kitchen = make_category(shop, "Kitchen")
    felt = [{"name": "Material", "values": ["Felt", "Wool"]}]
    cup = make_product(shop, "Cup", categories=(kitchen,), brand=acme)
    make_variant(cup, "Blue", price="5.00", compare_price="8.00")
    make_variant(cup, "Red", price="9.00", stock_qty=0)
    make_product(shop, "Mug", categories=(kitchen,), brand=bolt, price="12.00", attributes=felt)
    make_product(shop, "Bowl", categories=(kitchen,), brand=bolt, price="20.50", stock_qty=0)
    make_product(shop, "Rug", price="80.00", attributes=[{"name": "material", "values": ["wool"]}])
    theirs = make_product(other_shop, "Secret", brand=other_shop.brands.create(name="Spy"), attributes=felt)
    make_variant(theirs, "Purple")


def boxes(page: str) -> dict[str, str]:
    """By name and value of each box: its count, with a star if it is ticked."""
    found = re.findall(r'type="checkbox" id="[^"]*" name="([^"]*)" value="([^"]*)"( checked)?>.*?count">(\d+)<', page)
    return {f"{name}={unescape(value)}": count + "*" * bool(ticked) for name, value, ticked, count in found}


def chips(page: str) -> dict[str, str]:
    found = re.findall(r'chip--chosen" href="([^"]*)"[^>]*>([^<]*)<', page)
    return {unescape(label).strip(): unescape(url) for url, label in found}


def test_one_variant_has_to_match_all_filters(shop, other_shop, page):
    for where, name, stock in ((shop, "Shirt", 3), (shop, "Sold", 0), (other_shop, "Theirs", 3)):
        shirt = make_product(where, name)
        for colour, size, price, qty in (
            ("Blue", "M", "30.00", stock),
            ("Blue", "S", "9.00", 2),
            ("Red", "M", "9.00", 2),
        ):
            values = {"Colour": colour, "Size": size}
            make_variant(shirt, f"{colour} {size}", option_values=values, price=price, stock_qty=qty)
    assert names(page("/products?filter.Colour=Blue&filter.Size=M")) == ["Sold", "Shirt"]
    text = page("/products?filter.Colour=Blue&filter.Size=M&stock=1")
    assert names(text) == ["Shirt"]
    assert boxes(text) == {
        "stock=1": "1*",
        "filter.Colour=Blue": "1*",
        "filter.Colour=Red": "2",
        "filter.Size=M": "1*",
        "filter.Size=S": "2",
    }
    assert names(page("/products?filter.Colour=Blue&filter.Size=M&max_price=20")) == []
    assert names(page("/products?filter.Colour=Blue&max_price=20")) == ["Sold", "Shirt"]


def test_shows_what_there_is_to_choose_with_counts(goods, page):
    assert boxes(page("/products")) == {
        "stock=1": "3",
        "sale=1": "1",
        "brand=Acme": "1",
        "brand=Bolt & Sons": "2",
        "filter.Colour=Blue": "1",
        "filter.Colour=Red": "1",
        "filter.Material=Felt": "1",
        "filter.Material=Wool": "2",
    }
    assert "Secret" not in page("/products")
    assert 'placeholder="5"' in page("/products")
    assert 'placeholder="80"' in page("/products")


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("brand=Acme", ["Cup"]),
        ("brand=Acme&brand=Bolt+%26+Sons&sort=name", ["Bowl", "Cup", "Mug"]),
        ("stock=1&sort=name", ["Cup", "Mug", "Rug"]),
        ("sale=1", ["Cup"]),
        ("min_price=9&max_price=20,50&sort=name", ["Bowl", "Cup", "Mug"]),
        ("filter.Material=wool&sort=name", ["Mug", "Rug"]),
        ("filter.material=Wool&brand=Bolt+%26+Sons", ["Mug"]),
        ("filter.Colour=Red", ["Cup"]),
        # The red one is sold out.
        ("filter.Colour=Red&stock=1", []),
        ("q=cup&filter.Colour=Red", ["Cup"]),
        ("q=cup&brand=Bolt+%26+Sons", []),
    ],
)
def test_filters_narrow_each_other_down(goods, page, query, found):
    text = page(f"/products?{query}")
    assert names(text) == found
    assert ("No products with these filters" in text) == (not found)


def test_counts_are_under_the_other_filters(goods, page):
    counted = boxes(page("/products?filter.Material=Wool&stock=1"))
    assert counted["filter.Material=Wool"] == "2*"
    assert counted["filter.Material=Felt"] == "1"
    assert counted["brand=Bolt & Sons"] == "1"
    assert "brand=Acme" not in counted


def test_chosen_filters_are_chips_that_remove_them_and_all_links_keep_them(goods, page):
    text = page("/products?q=cup&sort=name&brand=Acme&min_price=1&filter.Colour=blue")
    kept = "/products?q=cup&sort=name"
    assert chips(text) == {
        "Acme": f"{kept}&filter.Colour=blue&min_price=1",
        "Colour: Blue": f"{kept}&brand=Acme&min_price=1",
        "From €1.00": f"{kept}&brand=Acme&filter.Colour=blue",
    }
    assert f'<a href="{kept.replace("&", "&amp;")}">Clear all</a>' in text
    assert 'content="noindex"' in text
    assert '<input type="hidden" name="stock" value="1">' in page("/products?stock=1")
    plain = page("/categories/kitchen?brand=Acme")
    assert '<link rel="canonical" href="https://shop.example.com/categories/kitchen">' in plain
    assert 'content="noindex"' in plain


def test_the_pager_keeps_filters(goods, page, monkeypatch):
    monkeypatch.setattr("storefront.website.pages.PER_PAGE", 1)
    text = page("/products?filter.Material=Wool&sort=name&page=2")
    assert names(text) == ["Rug"]
    assert 'href="?sort=name&amp;filter.Material=Wool&amp;page=1"' in text
    page("/products?filter.Material=Wool&page=3", status=404)


@pytest.mark.parametrize("sort", ["", "newest", "price_asc", "price_desc", "name"])
def test_a_large_category_is_listed_as_a_small_one_is(goods, shop, other_shop, page, monkeypatch, sort):
    monkeypatch.setattr("storefront.website.pages.PER_PAGE", 2)
    pages = [f"/categories/kitchen?sort={sort}&page={number}" for number in (1, 2)]
    small = [names(page(each)) for each in pages]
    assert sorted(chain(*small)) == ["Bowl", "Cup", "Mug"]
    monkeypatch.setattr(page_sql, "MAX_IDS", 2)
    clear_caches()
    assert [names(page(each)) for each in pages] == small
    make_product(shop, "Plate", categories=(shop.categories.get(),), price="7.00")
    make_product(other_shop, "Fork", categories=(make_category(other_shop, "Kitchen"),))
    assert sorted(chain(*(names(page(each)) for each in pages))) == ["Bowl", "Cup", "Mug", "Plate"]
    page(f"/categories/kitchen?sort={sort}&page=3", status=404)


def test_categories_are_counted_and_keep_the_filters(goods, shop, page):
    assert 'href="/categories/kitchen?stock=1">Kitchen <span class="chip__count">2' in page("/products?stock=1")
    search = page("/products?q=bowl&category=kitchen&brand=Acme")
    assert '<input type="hidden" name="category" value="kitchen">' in search
    answer = Shopper(shop).get("/products?category=kitchen&sort=name&brand=Acme")
    assert answer["Location"] == "/categories/kitchen?sort=name&brand=Acme"


def test_the_address_that_a_script_shows_is_quoted(shop, visitor):
    make_product(shop, "Cup", categories=(make_category(shop, "Cups", slug="чашки"),))
    for query, end in (("stock=1&sort=", "?stock=1"), ("stock=", "")):
        answer = visitor.get(f"/categories/{quote('чашки')}?{query}", headers={"hx-request": "true"})
        assert answer["HX-Push-Url"] == f"/categories/{quote('чашки')}{end}"


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("brand=Spy", "Spy"),
        ("filter.Colour=Purple", "colour: purple"),
        ("filter.Nothing=x", "nothing: x"),
        ("min_price=cheap", "cheap"),
        ("max_price=-1", "-1"),
        ("min_price=nan", "nan"),
        ("min_price=9&max_price=3", "9 to 3"),
        ("stock=maybe", "maybe"),
        ("brand=%00", "“ ”"),
        ("brand=" + "x" * 500, "x" * 40 + "…"),
        ("filter.=", ""),
    ],
)
def test_what_the_shop_does_not_have_is_left_out_and_said(goods, page, query, said):
    text = page(f"/products?{query}")
    assert len(names(text)) == 4
    assert said in text
    assert ("this shop has no such filter" in text) == bool(said)
    assert not chips(text)


def test_a_customer_group_filters_by_no_prices(goods, shop):
    group = CustomerGroup.objects.create(shop=shop, name="Trade", discount_percent=10)
    make_customer(shop, "bob@example.com", group=group)
    bob = Shopper(shop)
    bob.sign_in("bob@example.com")
    text = bob.read("/products?min_price=50")
    assert "min_price" not in text
    assert len(names(text)) == 4


def test_asks_few_questions_however_many_products(goods, shop, visitor, django_assert_max_num_queries):
    for number in range(30):
        make_media(make_product(shop, f"Jug {number}", attributes=[{"name": "Material", "values": [f"M{number}"]}]))
    # What was written in this very transaction is read once more on PostgreSQL.
    for _ in range(2):
        visitor.get("/products")
    # Two for what has changed, three for the categories and their counts, two for brands, the others for the page.
    with django_assert_max_num_queries(15):
        visitor.get("/products?filter.Material=Wool&filter.Material=M1&stock=1&brand=Acme&sort=name")
    with django_assert_max_num_queries(15):
        visitor.get("/products?q=jug&stock=1")


def test_many_values_are_opened_by_a_click_and_chosen_ones_are_seen(shop, page):
    for number in range(12):
        make_product(shop, f"Jug {number}", attributes=[{"name": "Size", "values": [f"{number} cm"]}])
    text = page("/products?filter.Size=11+cm")
    seen, others = text.split("4 more<")
    assert 'value="11 cm" checked' in seen
    assert seen.index('value="2 cm"') < seen.index('value="11 cm"')
    assert len(boxes(others)) == 4
