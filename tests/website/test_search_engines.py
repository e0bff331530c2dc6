from datetime import UTC, datetime

from tests.catalogue.factories import make_category, make_product


def test_robots_txt_allows_the_shop_but_not_what_belongs_to_one_visitor(page):
    """The basket of a visitor who has none is a page like others, which search engines may call."""
    robots = page("/robots.txt")
    assert "Disallow: /basket/\n" in robots
    assert 'content="noindex"' not in page("/basket")
    assert "Disallow: /checkout\n" in robots
    assert "Sitemap: https://shop.example.com/sitemap.xml" in robots


def test_the_sitemap_lists_every_page(shop, page):
    make_product(shop, "Blue cup")
    make_category(shop, "Kitchen")
    index = page("/sitemap.xml")
    assert "https://shop.example.com/sitemap-0.xml" in index
    assert "https://shop.example.com/sitemap-1.xml" in index
    assert "<loc>https://shop.example.com/categories/kitchen</loc>" in page("/sitemap-0.xml")
    assert "<loc>https://shop.example.com/products/blue-cup</loc><lastmod>2026-11-21</lastmod>" in page(
        "/sitemap-1.xml"
    )
    page("/sitemap-2.xml", status=404)


def test_the_sitemap_leaves_out_hidden_products(shop, other_shop, page):
    make_product(shop, "Cup")
    make_product(shop, "Draft", status="draft")
    make_product(shop, "Quiet", noindex=True)
    make_product(shop, "Hidden", exclude_from_catalog=True)
    make_product(other_shop, "Secret")
    make_category(other_shop, "Secret")
    make_category(shop, "Attic", noindex=True)
    everything = page("/sitemap-0.xml") + page("/sitemap-1.xml")
    assert "/cup<" in everything
    for word in ("draft", "quiet", "hidden", "secret", "attic"):
        assert word not in everything


def test_a_host_that_means_no_shop_has_neither(shop, other_shop, client):
    assert client.get("/sitemap.xml", headers={"host": "nobody.example.com"}).status_code == 404
    assert "Disallow: /\n" in client.get("/robots.txt", headers={"host": "nobody.example.com"}).content.decode()


def test_structured_data_says_when_a_preorder_comes_and_a_sale_ends(shop, page):
    sale = {"price": "8.00", "compare_price": "10.00", "regular_compare_price": "0.00", "sale_price": "8.00"}
    until = datetime(2099, 3, 3, 23, 30, tzinfo=UTC)
    make_product(shop, "Novel", is_preorder=True, available_from=until, sale_until=until, **sale)
    text = page("/products/novel")
    assert '"availability": "https://schema.org/PreOrder"' in text
    assert '"availabilityStarts": "2099-03-03T23:30:00.000000Z"' in text
    assert '"priceValidUntil": "2099-03-03T23:30:00.000000Z"' in text


def test_every_page_of_the_shop_has_a_description(shop, page):
    cups = make_category(shop, "Cups")
    make_category(shop, "Plates", description="<p>Flat.</p>")
    make_product(shop, "Cup", categories=(cups,), short_description="For tea.")
    expected = {
        "/": "Lighthouse: Cups, Plates.",
        "/products": "All products at Lighthouse.",
        "/categories/cups": "Cups at Lighthouse.",
        "/categories/plates": "Flat.",
        "/products/cup": "For tea.",
    }
    for path, text in expected.items():
        assert f'<meta name="description" content="{text}">' in page(path), path
