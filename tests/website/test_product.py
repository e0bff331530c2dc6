import json

import pytest

from storefront.pricing.models import TaxRate
from storefront.shops.models import Shop
from tests.catalogue.factories import make_category, make_media, make_option, make_product, make_variant
from tests.content.test_pages import make_page


def test_shows_the_product(shop, page):
    make_product(shop, "Cup", short_description="For tea.", description="<p>Thrown by <em>hand</em>.</p>", sku="C1")
    cup = page("/products/cup")
    assert "<h1>Cup</h1>" in cup
    assert "For tea." in cup
    assert "Thrown by <em>hand</em>." in cup
    assert "€9.50" in cup
    assert "Add to basket" in cup


@pytest.mark.parametrize("hidden", [{"status": "draft"}, {"status": "archived"}])
def test_a_product_that_is_not_published_is_a_404(shop, page, hidden):
    make_product(shop, "Cup", **hidden)
    page("/products/cup", status=404)


def test_a_product_of_another_shop_is_a_404(shop, other_shop, page):
    secret = make_product(other_shop, "Secret")
    page("/products/secret", status=404)
    page(f"/products/{secret.pk}", status=404)
    page("/products/nul%00", status=404)


def test_an_id_redirects_to_the_slug(shop, visitor):
    cup = make_product(shop, "Cup")
    assert visitor.get(f"/products/{cup.pk}").headers["Location"] == "/products/cup"


def test_a_slug_that_is_another_products_id_leads_to_its_own_product(shop, visitor):
    mug = make_product(shop, "Mug")
    make_product(shop, "Number", slug=str(mug.pk))
    assert "<h1" in (text := visitor.get(f"/products/{mug.pk}").content.decode())
    assert "Number" in text


def test_a_description_cannot_run_scripts(shop, page):
    evil = '<script>alert(1)</script><p onclick="alert(2)">Nice</p><a href="javascript:alert(3)">x</a><h1>Big</h1>'
    make_product(shop, "Cup", description=evil, short_description="<img src=x onerror=alert(4)>")
    cup = page("/products/cup")
    assert "alert(" not in cup
    assert "Nice" in cup
    assert cup.count("<h1") == 1


def test_a_description_without_tags_keeps_its_paragraphs(shop, page):
    make_product(shop, "Cup", description="One & two.\n\nThree.")
    assert "<p>One &amp; two.</p>" in page("/products/cup")


def test_pictures_have_alt_texts_and_reserved_space(shop, page):
    cup = make_product(shop, "Cup")
    make_media(cup, "https://cdn.example.com/one.jpg", alt="A blue cup")
    make_media(cup, "https://cdn.example.com/two.jpg")
    text = page("/products/cup")
    assert '<img src="https://cdn.example.com/one.jpg" alt="A blue cup" width="1000" height="1000"' in text
    assert '<img src="https://cdn.example.com/two.jpg" alt="Cup"' in text


def test_a_product_without_a_picture_has_a_placeholder(shop, page):
    make_product(shop, "Cup")
    assert 'aria-label="No picture yet"' in page("/products/cup")


def test_variants_are_chosen_by_axes(shop, page):
    cup = make_product(shop, "Cup", attributes=[{"name": "Colour", "values": ["Red", "Blue"], "variation": True}])
    make_variant(cup, "Blue")
    make_variant(cup, "Red", stock_qty=0)
    make_variant(cup, "Gone", is_active=False)
    text = page("/products/cup")
    assert text.index('value="Red"') < text.index('value="Blue" checked')
    assert "Gone" not in text


def test_a_link_can_name_the_variant(shop, page):
    cup = make_product(shop, "Cup")
    make_variant(cup, "Blue")
    red = make_variant(cup, "Red")
    assert 'value="Red" checked' in page(f"/products/cup?variant={red.pk}")


def test_a_variant_without_a_value_offers_every_listed_value(shop, page):
    cup = make_product(shop, "Cup", attributes=[{"name": "Glaze", "values": ["Matt", "Shiny"], "variation": True}])
    make_variant(cup, "Cup", option_values={})
    text = page("/products/cup")
    assert 'value="Matt"' in text
    assert 'value="Shiny"' in text


def test_many_values_are_a_select_box(shop, page):
    cup = make_product(shop, "Cup")
    for number in range(9):
        make_variant(cup, f"Shade {number}")
    assert '<select id="axis-0" name="axis-0"' in page("/products/cup")


