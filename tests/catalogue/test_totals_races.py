"""Concurrent changes of the same products and categories keep totals correct and do not deadlock."""

from random import Random

import pytest
from django.db import transaction

from storefront.catalogue import actions
from storefront.catalogue.models import Product, ProductCategory
from storefront.shops.models import Shop
from tests.catalogue.factories import make_category, make_product
from tests.catalogue.test_totals import counted, stored
from tests.races import run_concurrently
from tests.shops.factories import NOW, make_shop

pytestmark = pytest.mark.slow


@pytest.mark.django_db(transaction=True)
def test_products_are_published_moved_and_created_concurrently():
    shop = make_shop()
    categories = [make_category(shop, name) for name in ("Cups", "Bowls", "Lamps")]
    products = [make_product(shop, categories=(categories[n % 3],)) for n in range(6)]

    def write(seed: int) -> None:
        chance, own = Random(seed), Shop.objects.get(pk=shop.pk)
        for number in range(12):
            product, some = chance.choice(products), chance.sample(categories, chance.randint(0, 3))
            match (number + seed) % 3:
                case 0:
                    status = chance.choice(["draft", "active"])
                    actions.update_product(shop=own, product=product, now=NOW, status=status)
                case 1:
                    actions.update_product(shop=own, product=product, now=NOW, categories=some)
                case _:
                    # Two statements in a transaction, so that other threads write between them.
                    with transaction.atomic():
                        made = make_product(own, slug=f"made-{seed}-{number}")
                        ProductCategory.objects.bulk_create(
                            ProductCategory(shop=own, product=made, category=each, created_at=NOW, updated_at=NOW)
                            for each in some
                        )

    run_concurrently(*(lambda seed=seed: write(seed) for seed in range(4)))
    assert Product.objects.filter(shop=shop).count() == 6 + 16
    assert stored(shop, NOW) == counted(shop, NOW)
