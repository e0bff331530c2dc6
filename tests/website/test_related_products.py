import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.catalogue.factories import make_category, make_product, make_related
from tests.shops.factories import NOW


def offered(page: str) -> list[str]:
    """The slugs of the products under "You may also like"."""
    _, _, rest = page.partition("You may also like")
    return list(dict.fromkeys(re.findall(r'href="/products/([^"/?]+)"', rest.partition("</section>")[0])))


def test_up_sells_come_before_products_of_the_same_category(shop, page):
    cups = make_category(shop, "Cups")
    cup = make_product(shop, "Cup", categories=(cups,))
    bowl, jug = make_product(shop, "Bowl"), make_product(shop, "Jug", categories=(cups,))
    for n in range(4):
        make_product(shop, f"Mug {n}", categories=(cups,), sort_order=n + 1)
    make_related(cup, bowl, jug)
    make_related(cup, make_product(shop, "Lid"), kind="cross_sell")
    assert offered(page("/products/cup")) == ["bowl", "jug", "mug-0", "mug-1"]


def test_a_product_in_no_category_has_its_up_sells(shop, page):
    cup = make_product(shop, "Cup")
    assert offered(page("/products/cup")) == []
    make_related(cup, *(make_product(shop, f"Mug {n}") for n in range(6)))
    assert offered(page("/products/cup")) == ["mug-0", "mug-1", "mug-2", "mug-3"]


@pytest.mark.parametrize(
    "hidden", [{"status": "draft"}, {"deleted_at": NOW}, {"unpublish_at": NOW}, {"exclude_from_catalog": True}]
)
def test_products_that_are_not_listed_are_not_offered(shop, page, hidden):
    cup = make_product(shop, "Cup")
    make_related(cup, make_product(shop, "Hidden", **hidden), make_product(shop, "Mug"))
    assert offered(page("/products/cup")) == ["mug"]


def test_the_basket_offers_cross_sells_that_are_not_in_it(shop, visitor, page):
    cup, saucer, spoon = (make_product(shop, name) for name in ("Cup", "Saucer", "Spoon"))
    make_related(cup, saucer, spoon, kind="cross_sell")
    make_related(saucer, spoon, kind="cross_sell")
    make_related(cup, make_product(shop, "Mug"))
    assert offered(page("/basket")) == []
    visitor.post("/basket/add", {"product": cup.pk, "qty": 1})
    assert offered(page("/basket")) == ["saucer", "spoon"]
    visitor.post("/basket/add", {"product": saucer.pk, "qty": 1})
    assert offered(page("/basket")) == ["spoon"]


def test_the_number_of_queries_does_not_grow_with_related_products(shop, visitor, page):
    cup = make_product(shop, "Cup")
    make_related(cup, make_product(shop, "One"))
    page("/products/cup")
    with CaptureQueriesContext(connection) as one:
        assert offered(page("/products/cup")) == ["one"]
    make_related(cup, *(make_product(shop, f"Mug {n}") for n in range(3)), kind="up_sell")
    with CaptureQueriesContext(connection) as four:
        assert len(offered(page("/products/cup"))) == 4
    assert len(four) == len(one)
