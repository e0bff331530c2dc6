"""Pages of products and categories at their slugs in the shop's languages."""

import pytest

from storefront.catalogue.models import Category, Product
from tests.catalogue.factories import make_category, make_product


@pytest.fixture
def shop(shop):
    shop.language, shop.further_languages = "en", ["de", "fr"]
    shop.save()
    return shop


@pytest.fixture
def mug(shop) -> Product:
    kitchen = make_category(shop, "Kitchen", translations={"de": {"slug": "kueche"}})
    cups = make_category(shop, "Cups", kitchen, translations={"de": {"slug": "tassen", "name": "Tassen"}})
    return make_product(shop, "Mug", categories=(cups,), translations={"de": {"slug": "becher", "name": "Becher"}})


def leads(visitor, path: str) -> str:
    answer = visitor.get(path)
    return f"{answer.status_code} {answer['Location']}" if answer.status_code == 301 else str(answer.status_code)


def test_a_page_is_at_its_slug_of_the_language(visitor, page, mug):
    assert "Becher" in page("/de/products/becher")
    assert "Tassen" in page("/de/categories/tassen")
    assert leads(visitor, "/de/products/mug").endswith("301 /de/products/becher")
    assert leads(visitor, "/de/categories/cups").endswith("301 /de/categories/tassen")
    # A language without a slug of its own has that of the main one.
    assert [leads(visitor, path) for path in ("/fr/products/mug", "/fr/categories/cups")] == ["200", "200"]
    assert [leads(visitor, path) for path in ("/products/mug", "/categories/cups")] == ["200", "200"]


def test_an_address_with_the_slug_of_another_language_leads_to_the_own_one(visitor, mug):
    assert leads(visitor, "/products/becher") == "301 /products/mug"
    assert leads(visitor, "/categories/tassen") == "301 /categories/cups"
    assert leads(visitor, "/fr/products/becher") == "301 /fr/products/mug"
    assert leads(visitor, "/fr/categories/tassen") == "301 /fr/categories/cups"
    assert leads(visitor, "/de/products/krug") == "404"


def test_old_slugs_of_the_language_lead_to_the_present_one(visitor, mug):
    Product.objects.filter(pk=mug.pk).update(slug="cup", translations={"de": {"slug": "tasse"}})
    Category.objects.filter(slug="cups").update(translations={"de": {"slug": "humpen"}})
    assert leads(visitor, "/de/products/becher") == "301 /de/products/tasse"
    assert leads(visitor, "/de/products/mug") == "301 /de/products/tasse"
    assert leads(visitor, "/de/categories/tassen") == "301 /de/categories/humpen"
    assert leads(visitor, "/products/mug") == "301 /products/cup"


def test_links_and_canonical_addresses_have_the_slugs_of_the_page(page, shop, mug):
    make_product(shop, "Bowl", categories=tuple(Category.objects.filter(slug="cups")))
    listing = page("/de/categories/tassen")
    assert '"/de/products/becher"' in listing
    assert "/de/products/mug" not in listing
    assert f'href="{shop.base_url}/de/categories/tassen"' in listing
    assert '"/de/categories/kueche"' in listing
    product = page("/de/products/becher")
    assert f'href="{shop.base_url}/de/products/becher"' in product
    assert '"/de/categories/tassen"' in product
    # What else its category has.
    assert '"/de/products/bowl"' in product
    assert '"/de/categories/kueche"' in page("/de/")
    assert '"/products/mug"' in page("/categories/cups")


def test_filters_and_searches_stay_in_the_category(page, mug):
    assert '"/de/products/becher"' in page("/de/categories/tassen?in_stock=1")
    assert '"/de/products/becher"' in page("/de/categories/kueche?in_stock=1")
    assert '"/de/products/becher"' in page("/de/products?q=bechern&category=tassen")
    assert "/products/mug" not in page("/products?q=bechern")


def test_suggestions_are_in_the_language_of_the_page(visitor, mug):
    assert visitor.get("/de/search/suggestions?q=bechern").json() == [{"name": "Becher", "url": "/de/products/becher"}]


def test_another_shop_has_its_own(visitor, other_shop, mug):
    other_shop.further_languages = ["de"]
    other_shop.save()
    make_product(other_shop, "Krug", translations={"de": {"slug": "krug"}})
    make_product(other_shop, "Pot", slug="mug", translations={"de": {"slug": "becher"}})
    assert leads(visitor, "/de/products/krug") == leads(visitor, "/products/krug") == "404"
    assert leads(visitor, "/de/products/becher") == "200"


@pytest.mark.parametrize("slug", ["rouge / bleu", "a?b", "..", "x" * 256, " "])
def test_a_text_that_can_be_no_slug_is_in_no_address(page, api, mug, slug):
    """Apps could store any before slugs had languages."""
    Product.objects.filter(pk=mug.pk).update(translations={"fr": {"slug": slug, "name": "Tasse"}})
    for path in ("/fr/products", "/fr/products/mug", "/fr/categories/cups", "/products/mug"):
        assert "/fr/products/mug" in page(path)
    assert "/fr/products/mug<" in page("/fr/sitemap-1.xml")
    shown = api.get("/products/mug?locale=fr").json()["data"]
    assert (shown["slug"], shown["name"], shown["translations"]["fr"]["slug"]) == ("mug", "Tasse", slug)
