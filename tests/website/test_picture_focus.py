"""The part of a picture that pages keep in view: chosen in the product's form, shown by pages, not in the API."""

import pytest

from storefront.catalogue.models import Media, Product
from tests.catalogue.factories import make_media, make_product
from tests.content.test_looks import make_looks
from tests.product_files.files import as_lines, errors, exported, imported

pytestmark = pytest.mark.django_db

WIDE = {"width": 400, "height": 300}


@pytest.fixture
def cup(shop) -> Product:
    return make_product(shop, "Cup")


@pytest.mark.slow
def test_it_is_chosen_in_the_products_form(desk, cup, page):
    make_media(cup, **WIDE)
    desk.fill(cup, media__0__focus="top-left")
    assert Media.objects.get().focus == "top-left"
    assert '<img class="focus-top-left"' in page("/products")
    desk.fill(cup, media__0__focus="somewhere")
    assert Media.objects.get().focus == "top-left"
    desk.fill(cup, media__0__focus="")
    assert Media.objects.get().focus is None


@pytest.mark.parametrize("path", ["/", "/products", "/products?q=cup", "/products/cup"])
def test_pages_show_it_and_the_api_does_not(shop, cup, page, api, path):
    make_media(cup, focus="bottom")
    shown = '<img class="focus-bottom" src="https://cdn.example.com/one.jpg"'
    assert shown in page(path)
    for answer in (api.get("/products"), api.get("/products/cup"), api.get("/products?fields=media")):
        assert "focus" not in answer.content.decode()


def test_a_long_picture_is_shown_whole_unless_a_part_was_chosen(cup, page):
    media = make_media(cup, width=300, height=900)
    assert '<img class="focus-whole"' in page("/products")
    Media.objects.filter(pk=media.pk).update(focus="top")
    assert '<img class="focus-top"' in page("/products")
    Media.objects.filter(pk=media.pk).update(focus=None, **WIDE)
    assert '<img src="https://cdn' in page("/products")


def test_a_shop_can_have_all_its_pictures_whole(shop, other_shop, page):
    make_looks(shop, pictures="whole")
    make_looks(other_shop)
    assert 'corners-round pictures-whole"' in page("/")


def test_files_have_it(shop, other_shop, cup, tmp_path):
    make_media(cup, focus="left")
    text = exported(shop)
    assert '"focus":"left"' in text
    assert errors(imported(other_shop, text, tmp_path)) == []
    assert Media.objects.get(shop=other_shop).focus == "left"
    wrong = {"name": "Pot", "price": "9.50", "media": [{"url": "https://cdn.example.com/a.jpg", "focus": "elsewhere"}]}
    assert "focus" in errors(imported(shop, as_lines(wrong), tmp_path))[0]
