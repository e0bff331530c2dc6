"""When and how the frequent words of a shop are counted, by several workers and among writers."""

from random import Random

import pytest
from django.db import connection

from storefront.catalogue import actions
from storefront.catalogue.models import (
    FrequentWord,
    Product,
    ProductSearch,
    TextChange,
    WordCount,
)
from storefront.listing import frequent_words, jobs, known_matches
from storefront.listing.frequent_words import count_words, due_shops
from storefront.listing.reindexing import reindex
from storefront.listing.verifying import deviations
from storefront.shops.models import Shop
from tests.catalogue.factories import make_product
from tests.catalogue.frequent_words import (
    HOUR,
    MINUTE,
    WORDS,
    begin,
    check,
    counted,
    expected,
    fill,
    found,
    looks_at_texts,
    statements_of,
)
from tests.catalogue.frequent_words import make_all_frequent as make_all_frequent
from tests.races import run_concurrently
from tests.shops.factories import NOW, make_shop

pytestmark = pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite's shops are small enough without")


def test_few_changes_are_counted_without_reading_all_texts(shop, monkeypatch):
    products = fill(shop)
    counted(shop)
    words = FrequentWord.objects.filter(shop=shop)
    before = dict(words.values_list("text", "pk"))
    ProductSearch.objects.filter(product=products[0]).update(text=" mug wholly new ")
    monkeypatch.setattr(frequent_words, "MUCH", 0.2)
    counted(shop)
    # The same rows, without a word that came.
    assert dict(words.values_list("text", "pk")) == before
    assert not TextChange.objects.exists()
    for product in products[1:20]:
        ProductSearch.objects.filter(product=product).update(text=" mug wholly new ")
    counted(shop)
    assert words.filter(text="wholly").exists()
    check(shop)


def test_too_many_changes_are_left_to_the_search_index(shop, monkeypatch):
    fill(shop)
    counted(shop)
    monkeypatch.setattr(known_matches, "MAX_CHANGED", 3)
    known_matches._statement.cache_clear()
    for number in range(3):
        make_product(shop, "Blue mug", slug=f"n{number}")
    begin(shop)
    assert not looks_at_texts(statements_of(shop, "blue mug"))
    make_product(shop, "Blue mug", slug="one more")
    assert looks_at_texts(statements_of(shop, "blue mug"))
    check(shop)
    known_matches._statement.cache_clear()


def test_an_older_count_writes_nothing_more(shop, monkeypatch):
    products = fill(shop)
    texts = frequent_words._texts

    def overtaken(of: Shop, ids):
        rows = texts(of, ids)
        monkeypatch.setattr(frequent_words, "_texts", texts)
        # Another worker counts, and then a text changes, and the change is counted.
        counted(shop)
        ProductSearch.objects.filter(product=products[0]).update(text=" blue wholly new ", listed=True)
        counted(shop)
        return rows

    monkeypatch.setattr(frequent_words, "_texts", overtaken)
    counted(shop)
    assert WordCount.objects.get(shop=shop).done_at == NOW
    check(shop)


def test_a_failed_count_leaves_searches_right(shop, monkeypatch):
    fill(shop)
    counted(shop)
    texts = frequent_words._texts

    def failing(of: Shop, ids):
        monkeypatch.setattr(frequent_words, "_texts", texts)
        make_product(shop, "Blue mug", slug="meanwhile")
        raise RuntimeError

    monkeypatch.setattr(frequent_words, "_texts", failing)
    with pytest.raises(RuntimeError):
        counted(shop, anew=True)
    check(shop)
    assert due_shops(now=NOW + HOUR, limit=10) == [shop.pk]
    counted(shop)
    check(shop)


def test_shops_are_counted_when_they_are_large_or_much_changed(shop, other_shop, monkeypatch):
    monkeypatch.setattr(frequent_words, "LARGE_SHOP", 10)
    monkeypatch.setattr(frequent_words, "CHANGED", 3)
    for number in range(12):
        make_product(shop, "Blue mug", slug=f"p{number}")
    small = make_product(other_shop, "Blue mug")
    assert due_shops(now=NOW, limit=10) == [shop.pk]
    assert not TextChange.objects.filter(shop=other_shop).exists()
    # Once, until its time is over.
    assert due_shops(now=NOW + 10 * MINUTE, limit=10) == []
    assert due_shops(now=NOW + 15 * MINUTE, limit=10) == [shop.pk]
    jobs.count_frequent_words.func(shop.pk)
    assert FrequentWord.objects.filter(shop=shop).exists()
    assert not FrequentWord.objects.filter(shop=other_shop).exists()
    later = WordCount.objects.get(shop=shop).asked_at + HOUR
    for number in range(2):
        make_product(shop, "Blue mug", slug=f"q{number}")
    assert due_shops(now=later, limit=10) == []
    make_product(shop, "Blue mug", slug="q2")
    assert due_shops(now=later, limit=10) == [shop.pk]
    # A shop that is no longer large.
    Product.objects.filter(shop=shop).exclude(slug="q2").delete()
    assert due_shops(now=later, limit=10) == []
    for model in (FrequentWord, WordCount, TextChange):
        assert not model.objects.exists()
    assert found(shop, "mug") == {"q2"}
    assert found(other_shop, "mug") == {small.slug}


