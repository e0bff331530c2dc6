"""What the shop does at an address where it has no page: redirects of the merchant, addresses of other shop programs,
and the 404 page, which is counted."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from storefront.catalogue.actions import update_category, update_product
from storefront.content import missing
from storefront.content.models import MissingPath, Page, Redirect
from storefront.shops.models import Shop
from tests.catalogue.factories import make_category, make_product
from tests.shops.factories import NOW

STAMPS = {"created_at": NOW, "updated_at": NOW}


def make_redirect(shop: Shop, path: str, target: str) -> None:
    Redirect.objects.create(shop=shop, path=path, target=target, **STAMPS)


def counted(shop: Shop) -> dict[str, int]:
    missing.flush(NOW)
    return dict(MissingPath.objects.filter(shop=shop).values_list("path", "asked"))


@pytest.mark.parametrize("path", ["/old", "/OLD/", "/old/"])
def test_a_redirect_leads_on_with_the_query(shop, other_shop, visitor, path):
    make_redirect(other_shop, "/old", "/theirs")
    assert visitor.get(path).status_code == 404
    make_redirect(shop, "/old", "/products?sort=name#top")
    answer = visitor.get(f"{path}?a=%2F")
    assert (answer.status_code, answer["Location"]) == (301, "/products?sort=name&a=%2F#top")
    assert answer["Cache-Control"] == "no-cache"
    assert visitor.head(path).status_code == 301
    assert visitor.post(path).status_code == 404
    assert visitor.get(path, headers={"host": other_shop.domain})["Location"] == "/theirs"


def test_letters_and_other_sites_are_led_to(shop, visitor):
    make_redirect(shop, "/mütze", "https://other.example.com/größe")
    assert visitor.get("/M%C3%BCtze")["Location"] == "https://other.example.com/gr%C3%B6%C3%9Fe"


def test_a_page_that_exists_wins(shop, visitor):
    make_product(shop, "Mug")
    for path in ("/products/mug", "/products", "/basket", "/robots.txt"):
        make_redirect(shop, path, "/elsewhere")
        assert visitor.get(path).status_code == 200
    make_redirect(shop, "/products/cup", "/products/mug")
    assert visitor.get("/products/cup")["Location"] == "/products/mug"


def test_a_list_with_fewer_pages_exists(shop, visitor):
    make_category(shop, "Cups")
    make_redirect(shop, "/categories/cups", "/elsewhere")
    for path in ("/categories/cups?page=9", "/categories/cups?page=x", "/products?page=9"):
        assert visitor.get(path).status_code == 404
    assert counted(shop) == {}


def test_an_old_slug_wins_over_a_redirect(shop, visitor):
    mug, cups = make_product(shop, "Mug"), make_category(shop, "Cups")
    update_product(shop=shop, product=mug, now=NOW, slug="becher")
    update_category(shop=shop, category=cups, now=NOW, slug="tassen")
    for path in ("/products/mug", "/categories/cups"):
        make_redirect(shop, path, "/elsewhere")
    assert visitor.get("/products/mug")["Location"] == "/products/becher"
    assert visitor.get("/categories/cups")["Location"] == "/categories/tassen"


@pytest.mark.parametrize(
    ("path", "place"),
    [("/admin", "/admin/"), ("/account/login", "/account"), ("/basket/", "/basket"), ("/checkout/foo", None),
     ("/Orders/1", None), ("/.well-known/acme", None), ("/static/x", None)],
)  # fmt: skip
def test_no_redirect_leads_away_from_accounts_and_orders(shop, visitor, path, place):
    make_redirect(shop, path.lower().rstrip("/"), "https://evil.example.com/login")
    assert visitor.get(path).get("Location") == place


def test_a_redirect_to_an_old_address_leads_on_at_once(shop, visitor):
    mug = make_product(shop, "Mug")
    make_redirect(shop, "/old", "/products/mug?a=1#top")
    make_redirect(shop, "/gone", "/products/cup")
    make_redirect(shop, "/products/cup", "/collections/all")
    assert visitor.get("/old")["Location"] == "/products/mug?a=1#top"
    update_product(shop=shop, product=mug, now=NOW, slug="becher")
    assert visitor.get("/old?b=2")["Location"] == "/products/becher?a=1&b=2#top"
    assert visitor.get("/gone")["Location"] == "/products"
    make_product(shop, "Cup")
    assert visitor.get("/gone")["Location"] == "/products/cup"


OLD_SHOPS = {
    "/collections/cups": "/categories/cups",
    "/collections/cups/products/mug": "/products/mug",
    "/product-category/kitchen/cups/": "/categories/cups",
    "/product-category/cups": "/categories/cups",
    "/product/mug/": "/products/mug",
    "/product/mug": "/products/mug",
    "/products/mug/": "/products/mug",
    "/categories/cups/": "/categories/cups",
    "/pages/about/": "/pages/about",
    "/products/": "/products",
    "/shop/": "/products",
    "/collections/all": "/products",
    "/cart/": "/basket",
    "/my-account/": "/account",
}


@pytest.mark.parametrize("path", OLD_SHOPS)
def test_addresses_of_other_shop_programs_lead_to_ours(shop, visitor, path):
    make_product(shop, "Mug")
    make_category(shop, "Cups")
    Page.objects.create(shop=shop, title="About", slug="about", is_published=True, **STAMPS)
    answer = visitor.get(path + "?utm=1")
    assert (answer.status_code, answer["Location"]) == (301, OLD_SHOPS[path] + "?utm=1")


@pytest.mark.parametrize("path", [path for path, target in OLD_SHOPS.items() if target.count("/") > 1])
def test_what_the_shop_does_not_have_stays_a_404(shop, other_shop, visitor, path):
    make_product(shop, "Mug", status="draft")
    make_category(shop, "Cups", is_active=False)
    make_product(other_shop, "Mug")
    make_category(other_shop, "Cups")
    Page.objects.create(shop=shop, title="About", slug="about", **STAMPS)
    Page.objects.create(shop=other_shop, title="About", slug="about", is_published=True, **STAMPS)
    assert visitor.get(path).status_code == 404


def test_addresses_of_other_shop_programs_with_old_slugs_lead_on_at_once(shop, visitor):
    mug, cups = make_product(shop, "Mug"), make_category(shop, "Cups")
    update_product(shop=shop, product=mug, now=NOW, slug="becher")
    update_category(shop=shop, category=cups, now=NOW, slug="tassen")
    assert visitor.get("/product/mug/")["Location"] == "/products/becher"
    assert visitor.get("/collections/cups")["Location"] == "/categories/tassen"


def test_the_account_is_on_the_secure_host(shop, visitor, apart):
    assert visitor.get("/my-account/")["Location"].startswith("http://secure.example.com/")
    assert visitor.get("/my-account/", headers={"host": "secure.example.com"}).status_code == 404


def test_only_pages_that_are_missing_are_counted(shop, other_shop, visitor):
    make_redirect(shop, "/old", "/products")
    for path in (
        "/old",
        "/shop",
        "/products",
        "/gone?who=ada",
        "/Gone/",
        "/products/gone",
        "/categories/x",
        "/wp-login.php",
    ):
        visitor.get(path)
    visitor.post("/posted")
    visitor.get("/api/v1/nothing")
    visitor.get("/admin/nothing")
    visitor.get("/orders/secret")
    visitor.get("/picture", headers={"sec-fetch-dest": "image", "sec-fetch-mode": "no-cors"})
    assert counted(shop) == {"/gone": 2, "/products/gone": 1, "/categories/x": 1}
    assert counted(other_shop) == {}


def test_a_closed_shop_shows_nothing_of_what_it_has(shop, visitor):
    make_product(shop, "Mug")
    make_redirect(shop, "/old", "/products")
    Shop.objects.filter(pk=shop.pk).update(door_password="closed")
    for path in ("/product/mug", "/old"):
        assert visitor.get(path).status_code == 404
    assert counted(shop) == {}


def test_a_missing_page_costs_few_queries_however_many_redirects(shop, visitor):
    visitor.get("/nope")
    with CaptureQueriesContext(connection) as without:
        visitor.get("/nope")
    Redirect.objects.bulk_create(Redirect(shop=shop, path=f"/old-{n}", target="/x", **STAMPS) for n in range(500))
    with CaptureQueriesContext(connection) as with_many:
        visitor.get("/nope")
    assert len(with_many) == len(without)


def test_the_404_page_has_a_search_and_ways_on(shop, page):
    text = page("/nope", status=404)
    assert 'type="search"' in text
    assert 'href="/products"' in text
