"""What a shopper types stays on the secure host, where no app's script runs: on the shop's own host, no page has a
field for an email address, a password, a telephone number or free text, nor shows what was typed."""

import re
from html.parser import HTMLParser
from urllib.parse import urlsplit

import pytest
from django.test import Client

from storefront.carts.models import CartLine
from storefront.catalogue.models import Product
from storefront.content.models import Page
from storefront.kit import clock
from storefront.staff import doors
from storefront.stock_alerts.models import StockAlert
from storefront.website import urls as website
from tests.catalogue.factories import make_category, make_option, make_product, make_variant
from tests.pricing.rows import make_rate
from tests.shops.factories import NOW

pytestmark = [pytest.mark.usefixtures("apart"), pytest.mark.django_db]

SECURE = "secure.example.com"
# Fields with which a shopper looks for something, chooses, or enters a number.
CHOICES = ("hidden", "radio", "checkbox", "submit", "number", "date")
GIFT = {"type": "digital", "requires_shipping": False, "track_inventory": False, "is_gift_card": True}


class Fields(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.typed: list[dict[str, str | None]] = []

    def handle_starttag(self, tag: str, attrs) -> None:
        given = dict(attrs)
        is_number = given.get("inputmode") in ("numeric", "decimal")
        is_search = (given.get("type"), given.get("name")) == ("search", "q")
        is_typed = tag == "input" and given.get("type", "text") not in CHOICES and not is_number and not is_search
        if is_typed or tag == "textarea" or "contenteditable" in given:
            self.typed.append({"tag": tag, **given})


def typed_fields(html: str) -> list[dict[str, str | None]]:
    parser = Fields()
    parser.feed(html)
    return parser.typed


@pytest.fixture
def products(shop):
    make_option(make_product(shop, "Mug"), "Engraving", {"Text": "2.00"}, type="text", required=True)
    make_product(shop, "Gone", stock_qty=0)
    cup = make_product(shop, "Cup", categories=(make_category(shop, "Cups"),))
    make_variant(cup, "Blue")
    make_variant(cup, "Red", stock_qty=0)
    make_product(shop, "Card", price="25.00", allow_custom_price=True, min_custom_price="10.00", **GIFT)
    make_rate(shop, countries=["DE", "FR"])
    about = {"title": "About", "slug": "about", "is_published": True, "created_at": NOW, "updated_at": NOW}
    Page.objects.create(shop=shop, body="<p>We.</p>", **about)
    return {product.name: product for product in Product.objects.filter(shop=shop)}


class Visitor:
    """A browser on both hosts. Follows redirects from one to the other."""

    def __init__(self, shop) -> None:
        self.shop = shop
        self.on = {shop.domain: Client(headers={"host": shop.domain}), SECURE: Client(headers={"host": SECURE})}

    def get(self, url: str):
        parts = urlsplit(url)
        return self.follow(self.on[parts.netloc or self.shop.domain].get(url), parts.netloc or self.shop.domain)

    def post(self, url: str, given):
        parts = urlsplit(url)
        return self.follow(self.on[parts.netloc or self.shop.domain].post(url, given), parts.netloc or self.shop.domain)

    def follow(self, answer, host: str):
        for _ in range(9):
            if answer.status_code not in (302, 303):
                break
            parts = urlsplit(answer["Location"])
            host = parts.netloc or host
            answer = self.on[host].get(answer["Location"])
        answer.host = host
        return answer


@pytest.fixture
def visitor(shop):
    return Visitor(shop)


def secure(shop, path: str) -> str:
    return f"http://{SECURE}/{shop.domain}{path}"


# Each page of the shop's own host, by name; what is no page has none.
PAGES = {
    "home": ["/"],
    "listing": ["/products", "/products?q=mug&in_stock=1"],
    "product": ["/products/mug", "/products/gone", "/products/cup", "/products/card"],
    "category": ["/categories/cups"],
    "page": ["/pages/about"],
    "basket": ["/basket"],
    "suggestions": ["/search/suggestions?q=mug"],
}
NO_PAGES = {"colours", "basket_add", "basket_update", "basket_codes", "basket_delivery", "script_reports"}
NO_PAGES |= {"decline_language", "buy", "buy_items", "robots", "sitemap", "sitemap_part", "product_blocks"}


@pytest.mark.slow
def test_no_page_with_apps_scripts_has_a_field_for_what_is_personal(shop, products, visitor):
    add_engraved(visitor, shop, products)
    add_card(visitor, shop, products)
    visitor.post("/basket/add", {"product": products["Cup"].pk, "axis-0": "Blue", "qty": "1"})
    names = {pattern.name for pattern in website.open_pages}
    assert names == set(PAGES) | NO_PAGES, "enter the new page here"
    for path in [path for paths in PAGES.values() for path in paths]:
        answer = visitor.on[shop.domain].get(path)
        assert answer.status_code == 200, path
        html = answer.content.decode()
        assert not typed_fields(html), path
        assert not [word for word in ("ben@example.com", "Happy birthday", "For Ada") if word in html], path
    closed_and_refused(visitor, shop, products)


def closed_and_refused(visitor, shop, products) -> None:
    refused = visitor.on[shop.domain].post("/basket/add", {"product": products["Cup"].pk, "qty": "x", "axis-0": "Blue"})
    assert (refused.status_code, typed_fields(refused.content.decode())) == (422, [])
    doors.close_doors(shop=shop, now=clock.now())
    answer = Client(headers={"host": shop.domain}).get("/products/mug")
    assert (answer.status_code, typed_fields(answer.content.decode())) == (403, [])


def test_the_test_sees_the_fields_of_the_secure_host(shop, products, visitor):
    card = visitor.post("/basket/add", {"product": products["Card"].pk, "qty": "1"})
    assert card.host == SECURE
    assert {field["name"] for field in typed_fields(card.content.decode())} == {"recipient_email", "giver", "message"}
    engraved = visitor.post("/basket/add", {"product": products["Mug"].pk, "qty": "1"}).content.decode()
    assert [field["name"].startswith("option-") for field in typed_fields(engraved)] == [True]
    asked = visitor.get(secure(shop, f"/stock-alerts?product={products['Gone'].pk}")).content.decode()
    assert [field["type"] for field in typed_fields(asked)] == ["email"]


def hidden(html: str) -> dict[str, str]:
    form = html[html.index('<form method="post" class="card stack"') :]
    return dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)">', form))


