"""Concurrent changes of products keep their search texts and the shop's words, and do not deadlock."""

from random import Random

import pytest

from storefront.catalogue import actions, search_index
from storefront.catalogue.models import Product, SearchWord
from storefront.shops.models import Shop
from tests.races import run_concurrently
from tests.shops.factories import NOW, make_shop

pytestmark = pytest.mark.slow

WORDS = ["amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "heron", "inlet", "juniper"]


@pytest.mark.django_db(transaction=True)
def test_products_with_the_same_words_are_written_concurrently():
    shop = make_shop()
    shared = actions.create_product(shop=shop, now=NOW, name="Shared", price="1.00")

    def write(seed: int) -> None:
        chance, own = Random(seed), Shop.objects.get(pk=shop.pk)
        for _ in range(6):
            words = chance.sample(WORDS, 6)
            actions.create_product(shop=own, now=NOW, name=" ".join(words), price="1.00")
            actions.update_product(shop=own, product=shared, now=NOW, tags=chance.sample(WORDS, 3))

    def write_again() -> None:
        own = Shop.objects.get(pk=shop.pk)
        for _ in range(4):
            search_index.rewrite_texts(own)

    run_concurrently(*(lambda seed=seed: write(seed) for seed in range(3)), write_again)
    assert Product.objects.filter(shop=shop).count() == 1 + 18
    # Every text is the one that its product has now.
    assert search_index.rewrite_texts(shop) == 0
    words = SearchWord.objects.filter(shop=shop).values_list("word", flat=True)
    assert sorted(words) == sorted({*WORDS, "shared"} & set(words))
    assert {word for product in Product.objects.filter(shop=shop) for word in product.name.lower().split()} <= set(
        words
    )
