"""A shop's languages have changed: translations into what is now its main one, or was given up, are not shown."""

from uuid import uuid4

import pytest
from django.test import Client

from storefront.content import mail_words
from storefront.content import queries as content
from storefront.content.models import Looks, MailText, MenuLink, Page
from storefront.orders.templatetags.order_text import payment_words
from storefront.pricing import queries as pricing
from storefront.pricing.candidates import candidates
from storefront.pricing.models import TaxRate
from storefront.website import queries as website
from tests.catalogue.factories import make_category, make_product
from tests.languages.test_addresses import InLanguage
from tests.pricing.rows import make_discount, make_place, make_rate, make_zone
from tests.shops.factories import NOW


def left(field: str) -> dict[str, dict[str, str]]:
    """Translations from before the languages changed; Spanish is a further language now."""
    return {"en": {field: "left"}, "fr": {field: "left"}, "es": {field: "now"}}


@pytest.mark.parametrize(("language", "shown"), [("en", "own"), ("fr", "own"), ("es", "now")])
def test_only_further_languages_have_translations(shop, language, shown):
    shop.further_languages, shop.country = ["es"], "DE"
    shop.manual_payment_instructions, shop.translations = "own", left("manual_payment_instructions")
    shop.save()
    zone, of_name = make_zone(shop, countries=["DE"]), left("name")
    make_rate(shop, "own", zone=zone, translations=of_name)
    make_place(shop, "own", translations=of_name)
    make_discount(shop, "own", translations=of_name)
    TaxRate.objects.create(shop=shop, name="own", country="DE", percent=19, translations=of_name)
    make_category(shop, "own", slug="own", translations=of_name, is_active=True)
    MailText.objects.create(shop=shop, kind="confirmation", subject="own", translations=left("subject"), updated_at=NOW)
    looks = Looks.objects.create(shop=shop, footer_text="own", translations=left("footer_text"), updated_at=NOW)
    MenuLink.objects.create(shop=shop, looks=looks, label="own", link="/", translations=left("label"))
    Page.objects.create(
        shop=shop,
        title="own",
        slug="own",
        is_published=True,
        translations=left("title"),
        updated_at=NOW,
        created_at=NOW,
    )
    found_looks, (found_rate, _) = content.looks_of(shop, language), *pricing.shipping_rates(shop, zone, language)
    (discount,) = candidates(shop, product_ids=[make_product(shop).pk], codes=[], now=NOW, language=language)
    terms = pricing.tax_terms(shop, destination={"country": "DE"}, language=language)
    found = {
        "category": [each.name for each in website.main_categories(shop, language)],
        "category of its page": [website.shown_category(shop, "own", language).name],
        "discount": [discount.discount.name],
        "looks": [found_looks.footer_text, *(link.label for link in found_looks.links.all())],
        "mail": [mail_words.words_of(shop, "confirmation", language).subject],
        "page": [content.published_page(shop, "own", language).title],
        "payment": [payment_words(shop, language)],
        "place": [place.name for place in pricing.pickup_places(shop, language)],
        "rate": [found_rate.name],
        "tax": [pricing.tax_name(shop, language), *(rate.name for rate in terms.rates)],
    }
    assert {text for texts in found.values() for text in texts} == {shown}, found


def test_links_of_orders_outlive_the_language(shop):
    shop.further_languages = ["fr"]
    shop.save()
    browser, mug = Client(headers={"host": shop.domain}), make_product(shop, "Mug", stock_qty=50)
    browser.post("/fr/basket/add", {"product": mug.pk, "qty": 1})
    shopper = InLanguage(shop, browser, "fr")
    shopper.fill_details()
    page = shopper.post("/checkout/payment", shopper.payment_fields("manual"))["Location"]
    assert page.startswith("/fr/orders/")
    shop.further_languages = []
    shop.save()
    for query in ("", "?token=x"):
        answer = browser.get(page + query)
        assert (answer.status_code, answer["Location"]) == (303, page.removeprefix("/fr") + query)
    assert browser.get(page, follow=True).status_code == 200
    assert browser.get(f"/fr/checkout/payment/{uuid4()}/return?a=b")["Location"].startswith("/checkout/payment/")
    for path in ("/fr/orders/1", "/fr/checkout", "/fr/products/mug", page.replace("/fr/", "/xx/")):
        assert browser.get(path).status_code == 404
    assert browser.post(page).status_code == 404


def test_a_former_slug_in_the_main_language_is_in_no_link(shop, page):
    cups = make_category(shop, "Cups", slug="cups", translations={"en": {"slug": "becher", "name": "Becher"}})
    make_product(shop, "Mug", categories=(cups,))
    text = page("/products/mug")
    assert "/categories/cups" in text
    assert "becher" not in text.lower()


def test_a_text_that_is_no_slug_is_in_no_link(shop, page):
    """Apps could store any text there before slugs had languages."""
    make_category(shop, "Cups", slug="cups", translations={"de": {"slug": "tassen/becher", "name": "Tassen"}})
    (cups,) = website.main_categories(shop, "de")
    assert (cups.name, cups.slug) == ("Tassen", "cups")
    make_product(shop, "Mug", categories=(cups,))
    assert 'href="/de/categories/cups"' in page("/de/products/mug")
