"""A shop with further languages, and one whose pages are in the pseudo-language, with its own texts in the brackets of
that language."""

from collections.abc import Callable, Iterator

import pytest
from django.test import Client
from django.utils import translation

from storefront.catalogue.models import Brand
from storefront.content.models import Page
from storefront.kit.countries import countries
from storefront.shops.models import Shop
from tests.catalogue.factories import make_category, make_media, make_option, make_product, make_variant
from tests.checkout.shopper import Shopper
from tests.languages.pseudo import WORD, bare_words, pseudo, shown
from tests.shops.factories import NOW, make_shop


@pytest.fixture
def speaking(db) -> Iterator[None]:
    """German is the pseudo-language."""
    with pseudo("de"), translation.override("de"):
        yield


@pytest.fixture
def foreign_shop(db, speaking) -> Shop:
    """A shop with goods of each kind, whose pages are in the pseudo-language."""
    shop = make_shop(language="de", name=shown("Leuchtturm"), email="shop@example.com")
    cups = make_category(shop, shown("Becher"), slug="becher", description=shown("Zum Trinken"))
    brand = Brand.objects.create(shop=shop, name=shown("Hafen"))
    attributes = [{"name": shown("Farbe"), "values": [shown("Blau")], "visible": True, "variation": False}]
    mug = make_product(
        shop, shown("Krug"), slug="krug", categories=(cups,), brand=brand, attributes=attributes, is_new=True, sku="7"
    )
    make_media(mug, alt=shown("Ein Krug"))
    make_media(mug, "https://cdn.example.com/two.jpg", alt=shown("Von hinten"))
    make_option(mug, shown("Gravur"), {shown("Gold"): "5.00", shown("Ohne"): "0.00"}, type="select")
    make_option(mug, shown("Text"), {"": "2.00"}, type="text", required=False)
    make_product(shop, shown("Tasse"), slug="tasse", categories=(cups,), stock_qty=0, compare_price="12.00")
    make_product(shop, shown("Rest"), slug="rest", categories=(cups,), stock_qty=2, low_stock_threshold=3)
    make_product(shop, shown("Karte"), slug="karte", is_gift_card=True, type="digital", track_inventory=False)
    make_product(shop, shown("Bruch"), slug="bruch", stock_qty=0, damaged_price="4.00", damaged_qty=2)
    lamp = make_product(shop, shown("Lampe"), slug="lampe", categories=(cups,), low_stock_threshold=2)
    for colour, cord, stock in (("Blau", "Kurz", 5), ("Rot", "Lang", 0), ("Rot", "Kurz", 1)):
        values = {shown("Farbe"): shown(colour), shown("Kabel"): shown(cord)}
        make_variant(lamp, shown(f"{colour} {cord}"), option_values=values, stock_qty=stock)
    texts = {"shop": shop, "is_published": True, "created_at": NOW, "updated_at": NOW}
    for kind in (Page.Kind.TERMS, Page.Kind.DELIVERY, Page.Kind.PRIVACY, Page.Kind.RETURNS):
        Page.objects.create(kind=kind, title=shown(kind), slug=str(kind), body=shown("Text"), **texts)
    return shop


@pytest.fixture
def foreign_shopper(foreign_shop) -> Shopper:
    return Shopper(foreign_shop)


@pytest.fixture
def bare(foreign_shopper) -> Callable[..., list[str]]:
    """`bare("/products")`: the texts of that page that are not in the pseudo-language."""

    def read(path: str, status: int = 200, *, fields: dict[str, str] | None = None, **given) -> list[str]:
        answer = foreign_shopper.get(path, **given) if fields is None else foreign_shopper.post(path, fields, **given)
        assert answer.status_code == status, answer
        return bare_words(answer.content.decode(), known_words())

    return read


def known_words() -> set[str]:
    """Words that are the same in each language, and names of countries, which have translations of their own."""
    return {"EUR", *WORD.findall(" ".join(countries().values()))}


@pytest.fixture
def shop(db) -> Shop:
    """A shop in English, German and Arabic, and a language in which the service has no texts."""
    return make_shop(further_languages=["de", "ar", "pt"])


@pytest.fixture
def other_shop(db) -> Shop:
    """A second shop, in other languages."""
    return make_shop("other.example.com", name="Elsewhere", language="fr", further_languages=["es"])


@pytest.fixture
def visitor(shop) -> Client:
    return Client(headers={"host": shop.domain})


@pytest.fixture
def page(visitor):
    """`page("/de/products")` is the text of that page. Checks its status."""

    def read(path: str, status: int = 200, **headers: str) -> str:
        answer = visitor.get(path, headers=headers)
        assert answer.status_code == status, answer.content
        return answer.content.decode()

    return read


@pytest.fixture
def shopper(shop) -> Shopper:
    return Shopper(shop)
