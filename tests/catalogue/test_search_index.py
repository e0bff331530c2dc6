"""`q` by index finds the same as a search through every text, and the index follows every write."""

from itertools import count

import pytest
from django.db import connection
from hypothesis import given
from hypothesis import strategies as st

from storefront.catalogue import actions
from storefront.catalogue.models import Product, ProductSearch
from storefront.catalogue.search_texts import search_text, search_words
from storefront.listing import page_sql, queries
from storefront.listing.dialect import dialect
from storefront.listing.queries import ProductFilters
from storefront.listing.words_sql import Shape, match
from tests.catalogue.factories import make_category, make_product
from tests.shops.factories import NOW, make_shop

pytestmark = pytest.mark.slow

_numbers = count(1)
LETTERS = st.text(st.sampled_from("aAbßéE%_\\'\"*^(): -İñ漢字🙂"), max_size=8)


def found(shop, q, **filters) -> list[str]:
    page = queries.product_page(shop, ProductFilters(q=q, **filters), page=1, per_page=100, now=NOW)
    assert page.total == len(page.rows)
    return [record["slug"] for record in page.rows]


def found_without_index(shop, q) -> set[str]:
    words = search_words(q, shop.language)
    return {
        row.slug
        for row in Product.objects.filter(shop=shop, exclude_from_catalog=False)
        if row.is_published(NOW) and all(has_word(row, word) for word in words)
    }


def has_word(row, word) -> bool:
    text = search_text(language="en", name=row.name, description=row.description, sku=row.sku).text
    return any(each in text for each in word.texts)


@pytest.mark.django_db
@given(
    texts=st.lists(st.tuples(LETTERS, LETTERS, LETTERS, st.sampled_from(["active", "draft"])), max_size=8),
    searches=st.lists(st.lists(LETTERS, min_size=1, max_size=3).map(" ".join), min_size=1, max_size=5),
    data=st.data(),
)
def test_q_finds_the_same_as_a_search_without_index(texts, searches, data):
    shop, other = make_shop(f"s{next(_numbers)}.example.com"), make_shop(f"s{next(_numbers)}.example.com")
    for name, description, sku, status in texts:
        for each in (shop, other):
            make_product(each, name or "x", slug=f"p{next(_numbers)}", description=description, sku=sku, status=status)
    for name, *_ in texts:
        # A substring of a name, so that there is a match.
        start = data.draw(st.integers(0, len(name)))
        searches = [*searches, name[start : start + data.draw(st.integers(1, 5))]]
    for q in searches:
        assert set(found(shop, q)) == found_without_index(shop, q)
        for sort in ("newest", "name"):
            assert set(found(shop, q, sort=sort)) == found_without_index(shop, q)


def test_words_of_three_letters_and_more_are_looked_up_in_the_index(shop):
    make_product(shop, "Teapot", slug="teapot")
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            # Of a handful of rows, any index is as good.
            cursor.execute("SET LOCAL enable_seqscan = off; SET LOCAL enable_indexscan = off")
            cursor.execute("SELECT indexname FROM pg_indexes WHERE tablename = 'catalogue_productsearch'")
            for (index,) in cursor.fetchall():
                if index != "catalogue_searchindex" and not index.endswith("_pkey"):
                    cursor.execute(f'DROP INDEX "{index}"')
        params = {"shop": shop.pk, "now": connection.ops.adapt_datetimefield_value(NOW)}
        params |= {"match": match(["pot"]), "word0": "pot", "sought_word0": dialect.sought("pot")}
        params |= {"cached_version": -1, "cached_total": 0}
        explain = "EXPLAIN QUERY PLAN" if connection.vendor == "sqlite" else "EXPLAIN"
        cursor.execute(f"{explain} {page_sql.state(Shape(long_words=(1,)))}", params)
        plan = "\n".join(str(row[-1]) for row in cursor.fetchall())
    assert ("SCAN i VIRTUAL TABLE INDEX" if connection.vendor == "sqlite" else "catalogue_searchindex") in plan


def test_the_index_follows_every_write(shop):
    product = actions.create_product(shop=shop, now=NOW, name="Teapot", price="9.50")
    assert found(shop, "teapot") == []
    actions.update_product(shop=shop, product=product, now=NOW, status="active")
    assert found(shop, "teapot") == ["teapot"]
    actions.update_product(shop=shop, product=product, now=NOW, name="Kettle", sku="K-1000")
    assert (found(shop, "teapot"), found(shop, "kettle"), found(shop, "k-100")) == ([], ["teapot"], ["teapot"])
    Product.objects.filter(pk=product.pk).update(exclude_from_catalog=True)
    assert found(shop, "kettle") == []
    Product.objects.filter(pk=product.pk).update(exclude_from_catalog=False, unpublish_at=NOW)
    assert found(shop, "kettle") == []
    Product.objects.filter(pk=product.pk).update(unpublish_at=None)
    assert found(shop, "kettle") == ["teapot"]
    actions.delete_product(shop=shop, product=product, now=NOW)
    assert found(shop, "kettle") == []


def test_a_text_written_before_its_product_is_listed_is_found_once_it_is(shop):
    product = make_product(shop, "Teapot", slug="teapot", status="draft")
    ProductSearch.objects.filter(product=product).update(text="samovar")
    assert found(shop, "samovar") == []
    Product.objects.filter(pk=product.pk).update(status="active")
    assert found(shop, "samovar") == ["teapot"]


def test_results_are_not_cached_past_a_change(shop):
    make_product(shop, "Teapot", slug="one")
    assert found(shop, "teapot") == ["one"]
    make_product(shop, "Teapot", slug="two")
    assert set(found(shop, "teapot")) == {"one", "two"}
    Product.objects.filter(slug="one").update(status="draft")
    assert found(shop, "teapot") == ["two"]


@pytest.mark.parametrize("q", ["pot", "po", "p", "pot t", "pot blu"])
def test_q_with_the_other_filters(shop, q):
    cups = make_category(shop)
    make_product(shop, "Blue teapot", slug="one", categories=(cups,), is_featured=True)
    make_product(shop, "Blue teapot", slug="two", categories=(cups,))
    make_product(shop, "Blue teapot", slug="three", is_featured=True)
    make_product(shop, "Desk", slug="four", categories=(cups,), is_featured=True)
    assert found(shop, q, category="cups", featured=True) == ["one"]
    assert set(found(shop, q, category="cups", with_subcategories=True)) == {"one", "two"}
    assert set(found(shop, q, featured=True, updated_since=NOW)) == {"one", "three"}


@pytest.mark.parametrize("common", [True, False])
def test_pages_of_a_search_follow_one_another(shop, common):
    """Searches with common words scan the list, with rare ones they sort the matches. The pages are the same."""
    for n in range(60):
        make_product(shop, f"Teapot {n}" if common or n % 10 == 0 else f"Lamp {n}", slug=f"p{n}", sort_order=-n)
    read = [
        record["slug"]
        for page in range(1, 31)
        for record in queries.product_page(shop, ProductFilters(q="teapot"), page=page, per_page=2, now=NOW).rows
    ]
    assert read == [f"p{n}" for n in range(59, -1, -1) if common or n % 10 == 0]