def add_card(visitor, shop, products):
    page = visitor.post("/basket/add", {"product": products["Card"].pk, "qty": "1", "custom_price": "30"})
    typed = {"recipient_email": "ben@example.com", "message": "Happy birthday!"}
    return visitor.post(secure(shop, "/basket/texts"), hidden(page.content.decode()) | typed)


def add_engraved(visitor, shop, products, text: str = "For Ada"):
    page = visitor.post("/basket/add", {"product": products["Mug"].pk, "qty": "2"})
    option = products["Mug"].options.get()
    return visitor.post(secure(shop, "/basket/texts"), hidden(page.content.decode()) | {f"option-{option.pk}": text})


def test_what_is_typed_on_the_secure_host_lies_in_the_basket_of_both(shop, products, visitor):
    visitor.post("/basket/add", {"product": products["Cup"].pk, "axis-0": "Blue", "qty": "1"})
    arrived = add_card(visitor, shop, products)
    assert (arrived.host, arrived.status_code) == (shop.domain, 200)
    add_engraved(visitor, shop, products)
    lines = {line.name_snapshot.partition(" ")[0]: line for line in CartLine.objects.all()}
    assert len({line.cart_id for line in lines.values()}) == 1
    assert (lines["Card"].gift_card["recipient_email"], lines["Card"].price_snapshot) == ("ben@example.com", 30)
    assert (lines["Mug"].qty, lines["Mug"].options[0]["value"]) == (2, "For Ada")
    basket = visitor.get("/basket").content.decode()
    assert "For the recipient you entered" in basket
    assert "as you entered it" in basket
    checkout = visitor.get(secure(shop, "/checkout")).content.decode()
    assert "For ben@example.com" in checkout


