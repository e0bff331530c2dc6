"""Where an external picture does not load, the shopper sees the placeholder, never the browser's broken icon."""

import pytest

from tests.catalogue.factories import make_media, make_product

pytestmark = pytest.mark.browser
SHOWN = """[...document.images].map(image => [new URL(image.src).pathname, image.complete && image.naturalWidth > 0])"""


@pytest.mark.parametrize("path", ["/products", "/products/cup"])
def test_a_dead_address_shows_the_placeholder(street, visit, path):
    cup = make_product(street, "Cup")
    # One host answers with an error, the other is refused by the page's policy.
    make_media(cup, f"{street.base_url}/gone/cup.jpg")
    make_media(cup, "http://192.0.2.1/cup.jpg", sort_order=1)
    shopper = visit()
    shopper.expects = {404}
    page = shopper.open(path)
    page.wait_for_function(f"() => {SHOWN}.every(([_, isThere]) => isThere)")
    found = page.evaluate(f"() => {SHOWN}")
    assert found
    assert {name.rpartition("/")[2] for name, _ in found} == {"placeholder.svg"}
    shopper.complaints = [text for text in shopper.complaints if "192.0.2.1" not in text]