def test_options_show_their_prices_and_whether_they_are_required(shop, page):
    cup = make_product(shop, "Cup")
    make_option(cup, "Engraving", {"Gold": "5.00"}, required=True)
    make_option(cup, "Note", {"Note": "1.00"}, type="text")
    text = page("/products/cup")
    assert "Gold (+ €5.00)" in text
    assert "Please choose" in text
    assert "(optional)" in text


def test_contains_structured_data_for_search_engines(shop, page):
    cup = make_product(shop, "Cup", sku="C1", short_description="For </script> tea.", meta_title="The cup")
    make_media(cup)
    text = page("/products/cup")
    assert "<title>The cup – Lighthouse</title>" in text
    assert '<link rel="canonical" href="https://shop.example.com/products/cup">' in text
    assert '<meta property="og:image" content="https://cdn.example.com/one.jpg">' in text
    found = json.loads(text.split('id="structured">')[1].split("</script>")[0])
    assert found["name"] == "Cup"
    assert found["offers"]["price"] == "9.50"
    assert found["offers"]["availability"] == "https://schema.org/InStock"


def test_noindex_is_respected(shop, page):
    make_product(shop, "Cup", noindex=True)
    make_product(shop, "Bowl")
    assert 'content="noindex"' in page("/products/cup")
    assert 'content="noindex"' not in page("/products/bowl")


def test_shows_others_of_its_category_but_nothing_of_another_shop(shop, other_shop, page):
    cups = make_category(shop, "Cups")
    make_product(shop, "Blue cup", categories=(cups,))
    make_product(shop, "Red cup", categories=(cups,))
    make_product(other_shop, "Secret cup", categories=(make_category(other_shop, "Cups"),))
    text = page("/products/blue-cup")
    assert "Red cup" in text
    assert "Secret cup" not in text


def test_takes_few_queries(shop, visitor, django_assert_max_num_queries):
    cups = make_category(shop, "Cups")
    cup = make_product(shop, "Cup", categories=(cups,))
    for number in range(5):
        make_variant(cup, f"Shade {number}")
        make_media(make_product(shop, f"Jug {number}", categories=(cups,)))
    make_option(cup, required=True)
    with django_assert_max_num_queries(15):
        page = visitor.get("/products/cup").content.decode()
    assert all(f"Shade {number}" in page for number in range(5))
    assert any(f"Jug {number}" in page for number in range(5))


def test_says_what_the_price_contains_and_what_comes_on_top(shop, other_shop, page):
    make_product(shop, "Mug")
    make_product(shop, "Pattern", requires_shipping=False)
    make_page(other_shop, "delivery", kind="delivery")
    assert '<p class="muted small">plus delivery</p>' in page("/products/mug")
    TaxRate.objects.create(shop=other_shop, name="GST", country="DE", percent=5)
    TaxRate.objects.create(shop=shop, name="VAT", country="DE", percent=19)
    make_page(shop, "shipping", kind="delivery")
    said = '<p class="muted small">incl. VAT, plus <a href="/pages/shipping">delivery</a></p>'
    for path in ("/products/mug", "/products", "/"):
        assert said in page(path), path
    assert '<p class="muted small">incl. VAT</p>' in page("/products/pattern")
    make_product(shop, "Gift card", requires_shipping=False, is_gift_card=True)
    assert "VAT" not in page("/products/gift-card")
    Shop.objects.filter(pk=shop.pk).update(prices_include_tax=False)
    assert "plus VAT, plus" in page("/products/mug")


def test_breadcrumbs_name_all_categories_above(shop, page):
    kitchen = make_category(shop, "Kitchen")
    tableware = make_category(shop, "Tableware", kitchen)
    cups = make_category(shop, "Cups", tableware)
    make_product(shop, "Cup", categories=(cups,))
    make_product(shop, "Mug", categories=(kitchen, tableware, cups))
    for path in ("/products/cup", "/products/mug"):
        crumbs = page(path).split('aria-label="Breadcrumb"')[1].split("</nav>")[0]
        assert [crumbs.count(f"{slug}</a>") for slug in ("Kitchen", "Tableware", "Cups")] == [1, 1, 1]
        assert crumbs.index("Kitchen</a>") < crumbs.index("Tableware</a>") < crumbs.index("Cups</a>")