def test_the_worker_queues_counts(shop):
    fill(shop)
    assert jobs.queue_due_counts(now=NOW, limit=10) == 1
    assert jobs.queue_due_counts(now=NOW, limit=10) == 0
    jobs.count_frequent_words.func(shop.pk + 1000)
    assert not FrequentWord.objects.exists()


def test_changes_of_a_shop_that_is_gone_are_deleted(db):
    TextChange.objects.create(shop_id=10**9, first_product=1, last_product=2)
    assert due_shops(now=NOW, limit=10) == []
    assert not TextChange.objects.exists()


def test_verify_finds_what_reindex_corrects(shop, other_shop):
    fill(shop)
    fill(other_shop)
    counted(other_shop)
    counted(shop)
    of_mug = bytes(FrequentWord.objects.get(shop=shop, text="mug").products)
    FrequentWord.objects.filter(shop=shop, text="blue").update(products=of_mug)
    begin(shop)
    assert found(shop, "blue") != expected(shop, "blue")
    wrong = {(each.check, each.object) for each in deviations(shop)}
    assert wrong == {("frequent word", "blue")}
    assert not list(deviations(other_shop))
    reindex(shop=shop)
    assert not list(deviations(shop))
    check(shop)


def test_verify_tells_nothing_wrong_while_a_count_ends(shop, monkeypatch):
    """It has read bitmaps from before, and then finds no changes."""
    products = fill(shop)
    counted(shop)
    monkeypatch.setattr(frequent_words, "MUCH", 0.2)
    ProductSearch.objects.filter(product=products[0]).update(text=" mug wholly new ")
    token, changes = frequent_words._begin(shop, NOW, anew=False)
    changed = frequent_words._changed

    def ending(rows):
        monkeypatch.setattr(frequent_words, "_changed", changed)
        frequent_words._count_changed(shop, token, changes, rest=0)
        TextChange.objects.filter(shop=shop).delete()
        WordCount.objects.filter(shop=shop).update(done_at=NOW + HOUR)
        return changed(TextChange.objects.filter(shop=shop))

    monkeypatch.setattr(frequent_words, "_changed", ending)
    assert not list(frequent_words.wrong_words(shop))
    assert not list(frequent_words.wrong_words(shop))


def test_a_stem_that_is_longer_than_its_word_is_left_to_the_search_index(shop):
    """The Serbian stemmer writes some letters as two."""
    shop.language, word = "sr", "њ" * 39
    shop.save()
    for number in range(4):
        make_product(shop, f"Mug {word}", slug=f"s{number}")
    counted(shop)
    assert FrequentWord.objects.filter(shop=shop, text=word).exists()
    begin(shop)
    assert found(shop, word) == {f"s{number}" for number in range(4)}


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_counts_race_with_writers_and_each_other():
    shop, other = make_shop(), make_shop("other.example.com")
    fill(shop)
    fill(other, seed=2)

    def write(seed: int) -> None:
        chance, own = Random(seed), Shop.objects.get(pk=shop.pk)
        for _ in range(12):
            actions.create_product(
                shop=own, now=NOW, name=" ".join(chance.sample(WORDS, 3)), price="1.00", status="active"
            )
            product = chance.choice(list(Product.objects.filter(shop=own)))
            Product.objects.filter(pk=product.pk).update(status=chance.choice(["active", "draft"]))

    def count() -> None:
        own = Shop.objects.get(pk=shop.pk)
        for number in range(8):
            count_words(own, now=NOW, rest=0, anew=number % 2 == 0)

    run_concurrently(lambda: write(1), lambda: write(2), count, count)
    # Some of the counts were overtaken; whatever they left is right with the changes.
    check(shop, other)
    counted(shop)
    check(shop, other)
