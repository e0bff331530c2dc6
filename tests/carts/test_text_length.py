"""A text option's own limit holds wherever a text comes from: the API, the page's form, a link's cart, and later."""

import pytest

from storefront.carts import actions
from storefront.catalogue import actions as catalogue
from storefront.kit.refusals import InvalidFields
from tests.carts.factories import add, make_cart
from tests.catalogue.factories import make_option, make_product
from tests.checkout.shopper import Shopper
from tests.factories.apps import install
from tests.product_files.files import as_lines, errors, imported
from tests.shops.factories import NOW


@pytest.fixture
def mug(shop):
    return make_product(shop, "Mug")


@pytest.fixture
def engraving(mug):
    return make_option(mug, "Engraving", {}, type="text", max_length=12)


def test_the_api_keeps_to_it(api, mug, engraving):
    assert add(api, mug, options={engraving.pk: " To Ada 1234 "}).status_code == 201
    answer = add(api, mug, options={engraving.pk: "To Ada 12345!"})
    (problem,) = answer.json()["problems"]
    assert (answer.status_code, problem["code"], problem["max_length"]) == (422, "invalid_option", 12)
    assert answer.json()["message"] == "Engraving can have at most 12 characters."
    assert api.get("/products/mug").json()["data"]["options"][0]["max_length"] == 12


@pytest.mark.parametrize("given", [7, 0])
def test_a_number_is_refused_as_no_text(api, mug, engraving, given):
    answer = add(api, mug, options={engraving.pk: given})
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_option")
    assert answer.json()["message"] == "Engraving must be text."


def test_so_does_the_page(shop, mug, engraving):
    shopper = Shopper(shop)
    assert 'maxlength="12"' in shopper.read("/products/mug")
    sent = {"product": mug.pk, "qty": 1, f"option-{engraving.pk}": "x" * 13}
    answer = shopper.post("/basket/add", sent)
    assert answer.status_code == 422
    assert "Engraving can have at most 12 characters." in answer.content.decode()


def test_a_line_whose_text_is_too_long_by_now_is_not_sold_nor_one_that_a_link_brings(shop, api, mug, engraving):
    cart, shopper = make_cart(shop), Shopper(shop)
    actions.add_line(shop=shop, now=NOW, cart=cart, product_id=mug.pk, qty=1, options={engraving.pk: "x" * 12})
    assert actions.reprice_cart(shop=shop, cart=cart, now=NOW).checks == []
    shopper.bring(api, {"product_id": mug.pk, "options": {str(engraving.pk): "y" * 12}})
    type(engraving).objects.update(max_length=11)
    (change,) = actions.reprice_cart(shop=shop, cart=cart, now=NOW).checks
    assert change.is_unavailable
    assert "No longer available" in shopper.read("/basket")


@pytest.mark.parametrize("given", [0, 1001, -1])
def test_apps_and_files_set_it_within_bounds(shop, mug, engraving, tmp_path, given):
    app = install(shop, "write_products").api
    refused = app.patch(f"/products/{mug.pk}", {"options": [{"id": engraving.pk, "max_length": given}]})
    assert (refused.status_code, list(refused.json()["errors"])) == (422, ["options.0.max_length"])
    entry = {"id": engraving.pk, "max_length": given}
    with pytest.raises(InvalidFields):
        catalogue.update_product(shop=shop, product=mug, options=[entry], now=NOW)
    text = {"name": "Text", "type": "text", "max_length": given}
    report = imported(shop, as_lines({"name": "Cup", "price": "1.00", "options": [text]}), tmp_path)
    assert "max_length" in errors(report)[0]


def test_without_one_it_is_a_thousand(api, mug):
    text = make_option(mug, "Text", {}, type="text")
    assert add(api, mug, options={text.pk: "x" * 1000}).status_code == 201
    assert add(api, mug, options={text.pk: "x" * 1001}).status_code == 422
