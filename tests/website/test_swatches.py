"""Swatches before the names of colours, in whatever language of the shop; a name is always there."""

import pytest

from storefront.website.swatches import colour_of
from tests.catalogue.factories import make_option, make_product, make_variant

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("choice", "value", "colour"),
    [
        ("Colour", "Sea  Blue", "#3f6f91"),
        ("Farbe", "Weiß", "#ffffff"),
        ("Farbe", "WEISS", "#ffffff"),
        ("Couleur", "bleu marine", "#1f3157"),
        ("צבע", "אדום", "#c23a34"),
        ("Colour of the lid", "Red", "#c23a34"),
        # No colour of goods, and no known colour.
        ("Flavour", "Cherry", ""),
        ("Colour", "Kelp", ""),
    ],
)
def test_colours_are_known_by_name(choice, value, colour):
    assert colour_of(choice, value) == colour


def test_a_product_and_the_filters_show_them_beside_the_names(shop, page):
    cup = make_product(shop, "Cup", attributes=[{"name": "Colour", "values": ["Blue", "Red"], "variation": True}])
    make_variant(cup, "Blue")
    make_variant(cup, "Red", stock_qty=0)
    make_option(cup, "Colour of the lid", {"Black": "0.00"}, type="radio")
    text = page("/products/cup")
    for colour, name in (("#2f62b0", "Blue"), ("#c23a34", "Red"), ("#1d1d1f", "Black")):
        assert f'fill="{colour}"' in text
        assert f">{name}" in text
    assert 'axis__value--gone"><input type="radio" name="axis-0" value="Red"' in text
    make_product(shop, "Pot", attributes=[{"name": "Colour", "values": ["Moss"]}])
    assert '<svg class="swatch"' in page("/products")


def test_many_colours_are_buttons_if_all_have_swatches(shop, page):
    names = ["Red", "Blue", "Green", "Black", "White", "Grey", "Pink", "Brown", "Beige"]
    cup = make_product(shop, "Cup")
    for name in names:
        make_variant(cup, name)
    assert 'type="radio" name="axis-0" value="Beige"' in page("/products/cup")
    make_variant(cup, "Kelp")
    assert '<select id="axis-0"' in page("/products/cup")
