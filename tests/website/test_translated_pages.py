"""What merchants wrote in a further language, on the pages of that language."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils.timezone import now

from storefront.content.mail_words import words_of
from storefront.content.models import Looks, MailText, MenuLink, Page
from storefront.content.sections import new_section, usual_sections
from storefront.orders.models import Order
from storefront.pricing.models import DeliveryZone, Discount, PickupPlace, ShippingRate, TaxRate
from storefront.shops.models import Shop
from tests.catalogue.factories import make_category, make_media, make_option, make_product, make_related, make_variant
from tests.checkout.shopper import Shopper, details


def speaks(shop: Shop, *codes: str, **translations) -> None:
    Shop.objects.filter(pk=shop.pk).update(further_languages=list(codes), translations=translations or None)
    shop.refresh_from_db()


def de(**texts: str) -> dict:
    return {"translations": {"de": texts}}


@pytest.fixture
def german(shop, other_shop) -> Shop:
    speaks(shop, "de", "fr", de={"manual_payment_instructions": "Bitte überweisen."})
    speaks(other_shop, "fr")
    return shop


@pytest.fixture
def goods(german):
    kitchen = make_category(german, "Kitchen", **de(name="Küche", description="Alles zum Kochen"))
    cups = make_category(german, "Cups", kitchen, **de(name="Tassen"))
    colours = [
        {"name": "Colour", "values": ["Blue", "Red"], "variation": True},
        {"name": "Material", "values": ["Clay"]},
    ]
    texts = {"attribute:Colour": "Farbe", "attribute:Colour:Blue": "Blau", "attribute:Colour:Red": "Rot"}
    texts |= {"attribute:Material": "Stoff", "attribute:Material:Clay": "Ton", "picture:A mug": "Ein Becher"}
    texts |= {
        "option:Wrapping": "Papier",
        "option:Wrapping:Gold": "Golden",
        "name": "Becher",
        "description": "Sehr blau",
    }
    given = {"type": "variable", "attributes": colours, "translations": {"de": texts}, "description": "Very blue"}
    mug = make_product(german, "Mug", categories=(cups,), **given)
    make_variant(mug, "Blue", option_values={"Colour": "Blue"}, stock_qty=9)
    make_variant(mug, "Red", option_values={"Colour": "Red"}, stock_qty=9)
    make_option(mug, "Wrapping", {"Gold": "1.00"})
    make_media(mug, alt="A mug")
    return mug


def test_a_products_page_speaks_its_language_and_others_do_not(goods, page):
    text = page("/de/products/mug")
    for word in (
        "<h1>Becher</h1>",
        "Sehr blau",
        "Farbe",
        "Blau",
        "Rot",
        "Papier",
        "Golden",
        "Ein Becher",
        "Küche",
        "Tassen",
    ):
        assert word in text, word
    for word in ("Mug", "Very blue", "Colour", "Wrapping", ">Cups<"):
        assert word not in text, word
    for path in ("/products/mug", "/fr/products/mug"):
        text = page(path)
        assert "<h1>Mug</h1>" in text
        assert "Becher" not in text
        assert "Farbe" not in text


def test_a_text_that_is_missing_is_shown_as_it_was_written(german, page):
    make_product(german, "Bowl", description="Round", translations={"de": {"name": "Schale", "description": ""}})
    text = page("/de/products/bowl")
    assert "<h1>Schale</h1>" in text
    assert "Round" in text


def test_a_text_of_spaces_is_none(german, page, api):
    """Apps can store one."""
    cups = make_category(german, "Cups", **de(name=" ", description="\t"))
    blank = {"name": " ", "description": " \n ", "attribute:Material": " ", "attribute:Material:Clay": " "}
    make_product(
        german,
        "Bowl",
        description="Round",
        categories=(cups,),
        attributes=[{"name": "Material", "values": ["Clay"]}],
        **de(**blank),
    )
    text = page("/de/products/bowl")
    for word in ("<h1>Bowl</h1>", "Round", "Cups"):
        assert word in text, word
    (record,) = api.get("/products?locale=de").json()["data"]
    assert (record["name"], record["attributes"][0]["values"]) == ("Bowl", ["Clay"])


def test_a_language_that_the_shop_gave_up_is_not_shown(goods, shop, page):
    speaks(shop, "fr")
    assert "Becher" not in page("/products/mug")
    page("/de/products/mug", status=404)


def test_lists_categories_menus_and_filters_speak(goods, german, page):
    make_product(german, "Bowl", attributes=[{"name": "Material", "values": ["Wood"]}])
    looks = Looks.objects.create(
        shop=german,
        updated_at=now(),
        home=[new_section("hero", "hero", title="Hello", **de(title="Hallo")), *usual_sections()],
        footer_text="Bye",
        **de(footer_text="Tschüs"),
    )
    MenuLink.objects.create(shop=german, looks=looks, label="News", link="/news", **de(label="Neues"))
    home = page("/de/")
    for word in ("Hallo", "Tschüs", "Neues", "Becher", "Küche"):
        assert word in home, word
    assert not [word for word in ("Hello", "Bye<", "News", "Mug", "Kitchen") if word in home]
    listing = page("/de/products")
    for word in ('name="filter.Material" value="Clay"> <span>Ton</span>', "<legend>Stoff</legend>", "Becher"):
        assert word in listing, word
    assert "Stoff: Ton" in page("/de/products?filter.Material=Clay")
    category = page("/de/categories/kitchen")
    assert "Alles zum Kochen" in category
    assert "Tassen" in category
    assert "Ton" not in page("/products")


def test_pages_of_texts_speak(german, page):
    given = {"is_published": True, "created_at": now(), "updated_at": now()}
    texts = de(title="Größen", body="<p>Groß</p>")
    Page.objects.create(shop=german, title="Sizes", slug="sizes", body="<p>Large</p>", **given, **texts)
    text = page("/de/pages/sizes")
    assert text.count("Größen") >= 2
    assert "<p>Groß</p>" in text
    assert "Sizes" not in text
    assert "Größen" not in page("/pages/sizes")


def test_related_products_and_bundles_speak(goods, german, page):
    bowl = make_product(german, "Bowl", stock_qty=3, **de(name="Schale"))
    make_related(bowl, goods)
    gift = make_product(german, "Gift", type="bundle")
    gift.bundle_items.create(shop=german, product=bowl, qty=2)
    assert "Becher" in page("/de/products/bowl")
    assert "</span> Schale" in page("/de/products/gift")


def test_what_is_chosen_in_a_language_is_found(goods, german):
    shopper = Shopper(german)
    given = {"product": goods.pk, "axis-0": "Rot", "qty": 1}
    assert shopper.post("/de/basket/add", given).status_code == 302
    basket = shopper.read("/de/basket")
    assert "Becher – Rot" in basket
    assert "Mug – Red" in shopper.read("/basket")


def test_two_values_with_one_text_keep_their_own(german, page):
    colours = [{"name": "Colour", "values": ["Teal", "Cyan"], "variation": True}]
    texts = {"attribute:Colour:Teal": "Türkis", "attribute:Colour:Cyan": "Türkis"}
    mug = make_product(german, "Mug", type="variable", attributes=colours, translations={"de": texts})
    for name in ("Teal", "Cyan"):
        make_variant(mug, name, option_values={"Colour": name}, stock_qty=1)
    text = page("/de/products/mug")
    assert "Türkis" not in text
    assert 'value="Cyan"' in text


def deliver(shop: Shop) -> None:
    zone = DeliveryZone.objects.create(shop=shop, name="DE", countries=["DE"])
    rate = de(name="Paket", delivery_time="2 Tage")
    ShippingRate.objects.create(shop=shop, zone=zone, name="Parcel", delivery_time="2 days", price="4.00", **rate)
    TaxRate.objects.create(shop=shop, name="VAT", country="DE", percent=19, **de(name="MwSt."))
    Discount.objects.create(shop=shop, name="Spring", kind="percent", value=10, **de(name="Frühling"))


def test_basket_checkout_and_order_have_the_names_that_were_shown(goods, german):
    deliver(german)
    Shop.objects.filter(pk=german.pk).update(payment_methods=["manual"], manual_payment_instructions="Please transfer.")
    shopper = Shopper(german)
    option = goods.options.get()
    given = {"product": goods.pk, "axis-0": "Blau", "qty": 1, f"option-{option.pk}": option.values.get().pk}
    shopper.post("/de/basket/add", given)
    basket = shopper.read("/de/basket")
    for word in ("Becher – Blau", "Papier", "Golden", "Frühling"):
        assert word in basket, word
    assert shopper.post("/de/checkout", details()).status_code == 303
    page = shopper.get("/de/checkout/payment")
    for word in ("Becher – Blau", "Papier", "Frühling", "Paket", "2 Tage", "MwSt."):
        assert word in page.content.decode(), word
    answer = shopper.post("/de/checkout/payment", shopper.payment_fields(page=page))
    assert answer.status_code == 303, answer.content
    order = Order.objects.get()
    line = order.lines.get()
    assert (line.name, order.shipping_method, order.delivery_time) == ("Becher – Blau", "Paket", "2 Tage")
    assert [(each["name"], each["value"]) for each in line.options] == [("Papier", "Golden")]
    assert [each["name"] for each in order.discount_lines] == ["Frühling"]
    assert [each["name"] for each in order.tax_lines] == ["MwSt."]
    assert "Bitte überweisen." in shopper.read(
        "/de" + answer["Location"].removeprefix(german.base_url).removeprefix("/de")
    )


def test_a_payment_page_of_another_language_is_not_what_was_shown(goods, german):
    Shop.objects.filter(pk=german.pk).update(payment_methods=["manual"])
    shopper = Shopper(german)
    shopper.post("/basket/add", {"product": goods.pk, "axis-0": "Blue", "qty": 1})
    shopper.post("/checkout", details())
    shown = shopper.payment_fields()
    assert "Mug – Blue heißt jetzt Becher – Blau." in shopper.post("/de/checkout/payment", shown).content.decode()
    assert not Order.objects.exists()


def test_a_pick_up_place_speaks(goods, german):
    address = {"line1": "Quay 1", "city": "Kiel", "country": "DE", "price": 0}
    PickupPlace.objects.create(
        shop=german, name="Harbour", hours="9 to 5", **address, **de(name="Hafen", hours="9 bis 17")
    )
    shopper = Shopper(german)
    shopper.post("/de/basket/add", {"product": goods.pk, "axis-0": "Blau", "qty": 1})
    page = shopper.read("/de/checkout")
    assert "Hafen" in page
    assert "Harbour" not in page


def test_an_integrations_cart_keeps_the_main_language(goods, german, api):
    shopper = Shopper(german)
    variant = goods.variants.get(name="Blue")
    token = shopper.bring(api, {"product_id": goods.pk, "variant_id": variant.pk})
    assert "Becher – Blau" in shopper.read("/de/basket")
    assert "Mug – Blue" in api.get("/cart", cart=token).content.decode()


@pytest.mark.parametrize("path", ["/", "/products", "/products/mug", "/categories/kitchen"])
def test_the_main_language_takes_the_queries_of_before(goods, german, visitor, path):
    """A further one takes at most one more."""

    def count(address: str) -> int:
        visitor.get(address)
        with CaptureQueriesContext(connection) as found:
            visitor.get(address)
        return len(found)

    main = count(path)
    assert count(f"/de{path}") <= main + 1
    speaks(german)
    assert count(path) <= main


def test_a_mails_own_texts_speak(german, other_shop):
    for shop in (german, other_shop):
        texts = de(subject="Danke für {order_number}")
        MailText.objects.create(
            shop=shop, kind="order_confirmation", subject="Thanks for {order_number}", updated_at=now(), **texts
        )
    assert words_of(german, "order_confirmation", "de").subject == "Danke für {order_number}"
    for language in ("", "en", "fr"):
        assert words_of(german, "order_confirmation", language).subject == "Thanks for {order_number}"
