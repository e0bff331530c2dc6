from datetime import timedelta

import pytest
from django.test import Client

from storefront.catalogue import actions
from storefront.catalogue.models import Category
from storefront.listing.facets import Chosen, facets_of
from storefront.listing.queries import ProductFilters
from tests.catalogue.factories import make_category, make_product
from tests.factories.apps import install
from tests.shops.factories import NOW


@pytest.mark.rule("R-CAT-36")
def test_the_count_equals_the_total_of_the_filtered_list(api, shop):
    cups = make_category(shop, "Cups")
    empty = make_category(shop, "Empty")
    make_product(shop, "Mug", categories=(cups,))
    make_product(shop, "Draft", status="draft", categories=(cups,))
    make_product(shop, "Unlisted", exclude_from_catalog=True, categories=(cups,))
    make_product(shop, "Gone", deleted_at=NOW, categories=(cups,))
    make_product(shop, "Later", publish_at=NOW + timedelta(days=20000), categories=(cups, empty))
    counts = {each["slug"]: each["products_count"] for each in api.get("/categories").json()["data"]}
    assert counts == {"cups": 1, "empty": 0}
    for slug, count in counts.items():
        assert api.get(f"/products?category={slug}").json()["total"] == count
        assert api.get(f"/categories/{slug}").json()["data"]["products_count"] == count


def test_pictures_are_absolute_urls(api, shop):
    make_category(shop, "Cups", image="categories/cups.jpg")
    data = api.get("/categories/cups").json()["data"]
    assert data["image"] == "https://shop.example.com/media/categories/cups.jpg"
    assert data["banner"] is None


def test_another_shops_categories_are_unknown(shop, other_api, other_shop):
    cups = make_category(shop, "Cups")
    make_product(other_shop, "Lamp", categories=(make_category(other_shop, "Lights"),))
    assert [each["slug"] for each in other_api.get("/categories").json()["data"]] == ["lights"]
    assert other_api.get(f"/categories/{cups.id}").status_code == 404
    assert other_api.get("/categories/cups").status_code == 404


def test_all_categories_take_one_query_besides_authentication(api, shop, django_assert_max_num_queries):
    for name in "abcdef":
        make_product(shop, name, categories=(make_category(shop, name),))
    with django_assert_max_num_queries(2):
        assert len(api.get("/categories").json()["data"]) == 6


@pytest.mark.rule("R-CAT-34")
def test_an_inactive_category_hides_all_below_it(api, shop, other_shop, other_api):
    visitor = Client(headers={"host": shop.domain})
    kitchen, theirs = make_category(shop, "Kitchen"), make_category(other_shop, "Kitchen")
    cups = make_category(shop, "Cups", kitchen)
    mugs = make_category(shop, "Mugs", cups)
    make_category(shop, "Garden")
    make_category(other_shop, "Cups", theirs)
    mug = make_product(shop, "Mug", categories=(mugs,))
    app = install(shop, "read_products", now=NOW).api
    places = list(Category.objects.order_by("pk").values_list("lft", "rgt"))
    facets = facets_of(shop, ProductFilters(category="kitchen"), Chosen(), categories=[cups], now=NOW)
    assert (facets.total, facets.categories) == (1, {cups.pk: 1})

    def seen() -> tuple:
        """What a category is found by; each of them is asked at the same moment."""
        listed = {each["slug"] for each in api.get("/categories").json()["data"]}
        single = {slug for slug in ("cups", "mugs") if api.get(f"/categories/{slug}").status_code == 200}
        by_id = {each.slug for each in (cups, mugs) if api.get(f"/categories/{each.pk}").status_code == 200}
        totals = {slug for slug in ("cups", "mugs") if visitor.get(f"/categories/{slug}").status_code == 200}
        sitemap = visitor.get("/sitemap-0.xml").content.decode()
        mapped = {slug for slug in ("cups", "mugs") if f"/categories/{slug}<" in sitemap}
        assert single == by_id == totals == mapped == listed & {"cups", "mugs"}
        total = api.get("/products?category=mugs").json()["total"]
        record = api.get(f"/products/{mug.pk}").json()["data"]
        assert total == len(record["categories"]) == len(single & {"mugs"})
        branch = facets_of(shop, ProductFilters(category="kitchen"), Chosen(), now=NOW).total
        return listed, total, branch, mug.name in visitor.get("/categories/kitchen").content.decode()

    assert seen() == ({"kitchen", "cups", "mugs", "garden"}, 1, 1, True)
    etag = api.get("/categories")["ETag"]
    actions.update_category(shop=shop, category=cups, is_active=False, now=NOW)
    assert seen() == ({"kitchen", "garden"}, 0, 0, False)
    assert api.get("/categories", if_none_match=etag).status_code == 200
    actions.update_category(shop=shop, category=kitchen, is_active=False, now=NOW)
    actions.update_category(shop=shop, category=cups, is_active=True, now=NOW)
    assert api.get("/categories").json()["data"][0]["slug"] == "garden"
    assert visitor.get("/categories/mugs").status_code == 404
    # Products stay what they are, and apps and the tree know nothing of it.
    assert visitor.get("/products/mug").status_code == 200
    assert api.get("/products").json()["total"] == 1
    assert len(app.get(f"/products/{mug.pk}").json()["product"]["categories"]) == 1
    assert list(Category.objects.order_by("pk").values_list("lft", "rgt")) == places
    assert {each["slug"] for each in other_api.get("/categories").json()["data"]} == {"kitchen", "cups"}
    actions.update_category(shop=shop, category=kitchen, is_active=True, now=NOW)
    assert seen() == ({"kitchen", "cups", "mugs", "garden"}, 1, 1, True)
