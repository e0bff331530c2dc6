"""Answers in a language come from memory like others, each language by itself."""

import pytest

from storefront.catalogue import actions
from storefront.shops.changes import publish_change
from tests.catalogue.factories import make_product
from tests.server.edges import EdgeClient, comparable
from tests.shops.factories import NOW, make_token

pytestmark = pytest.mark.django_db(transaction=True)

WAYS = (
    ("", {}),
    ("?locale=de", {}),
    ("?locale=fr", {}),
    ("?locale=en", {}),
    ("?locale=it", {}),
    ("", {"Accept_Language": "de-AT, en;q=0.5"}),
    ("", {"Accept_Language": "fr"}),
    ("", {"Accept_Language": "en, de;q=0.5"}),
    ("?locale=fr", {"Accept_Language": "de"}),
    ("?locale=de", {"If_None_Match": "*"}),
    ("?locale=de", {"Accept_Encoding": "gzip"}),
)


@pytest.fixture
def token(shop, other_shop):
    for each in (shop, other_shop):
        each.language, each.further_languages = "en", ["de", "fr"]
        each.save()
        texts = {"de": {"name": f"Becher von {each.name}", "description": "lang " * 500}}
        make_product(each, "Mug", description="long " * 500, translations=texts)
    return make_token(shop, "read_products")


@pytest.mark.parametrize("path", ["/products", "/products/mug", "/categories"])
def test_a_cached_answer_equals_one_without_a_cache(token, path):
    remembering, asking = EdgeClient(), EdgeClient(capacity=0)
    for query, headers in [*WAYS, *WAYS]:
        given, expected = (each.ask(path + query, token, **headers) for each in (remembering, asking))
        assert comparable(given) == comparable(expected), (query, headers)
    # The second time, all but the language that the shop does not have.
    assert remembering.misses <= 2 + 8
    assert remembering.hits >= len(WAYS) - 1


def test_one_entry_for_all_headers_that_choose_one_language(token):
    edge = EdgeClient()
    edge.ask("/products/mug", token, Accept_Language="de")
    for header in ("de-AT", "de, en;q=0.1", "it, de;q=0.9"):
        assert edge.is_hit("/products/mug", token, Accept_Language=header)
    edge.ask("/products/mug", token)
    # Nor does a header that chooses the main language have one of its own.
    for header in ("en", "it", "*"):
        assert edge.is_hit("/products/mug", token, Accept_Language=header)


def test_other_shops_and_changes_are_not_mixed(token, shop, other_shop):
    edge, theirs = EdgeClient(), make_token(other_shop, "read_products")
    edge.ask("/products/mug?locale=de", token)
    assert edge.ask("/products/mug?locale=de", theirs).json["data"]["name"] == f"Becher von {other_shop.name}"
    mug = shop.products.get()
    actions.update_product(shop=shop, product=mug, now=NOW, translations={"de": {"name": "Krug"}})
    assert edge.ask("/products/mug?locale=de", token).json["data"]["name"] == "Krug"
    assert edge.ask("/products/mug", token, Accept_Language="de").json["data"]["name"] == "Krug"


def test_a_language_that_the_shop_gives_up_is_refused_at_once(token, shop):
    edge = EdgeClient()
    for _ in range(2):
        assert edge.ask("/products/mug?locale=de", token).json["data"]["name"].startswith("Becher")
        assert edge.ask("/products/mug", token, Accept_Language="de").json["data"]["name"].startswith("Becher")
    shop.further_languages = ["fr"]
    shop.save()
    publish_change(shop.pk)
    assert edge.ask("/products/mug?locale=de", token).status_code == 422
    assert edge.ask("/products/mug", token, Accept_Language="de").json["data"]["name"] == "Mug"
