"""The list of all codes, and what an error adds for programs."""

import re

import pytest

from storefront.kit.refusals import Refusal
from storefront.server.api.codes import CODES, PROBLEMS, REFUSALS
from tests.answers import error_of
from tests.catalogue.factories import make_option, make_product, make_variant
from tests.factories.apps import install


@pytest.fixture
def page(stranger) -> str:
    stranger.prefix = "/api"
    answer = stranger.get("/docs/errors")
    assert (answer.status_code, answer["Content-Type"]) == (200, "text/html; charset=utf-8")
    return answer.content.decode()


@pytest.mark.rule("R-ERR-14")
def test_the_page_explains_every_code_where_doc_url_leads(page, stranger):
    doc_url = stranger.get("/nothing").json()["doc_url"]
    assert doc_url.partition("#")[0] == "/api/docs/errors"
    sections = re.findall(
        r'<section id="(\w+)">\s*<h2>.*?<small>(\d+)</small></h2>\s*<p>(.+?)</p>\s*<p>.+? (.+?)</p>', page
    )
    assert [(name, int(status)) for name, status, _, _ in sections] == [(name, CODES[name].status) for name in CODES]
    assert all(f'id="problem-{name}"' in page for name in PROBLEMS)
    assert "`" not in page


@pytest.mark.rule("R-ERR-14")
def test_the_page_runs_no_script_and_is_only_read(page, stranger):
    assert "<script" not in page
    assert stranger.post("/docs/errors").status_code == 405


def refusals(base: type[Refusal] = Refusal) -> set[type[Refusal]]:
    found = set(base.__subclasses__())
    return found.union(*(refusals(each) for each in found))


def test_each_listed_code_is_that_of_a_refusal_or_of_the_service():
    raised = {refusal.code for refusal in refusals()}
    assert CODES.keys() - raised == {"request_timeout", "internal_error", "unavailable"}
    assert {code for codes in REFUSALS.values() for code in codes} <= CODES.keys()


@pytest.mark.rule("R-ERR-13")
def test_problems_have_the_limits_that_a_value_does_not_keep_to(api, shop):
    answer = api.post("/cart", {"product_id": "1", "qty": 0})
    problems = {each.pop("field"): each for each in answer.json()["problems"]}
    assert problems == {
        "product_id": {"code": "wrong_type", "message": "product_id must be a whole number."},
        "qty": {"code": "too_small", "message": "qty must be 1 or more.", "minimum": 1},
    }


@pytest.mark.rule("R-ERR-13")
def test_a_choice_is_refused_with_those_that_are_allowed(api):
    problem = api.get("/products?sort=price").json()["problems"]
    assert problem[0]["code"] == "not_allowed"
    assert problem[0]["allowed"] == ["newest", "price_asc", "price_desc", "name"]


@pytest.mark.rule("R-ERR-13", "R-CART-26", "R-CART-27")
def test_all_options_that_are_not_chosen_well_are_named_at_once(api, shop):
    ring = make_product(shop)
    metal = make_option(ring, "Metal", {"Gold": "5.00"}, required=True)
    text = make_option(ring, "Engraving", {}, type="text")
    make_option(make_product(shop), "Of another product")
    answer = api.post("/cart", {"product_id": ring.pk, "qty": 1, "options": {str(text.pk): "x" * 1001, "999": 1}})
    error = error_of(answer)
    assert (answer.status_code, error["code"], error["message"]) == (
        422,
        "invalid_option",
        "This product has no option '999'.",
    )
    gold = metal.values.get()
    assert [each | {"message": ""} for each in answer.json()["problems"]] == [
        {
            "field": "options",
            "code": "invalid_option",
            "message": "",
            "allowed": [{"id": metal.pk, "name": "Metal"}, {"id": text.pk, "name": "Engraving"}],
        },
        {
            "field": "options",
            "code": "option_required",
            "message": "",
            "option_id": metal.pk,
            "option_name": "Metal",
            "allowed": [{"id": gold.pk, "label": "Gold"}],
        },
        {
            "field": "options",
            "code": "invalid_option",
            "message": "",
            "option_id": text.pk,
            "option_name": "Engraving",
            "max_length": 1000,
        },
    ]


@pytest.mark.rule("R-ERR-13", "R-CART-25")
def test_a_variant_that_is_not_the_products_is_named_with_those_that_are(api, shop, other_shop):
    shirt = make_product(shop, "Shirt")
    blue, old = make_variant(shirt, "Blue"), make_variant(shirt, "Old", is_active=False)
    theirs, hers = make_variant(make_product(shop)), make_variant(make_product(other_shop))
    for variant in (theirs, hers, old):
        answer = api.post("/cart", {"product_id": shirt.pk, "qty": 1, "variant_id": variant.pk})
        (problem,) = answer.json()["problems"]
        assert problem == {
            "field": "variant_id",
            "code": "product_unavailable",
            "message": f"The product has no variant {variant.pk} for sale.",
            "allowed": [{"id": blue.pk, "name": "Blue"}],
        }
    # Nothing is told of a product that is not for sale.
    shirt.status = "draft"
    shirt.save()
    assert api.post("/cart", {"product_id": shirt.pk, "qty": 1, "variant_id": theirs.pk}).json()["errors"] == {
        "product_id": ["This product is not available."]
    }


@pytest.mark.rule("R-ERR-3")
def test_an_installed_apps_token_that_has_no_form_is_told_in_both_headers(shop):
    app = install(shop, "read_shop").api
    answer = app.get("/shop", X_Shop_Access_Token="app_short")
    assert (answer.status_code, answer.json()["code"]) == (401, "token_malformed")
