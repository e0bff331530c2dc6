from tests.catalogue.factories import make_category, make_product


def test_robots_txt_allows_the_shop_but_not_baskets(page):
    robots = page("/robots.txt")
    assert "Disallow: /basket\n" in robots
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
