"""Old slugs of products and categories lead to the new ones."""

import pytest

from storefront.catalogue import actions
from tests.catalogue.factories import make_category, make_product
from tests.shops.factories import NOW


def location(visitor, path: str) -> str:
    answer = visitor.get(path)
    assert answer.status_code == 301, answer.content
    # Something else can get the slug, so browsers ask again.
    assert answer["Cache-Control"] == "no-cache"
    return answer["Location"]


def test_an_old_address_leads_to_the_new_one_with_its_query(shop, other_shop, visitor):
    mug, cups = make_product(shop, "Mug"), make_category(shop, "Cups")
    for name in ("Mug", "Other"):
        make_product(other_shop, name)
    actions.update_product(shop=shop, product=mug, now=NOW, slug="becher")
    actions.update_category(shop=shop, category=cups, now=NOW, slug="tassen")
    assert location(visitor, "/products/mug") == "/products/becher"
    assert location(visitor, "/products/mug?Colour=Blue&utm=a%20b") == "/products/becher?Colour=Blue&utm=a%20b"
    assert location(visitor, "/categories/cups?page=2&sort=name") == "/categories/tassen?page=2&sort=name"
    assert visitor.get("/products?category=cups&sort=name")["Location"] == "/categories/tassen?sort=name"
    # The other shop's product never moved.
    assert visitor.get("/products/mug", headers={"host": other_shop.domain}).status_code == 200
    assert visitor.get("/products/other").status_code == 404


def test_a_slug_in_use_is_never_an_old_one(shop, visitor):
    mug = make_product(shop, "Mug")
    actions.update_product(shop=shop, product=mug, now=NOW, slug="becher")
    make_product(shop, "Another mug", slug="mug", status="draft")
    assert visitor.get("/products/mug").status_code == 404


@pytest.mark.parametrize("hidden", [{"status": "draft"}, {"deleted_at": NOW}])
def test_what_shoppers_cannot_see_is_not_found(shop, visitor, hidden):
    mug = make_product(shop, "Mug")
    actions.update_product(shop=shop, product=mug, now=NOW, slug="becher")
    type(mug).objects.filter(pk=mug.pk).update(**hidden)
    assert visitor.get("/products/mug").status_code == 404


def test_a_hidden_category_is_not_found(shop, visitor):
    kitchen = make_category(shop, "Kitchen")
    cups = make_category(shop, "Cups", kitchen)
    actions.update_category(shop=shop, category=cups, now=NOW, slug="tassen")
    actions.update_category(shop=shop, category=kitchen, now=NOW, is_active=False)
    assert visitor.get("/categories/cups").status_code == 404


def test_the_sitemap_and_the_canonical_address_are_the_new_one(shop, visitor, page):
    mug = make_product(shop, "Mug")
    actions.update_product(shop=shop, product=mug, now=NOW, slug="becher")
    text = page("/sitemap-1.xml")
    assert "/products/becher" in text
    assert "/products/mug" not in text
    assert f'rel="canonical" href="{shop.base_url}/products/becher"' in page("/products/becher")


@pytest.mark.parametrize("path", ["/products/Kr%C3%BCge", "/products/kru%CC%88ge", "/products/KRU%CC%88GE"])
def test_capitals_and_accents_as_characters_of_their_own_are_led_on(shop, visitor, path):
    actions.update_product(shop=shop, product=make_product(shop, "a", slug="krüge"), now=NOW, slug="mug")
    assert location(visitor, path) == "/products/mug"
