"""The nearest spelling of a search that finds nothing."""

import pytest
from django.test import Client

from storefront.catalogue import actions, search_index
from storefront.catalogue.models import Product, SearchWord
from storefront.listing import queries
from storefront.listing.queries import ProductFilters
from storefront.listing.spelling import MAX_CORRECTIONS, nearest_spelling
from tests.catalogue.factories import make_product, make_variant
from tests.shops.factories import NOW, make_token

# With real commits, after which words are added.
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def products(shop, other_shop):
    make_product(shop, "Blue blanket", tags=["wool"])
    make_variant(make_product(shop, "Ground coffee"), "Arabica")
    make_product(shop, "Zeppelin", status="draft")
    make_product(shop, "Xylophone", exclude_from_catalog=True)
    make_product(other_shop, "Blankit trampoline")


def nearest(shop, q: str, **filters) -> str | None:
    return nearest_spelling(shop, ProductFilters(q=q, **filters), now=NOW)


@pytest.mark.parametrize(
    ("q", "spelling"),
    [
        ("blankit", "blanket"),
        ("blankett", "blanket"),
        ("lbanket", "blanket"),
        ("cofee", "coffee"),
        ("cofffe", "coffee"),
        ("koffee", "coffee"),
        ("blue blankit", "blue blanket"),
        ("bleu blankit", "blue blanket"),
        ("arabika", "arabica"),
        ("wol", "wool"),
        ("wooll", "wool"),
        # Nothing is near.
        ("spaceship", None),
        ("zz", None),
        ("blue coffee", None),
        ("", None),
        ("blankit\0", None),
        ("a b c d blankit", None),
    ],
)
def test_the_nearest_spelling(shop, products, q, spelling):
    assert nearest(shop, q) == spelling


@pytest.mark.parametrize("q", ["zepelin", "zeppelinn", "xylophon", "xylofone", "trampolin", "trampolime"])
def test_tells_nothing_of_drafts_hidden_products_and_other_shops(shop, products, q):
    assert nearest(shop, q) is None


def test_accents_do_not_count_as_mistakes_and_are_shown(shop):
    make_product(shop, "Câmara de bebé")
    assert nearest(shop, "camera beve") == "câmara bebé"
    assert nearest(shop, "thsirt") is None
    make_product(shop, "T-shirt")
    assert nearest(shop, "thsirt") == "tshirt"


def test_other_filters_that_leave_nothing_correct_no_word(shop, products):
    make_product(shop, "Blankes")
    assert nearest(shop, "blanket", category="none") is None
    assert nearest(shop, "blankit", category="none") == "blanket"


def test_a_correction_finds_something_now(shop, products):
    product = Product.objects.get(name="Blue blanket")
    actions.update_product(shop=shop, product=product, now=NOW, status="draft")
    assert nearest(shop, "blankit") is None
    actions.update_product(shop=shop, product=product, now=NOW, status="active", unpublish_at=NOW)
    assert nearest(shop, "blankit") is None


def test_words_of_products_that_are_gone_go_with_the_next_reindex(shop, other_shop, products):
    of_other = set(SearchWord.objects.filter(shop=other_shop).values_list("word", flat=True))
    actions.delete_product(shop=shop, product=Product.objects.get(name="Blue blanket"), now=NOW)
    assert SearchWord.objects.filter(shop=shop, word="blanket").exists()
    assert search_index.rewrite_texts(shop) == 0
    assert not SearchWord.objects.filter(shop=shop, word="blanket").exists()
    SearchWord.objects.filter(shop=shop, word="coffee").delete()
    search_index.rewrite_texts(shop)
    assert SearchWord.objects.filter(shop=shop, word="coffee").exists()
    assert set(SearchWord.objects.filter(shop=other_shop).values_list("word", flat=True)) == of_other


@pytest.mark.rule("R-CAT-40")
def test_the_api_names_it_only_where_nothing_is_found(shop, products):
    client = Client(headers={"host": shop.domain, "authorization": f"Bearer {make_token(shop, 'read_products')}"})

    def read(query: str) -> dict:
        return client.get(f"/api/v1/products?{query}").json()

    answer = read("q=blankit")
    assert (answer["data"], answer["total"], answer["did_you_mean"]) == ([], 0, "blanket")
    assert list(answer)[-1] == "did_you_mean"
    assert read("q=spaceship")["did_you_mean"] is None
    assert all("did_you_mean" not in read(query) for query in ("q=blanket", "q=", "category=none", "page=9"))


def test_a_search_costs_a_fixed_number_of_queries(shop, products, django_assert_max_num_queries):
    def read(q: str) -> int:
        return queries.product_page(shop, ProductFilters(q=q), page=1, per_page=10, now=NOW).total

    with django_assert_max_num_queries(2):
        assert read("blankets") == 1
    # The similar words, and a total for each correction that is tried.
    with django_assert_max_num_queries(1 + MAX_CORRECTIONS + 1):
        assert nearest(shop, "bleu blankit wol zzyzx") is None