def test_what_an_integration_wrote_with_a_line_is_not_shown_where_apps_scripts_run(shop, products, visitor):
    add_engraved(visitor, shop, products)
    CartLine.objects.update(custom_fields=[{"name": "Gift for", "value": "Ben Huber, ben@example.com"}])
    basket = visitor.get("/basket").content.decode()
    assert "Gift for: as you entered it" in basket
    assert "Ben Huber" not in basket
    assert "Gift for: Ben Huber" in visitor.get(secure(shop, "/checkout")).content.decode()


def test_a_refusal_shows_the_page_of_the_secure_host_again(shop, products, visitor):
    refused = add_engraved(visitor, shop, products, text="")
    assert (refused.host, refused.status_code) == (SECURE, 422)
    assert 'class="notice' in refused.content.decode()
    assert not CartLine.objects.exists()


def test_with_htmx_the_browser_is_sent_to_the_secure_host(shop, products, visitor):
    given = {"product": products["Card"].pk, "qty": "1", "message": "typed by hand"}
    answer = visitor.on[shop.domain].post("/basket/add", given, headers={"HX-Request": "true"})
    assert answer["HX-Redirect"].startswith(f"http://{SECURE}/{shop.domain}/arrive?next=/basket/texts%3F")
    assert "typed" not in answer["HX-Redirect"]


def test_the_wish_for_a_mail_is_typed_on_the_secure_host(shop, products, visitor, settings):
    gone = products["Gone"]
    page = visitor.get("/products/gone")
    assert f'action="http://{SECURE}/{shop.domain}/stock-alerts"' in page.content.decode()
    assert f"form-action 'self' http://{SECURE}" in page["Content-Security-Policy"]
    wrong = visitor.post(secure(shop, "/stock-alerts"), {"product": gone.pk, "email": "no"})
    assert (wrong.host, wrong.status_code) == (SECURE, 422)
    asked = visitor.post(secure(shop, "/stock-alerts"), {"product": gone.pk, "email": "ada@example.com"})
    assert "We have written to ada@example.com" in asked.content.decode()
    assert StockAlert.objects.get().email == "ada@example.com"
    assert visitor.on[shop.domain].post("/stock-alerts", {}).status_code == 404


def test_the_doors_password_is_typed_on_the_secure_host_and_opens_both(shop, products, visitor):
    password = doors.close_doors(shop=shop, now=clock.now())
    page = visitor.get("/products/mug").content.decode()
    url = re.search(r'class="button" href="([^"]+)"', page)[1]
    assert url == secure(shop, "/door?next=%2Fproducts%2Fmug")
    path = re.search(r'name="next" value="([^"]+)"', visitor.get(url).content.decode())[1]
    assert visitor.post(secure(shop, "/door"), {"password": "guess", "next": path}).status_code == 422
    entered = visitor.post(secure(shop, "/door"), {"password": password, "next": path})
    assert (entered.host, entered.status_code) == (shop.domain, 200)
    assert "Mug" in entered.content.decode()
    assert visitor.get(secure(shop, "/account/sign-in")).status_code == 200


def test_without_a_secure_host_no_apps_script_runs_and_the_fields_stay(shop, products, settings):
    settings.ADMIN_HOST = settings.SECURE_HOST = ""
    answer = Client(headers={"host": shop.domain}).get("/products/card")
    assert {field["name"] for field in typed_fields(answer.content.decode())} >= {"recipient_email", "message"}
    assert "https://" not in answer["Content-Security-Policy"].partition("script-src")[2].partition(";")[0]
