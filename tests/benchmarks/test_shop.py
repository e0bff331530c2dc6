"""Generated shops: the same each time, and spread as real ones are."""

from collections import Counter
from decimal import Decimal
from itertools import islice
from statistics import median

import pytest

from benchmarks import shop as generator
from storefront.catalogue.importing import import_products
from storefront.catalogue.models import Category, Option, Product, Variant
from storefront.kit import clock

SIZE = 4000


@pytest.fixture(scope="module")
def records() -> list[generator.Record]:
    return list(generator.products(SIZE))


def shares(values) -> list[float]:
    """How frequent each value is, the most frequent first."""
    counts = Counter(values)
    return [count / counts.total() for _, count in counts.most_common()]


def test_the_importer_takes_a_generated_shop_whole(shop, tmp_path):
    generator.write(tmp_path / "shop.jsonl", 300)
    report = import_products(shop=shop, file=tmp_path / "shop.jsonl", now=clock.now())
    assert report.counts() == {"created": 312, "updated": 0, "skipped": 0, "failed": 0}
    assert report.problems == []
    assert Product.objects.filter(shop=shop, status="active").count() == 300
    assert Variant.objects.exists()
    assert Option.objects.exists()
    assert 20 < Category.objects.count() <= generator.category_count(300)


def test_it_is_the_same_each_time_and_another_with_another_seed(records):
    assert list(islice(generator.products(SIZE), 200)) == records[:200]
    assert list(islice(generator.products(SIZE, seed=1), 200)) != records[:200]


def test_as_many_are_on_sale_as_were_asked_for(records):
    statuses = Counter(record["status"] for record in records)
    assert statuses == {"active": SIZE, "draft": SIZE // 25 - SIZE // 100, "archived": SIZE // 100}


def test_slugs_and_skus_are_never_used_twice(records):
    for member in ("slug", "sku"):
        assert len({record[member] for record in records}) == len(records)


def test_prices_are_spread_log_normally_and_end_as_prices_do(records):
    prices = sorted(Decimal(record["price"]) for record in records)
    assert 10 < median(prices) < 60
    assert prices[len(prices) * 99 // 100] > 5 * median(prices)
    assert prices[0] > 0
    endings = Counter(str(price)[-2:] for price in prices)
    assert set(endings) == {"99", "50", "00"}
    assert endings["99"] > len(prices) / 2


@pytest.mark.parametrize("member", ["brand", "categories"])
def test_a_few_makers_and_categories_have_much_and_most_have_little(records, member):
    values = [record[member] if member == "brand" else record[member][0] for record in records]
    found = shares(values)
    assert found[0] > 5 * found[len(found) // 2]
    assert len(found) > 30


def test_categories_grow_with_the_shop_from_two_hundred_to_a_thousand():
    assert [generator.category_count(size) for size in (1_000, 1_000_000)] == [200, 1000]
    paths = [leaf.path for leaf in generator.categories(1_000_000)]
    assert len(paths) == len(set(paths)) == 980
    assert {path.count(" > ") for path in paths} == {1, 2}


def test_some_products_have_variants_options_pictures_and_no_stock(records):
    def share(test) -> float:
        return sum(map(bool, map(test, records))) / len(records)

    assert 0.08 < share(lambda record: record.get("variants")) < 0.16
    assert 0.02 < share(lambda record: record.get("options")) < 0.06
    assert 0.9 < share(lambda record: record["media"]) < 0.99
    assert 0.05 < share(lambda record: record["stock_qty"] == 0) < 0.2


def test_words_to_search_for_are_common_middling_rare_and_absent(records):
    texts = [f"{record['name']} {record['description']} {record['sku']}".lower() for record in records]
    found = {word: sum(word in text for text in texts) / len(texts) for word in generator.search_words(SIZE)}
    assert all(len(word) >= 3 for word in found)
    assert sum(share > 0.1 for share in found.values()) >= 5
    assert sum(0.005 < share < 0.1 for share in found.values()) >= 20
    assert sum(0 < share < 0.005 for share in found.values()) >= 20
    assert sum(share == 0 for share in found.values()) >= 2
