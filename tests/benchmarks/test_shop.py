"""Generated shops are the same each time, and distributed like real ones."""

from collections import Counter
from decimal import Decimal
from itertools import islice
from statistics import median

import pytest

from benchmarks import shop as generator
from storefront.catalogue.models import Category, Option, Product, Variant
from storefront.kit import clock
from storefront.product_files.importing import import_products

pytestmark = pytest.mark.any_database

SIZE = 4000


@pytest.fixture(scope="module")
def products() -> list[generator.ProductData]:
    return list(generator.products(SIZE))


def shares(values) -> list[float]:
    """How frequent each value is, the most frequent first."""
    counts = Counter(values)
    return [count / counts.total() for _, count in counts.most_common()]


def test_a_generated_shop_is_imported_completely(shop, tmp_path):
    generator.write(tmp_path / "shop.jsonl", 300)
    report = import_products(shop=shop, file=tmp_path / "shop.jsonl", now=clock.now())
    assert report.counts() == {"created": 312, "updated": 0, "skipped": 0, "failed": 0, "conflicts": 0}
    assert report.problems == []
    assert Product.objects.filter(shop=shop, status="active").count() == 300
    assert Variant.objects.exists()
    assert Option.objects.exists()
    assert 20 < Category.objects.count() <= generator.category_count(300)


def test_the_same_seed_gives_the_same_shop_and_another_seed_another(products):
    assert list(islice(generator.products(SIZE), 200)) == products[:200]
    assert list(islice(generator.products(SIZE, seed=1), 200)) != products[:200]


def test_the_requested_number_of_products_is_active(products):
    statuses = Counter(product["status"] for product in products)
    assert statuses == {"active": SIZE, "draft": SIZE // 25 - SIZE // 100, "archived": SIZE // 100}


def test_slugs_and_skus_are_unique(products):
    for member in ("slug", "sku"):
        assert len({product[member] for product in products}) == len(products)


def test_prices_are_log_normal_and_end_like_real_prices(products):
    prices = sorted(Decimal(product["price"]) for product in products)
    assert 10 < median(prices) < 60
    assert prices[len(prices) * 99 // 100] > 5 * median(prices)
    assert prices[0] > 0
    endings = Counter(str(price)[-2:] for price in prices)
    assert set(endings) == {"99", "50", "00"}
    assert endings["99"] > len(prices) / 2


@pytest.mark.parametrize("member", ["brand", "categories"])
def test_a_few_makers_and_categories_have_most_products(products, member):
    values = [product[member] if member == "brand" else product[member][0] for product in products]
    found = shares(values)
    assert found[0] > 5 * found[len(found) // 2]
    assert len(found) > 30


def test_categories_grow_with_the_shop_from_two_hundred_to_a_thousand():
    assert [generator.category_count(size) for size in (1_000, 1_000_000)] == [200, 1000]
    paths = [leaf.path for leaf in generator.categories(1_000_000)]
    assert len(paths) == len(set(paths)) == 980
    assert {path.count(" > ") for path in paths} == {1, 2}


def test_some_products_have_variants_options_pictures_and_no_stock(products):
    def share(test) -> float:
        return sum(map(bool, map(test, products))) / len(products)

    assert 0.08 < share(lambda product: product.get("variants")) < 0.16
    assert 0.02 < share(lambda product: product.get("options")) < 0.06
    assert 0.9 < share(lambda product: product["media"]) < 0.99
    assert 0.05 < share(lambda product: product["stock_qty"] == 0) < 0.2


def test_search_words_are_frequent_medium_rare_and_absent(products):
    texts = [f"{product['name']} {product['description']} {product['sku']}".lower() for product in products]
    found = {word: sum(word in text for text in texts) / len(texts) for word in generator.search_words(SIZE)}
    assert all(len(word) >= 3 for word in found)
    assert sum(share > 0.1 for share in found.values()) >= 5
    assert sum(0.005 < share < 0.1 for share in found.values()) >= 20
    assert sum(0 < share < 0.005 for share in found.values()) >= 20
    assert sum(share == 0 for share in found.values()) >= 2
