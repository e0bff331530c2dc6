"""Concurrent changes of one shop's category tree."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.db import connections

from storefront.catalogue import actions
from storefront.catalogue.models import Category
from storefront.kit.refusals import InvalidFields
from tests.catalogue.factories import make_category
from tests.catalogue.test_tree import numbered, stored
from tests.shops.factories import NOW

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]


def run_together(*calls) -> list[str]:
    """The result of each call. All calls start together, each in its own thread and connection."""
    start = Barrier(len(calls))

    def run(call) -> str:
        try:
            start.wait()
            call()
        except InvalidFields:
            return "refused"
        else:
            return "done"
        finally:
            connections.close_all()

    with ThreadPoolExecutor(len(calls)) as threads:
        return list(threads.map(run, calls))


def move(shop, category, parent):
    return lambda: actions.update_category(shop=shop, category=category, now=NOW, parent=parent)


def test_two_moves_under_each_other_make_no_cycle(shop):
    for number in range(5):
        left, right = make_category(shop, f"Left {number}"), make_category(shop, f"Right {number}")
        results = run_together(move(shop, left, right), move(shop, right, left))
        assert sorted(results) == ["done", "refused"]
        assert stored(shop) == numbered(shop)


def test_concurrent_changes_keep_the_bounds_correct(shop):
    roots = [make_category(shop, f"Root {number}") for number in range(4)]
    leaves = [make_category(shop, f"Leaf {number}", roots[0]) for number in range(4)]
    results = run_together(
        *(move(shop, leaf, root) for leaf, root in zip(leaves, roots, strict=True)),
        *(lambda n=n: actions.create_category(shop=shop, now=NOW, name="Same", parent=roots[n]) for n in range(4)),
    )
    assert results == ["done"] * 8
    assert stored(shop) == numbered(shop)
    assert Category.objects.filter(shop=shop, slug__startswith="same").count() == 4
