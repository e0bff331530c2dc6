"""What the product page says of the chosen combination: without scripts, by the address alone."""

import re
from html import unescape

import pytest

from storefront.carts.models import CartLine
from storefront.orders.models import OrderLine
from storefront.website.choices import problem
from tests.catalogue.factories import make_media, make_option, make_product, make_variant
from tests.checkout.shopper import Shopper


@pytest.fixture
def lamp(shop):
    """A lamp in Blue with and without a cord, in Moss without, and in Sand that is sold out."""
    axes = [{"name": name, "values": [], "variation": True} for name in ("Colour", "Cord")]
    lamp = make_product(shop, "Lamp", sku="LAMP", attributes=axes)
    pictures = {name: make_media(lamp, f"https://cdn.example.com/{name}.jpg") for name in ("blue", "moss")}
    for colour, cord, given in (
        ("Blue", "Yes", {"sku": "L-BY", "price": "30.00", "image": pictures["blue"]}),
        ("Blue", "No", {"sku": "L-BN", "price": "25.00", "image": pictures["blue"]}),
        ("Moss", "No", {"sku": "L-MN", "price": "26.00", "image": pictures["moss"]}),
        ("Sand", "Yes", {"sku": "L-SY", "price": "31.00", "stock_qty": 0}),
    ):
        make_variant(lamp, f"{colour}, {cord}", option_values={"Colour": colour, "Cord": cord}, **given)
    return lamp


def shown(page: str) -> dict[str, str]:
    """The words of price, stock, SKU and problem, and the first picture."""
    marked = {
        name: re.search(rf'id="{name}"([^>]*)>(.*?)</(?:p|template)>', page, re.S)
        for name in ("price", "stock", "sku", "combination")
    }
    words = {
        name: "" if found is None or " hidden" in found[1] else unescape(re.sub(r"<[^>]*>", "", found[2])).strip()
        for name, found in marked.items()
    }
    return words | {"picture": re.search(r"cdn.example.com/(\w+)\.jpg\" alt", page)[1]}


def marks(page: str) -> dict[str, str]:
    """By value: "none" if it is struck through, "gone" if it is sold out."""
    found = re.findall(r'class="axis__value(?: axis__value--(\w+))?"><input[^>]*value="(\w+)"', page)
    return {value: mark for mark, value in found}


def test_shows_price_stock_number_and_picture_of_the_chosen_variant(lamp, page):
    assert shown(page("/products/lamp?axis-0=Moss&axis-1=No")) == {
        "price": "€26.00",
        "stock": "In stock",
        "sku": "SKU L-MN",
        "combination": "",
        "picture": "moss",
    }
    moss = lamp.variants.get(sku="L-MN")
    assert shown(page(f"/products/lamp?variant={moss.pk}"))["sku"] == "SKU L-MN"
    # What is missing or unknown is taken from a variant that fits, the default one first.
    assert shown(page("/products/lamp?axis-0=Moss&axis-1=Maybe"))["sku"] == "SKU L-MN"
    lamp.default_variant = moss
    lamp.save()
    assert shown(page("/products/lamp"))["sku"] == "SKU L-MN"
    assert shown(page("/products/lamp?axis-1=Yes&axis-9=x"))["sku"] == "SKU L-BY"


def test_a_combination_that_does_not_exist_is_said_with_what_goes_instead(lamp, page):
    said = page("/products/lamp?axis-0=Moss&axis-1=Yes")
    assert shown(said) | {"picture": ""} == {
        "price": "€25.00 – €31.00",
        "stock": "Not available in this combination",
        "sku": "",
        "combination": "Moss with Yes is not available. Choose another Colour (Blue or Sand) or another Cord (No).",
        "picture": "",
    }
    assert "In stock" not in said.replace(said[said.index('id="variants"') :], "")


def test_a_sold_out_combination_says_so(lamp, page):
    said = page("/products/lamp?axis-0=Sand&axis-1=Yes")
    assert (shown(said)["stock"], shown(said)["price"], shown(said)["sku"]) == ("Sold out", "€31.00", "SKU L-SY")
    assert ">Not available" not in said


def test_a_value_is_struck_through_only_where_no_variant_has_it_with_the_others(lamp, page):
    assert marks(page("/products/lamp?axis-0=Moss&axis-1=No")) == {
        "Blue": "",
        "Moss": "",
        "Sand": "none",
        "Yes": "none",
        "No": "",
    }
    assert marks(page("/products/lamp?axis-0=Blue&axis-1=Yes")) == {
        "Blue": "",
        "Moss": "none",
        "Sand": "gone",
        "Yes": "",
        "No": "",
    }


def test_words_for_three_axes_and_for_many_values():
    def variant(*values):
        return {"option_values": dict(zip(("Colour", "Size", "Cord"), values, strict=False))}

    made = [variant("Blue", "S", "No"), variant("Red", "M", "Yes")]
    values = {"Colour": "Blue", "Size": "M", "Cord": "No"}
    assert problem(made, values) == "Blue, M, No is not available. Choose another Size (S)."
    far = {"Colour": "Green", "Size": "L", "Cord": "No"}
    assert problem(made, far) == "Green, L, No is not available. Choose, for example, Blue, S, No."
    many = [variant(f"Shade {number}", "S") for number in range(8)]
    named = ", ".join(f"Shade {number}" for number in range(6))
    assert f"another Colour ({named} and others)" in problem(many, {"Colour": "Blue", "Size": "S"})


def test_variants_without_values_are_chosen_by_name(shop, page):
    tea = make_product(shop, "Tea")
    make_variant(tea, "Tin", option_values={}, price="5.00")
    bag = make_variant(tea, "Bag", option_values={}, price="3.00")
    said = page(f"/products/tea?variant={bag.pk}")
    assert f'value="{bag.pk}" checked' in said
    assert re.search(r'id="price"[^>]*><span class="price">€3.00<', said)


def test_a_button_shows_the_choice_without_scripts(lamp, visitor):
    given = {"product": lamp.pk, "axis-0": "Moss", "axis-1": "Yes", "qty": "2", "show": "1"}
    answer = visitor.post("/basket/add", given | {"message": "Dear Ada"})
    assert (answer.status_code, answer["Location"]) == (303, "/products/lamp?axis-0=Moss&axis-1=Yes&qty=2")
    assert "Show this choice" in visitor.get(answer["Location"]).content.decode()
    assert not CartLine.objects.exists()


def test_a_sold_out_product_still_shows_its_choices(shop, page):
    cup = make_product(shop, "Cup")
    make_variant(cup, "Blue", stock_qty=0)
    make_option(cup, required=True)
    said = page("/products/cup")
    assert re.search(r'id="stock"[^>]*><span class="badge">Sold out<', said)
    assert 'value="Blue" checked' in said
    assert "Add to basket" not in said
    assert "Engraving" not in said


def test_basket_checkout_and_order_show_the_variants_picture(lamp, shop, api):
    shopper = Shopper(shop)
    shopper.bring(api, {"product_id": lamp.pk, "variant_id": lamp.variants.get(sku="L-MN").pk})
    assert "moss.jpg" in shopper.read("/basket")
    assert "blue.jpg" not in shopper.read("/basket")
    shopper.order()
    assert OrderLine.objects.get().image == "https://cdn.example.com/moss.jpg"
