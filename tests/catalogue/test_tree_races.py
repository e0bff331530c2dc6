"""Concurrent changes of one shop's category tree."""

import pytest

from storefront.catalogue import actions
from storefront.catalogue.models import Category
from storefront.kit.refusals import InvalidFields
from tests.catalogue.factories import make_category
from tests.catalogue.test_tree import numbered, stored
from tests.races import run_concurrently
from tests.shops.factories import NOW

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]


def move(shop, category, parent):
    return lambda: actions.update_category(shop=shop, category=category, now=NOW, parent=parent)


def test_two_moves_under_each_other_make_no_cycle(shop):
    for number in range(5):
        left, right = make_category(shop, f"Left {number}"), make_category(shop, f"Right {number}")
        results = run_concurrently(move(shop, left, right), move(shop, right, left), refusal=InvalidFields)
        assert sum(isinstance(result, InvalidFields) for result in results) == 1
        assert stored(shop) == numbered(shop)


def test_concurrent_changes_keep_the_bounds_correct(shop):
    roots = [make_category(shop, f"Root {number}") for number in range(4)]
    leaves = [make_category(shop, f"Leaf {number}", roots[0]) for number in range(4)]
    run_concurrently(
        *(move(shop, leaf, root) for leaf, root in zip(leaves, roots, strict=True)),
        *(lambda n=n: actions.create_category(shop=shop, now=NOW, name="Same", parent=roots[n]) for n in range(4)),
    )
    assert stored(shop) == numbered(shop)
    assert Category.objects.filter(shop=shop, slug__startswith="same").count() == 4
