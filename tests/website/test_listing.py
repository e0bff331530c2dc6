import pytest

from storefront.website import pages
from tests.catalogue.factories import make_category, make_media, make_option, make_product, make_variant


def names(text: str) -> list[str]:
    """The names of the products in the grid, in order."""
    return [part.split("</a>")[0].rpartition(">")[2] for part in text.split('class="product-card__name"')[1:]]


def test_lists_the_shop_s_products(shop, page):
    make_product(shop, "Blue cup")
    make_product(shop, "Red bowl")
    assert sorted(names(page("/products"))) == ["Blue cup", "Red bowl"]


def test_lists_no_drafts_and_nothing_of_another_shop(shop, other_shop, page):
    make_product(shop, "Draft", status="draft")
    make_product(other_shop, "Secret")
    assert names(page("/products")) == []


def test_a_shop_without_products_leads_nobody_in_circles(shop, page):
    make_category(shop, "Cups")
    empty = page("/products").partition('class="empty"')[2].partition("</main>")[0]
    assert "There are no products yet." in empty
    assert 'href="/products"' not in empty
    assert 'class="button" href="/products"' in page("/categories/cups")


def test_searches(shop, page):
    make_product(shop, "Blue cup")
    make_product(shop, "Red bowl")
    assert names(page("/products?q=CUP")) == ["Blue cup"]
    assert "No products found" in page("/products?q=spaceship")


def test_escapes_the_search_words(page):
    assert "<script>alert(1)" not in page("/products?q=<script>alert(1)</script>")


def test_sorts(shop, page):
    make_product(shop, "Bowl", price="2.00")
    make_product(shop, "Apron", price="3.00")
    make_product(shop, "Cup", price="1.00")
    assert names(page("/products?sort=price_asc")) == ["Cup", "Bowl", "Apron"]
    assert names(page("/products?sort=price_desc")) == ["Apron", "Bowl", "Cup"]
    assert names(page("/products?sort=name")) == ["Apron", "Bowl", "Cup"]
    page("/products?sort=nonsense")


def test_pages_through(shop, page, monkeypatch):
    monkeypatch.setattr(pages, "PER_PAGE", 2)
    for name in ("A", "B", "C", "D", "E"):
        make_product(shop, name)
    seen = [name for number in (1, 2, 3) for name in names(page(f"/products?sort=name&page={number}"))]
    assert seen == ["A", "B", "C", "D", "E"]
    second = page("/products?sort=name&page=2")
    assert 'href="?sort=name&amp;page=1"' in second
    assert 'href="?sort=name&amp;page=3"' in second


@pytest.mark.parametrize("number", ["2", "0", "-1", "x", "99999999999999999999", "1.5", ""])
def test_a_page_that_does_not_exist_is_a_404(shop, page, number):
    make_product(shop, "Cup")
    page(f"/products?page={number}", status=404)


def test_a_category_shows_its_own_products_and_those_of_categories_below_it(shop, page):
    kitchen = make_category(shop, "Kitchen")
    cups = make_category(shop, "Cups", parent=kitchen)
    make_product(shop, "Spoon", categories=(kitchen,))
    make_product(shop, "Blue cup", categories=(cups,))
    make_product(shop, "Rake")
    assert sorted(names(page("/categories/kitchen"))) == ["Blue cup", "Spoon"]
    assert names(page("/categories/cups")) == ["Blue cup"]
    assert 'href="/categories/kitchen"' in page("/categories/cups")


def test_a_category_of_another_shop_or_switched_off_is_a_404(shop, other_shop, page):
    make_category(other_shop, "Secret")
    make_category(shop, "Attic", is_active=False)
    page("/categories/secret", status=404)
    page("/categories/attic", status=404)
    page("/categories/nul%00", status=404)


def test_the_same_category_slug_in_another_shop_has_other_products(shop, other_shop, page):
    make_product(shop, "Blue cup", categories=(make_category(shop, "Cups"),))
    make_product(other_shop, "Secret cup", categories=(make_category(other_shop, "Cups"),))
    assert names(page("/categories/cups")) == ["Blue cup"]


def test_searches_and_other_sort_orders_are_not_indexed(shop, page):
    make_product(shop, "Cup")
    assert 'content="noindex"' not in page("/products")
    assert 'content="noindex"' in page("/products?q=cup")
    assert 'content="noindex"' in page("/products?sort=name")


def test_takes_few_queries_however_many_products(shop, visitor, django_assert_max_num_queries):
    for number in range(24):
        product = make_product(shop, f"Cup {number}")
        make_media(product)
        make_option(product, required=True)
        make_variant(product)
    # What was written in this very transaction is read once more on PostgreSQL.
    for _ in range(2):
        visitor.get("/products")
    # Two for what has changed since then, four for the counts of categories and brands.
    with django_assert_max_num_queries(14):
        page = visitor.get("/products").content.decode()
    assert all(f"Cup {number}<" in page for number in range(24))
