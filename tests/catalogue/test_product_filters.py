from datetime import timedelta

import pytest

from storefront.listing.queries import ProductFilters, product_page
from tests.catalogue.factories import make_category, make_product
from tests.catalogue.test_product_list import names
from tests.shops.factories import NOW


@pytest.mark.parametrize(("q", "name"), [("100%25", "100% wool"), ("a_b", "a_b"), ("back%5Cslash", "back\\slash")])
def test_pattern_characters_match_literally(api, shop, q, name):
    make_product(shop, name, slug="it")
    make_product(shop, "100x wool aXb backslash", slug="other")
    assert names(api.get(f"/products?q={q}")) == [name]


@pytest.mark.parametrize(("q", "name"), [("STRASSE", "Straße"), ("ÉCLAIR", "éclair"), ("e%CC%81clair", "Éclair")])
def test_q_ignores_case_beyond_ascii(api, shop, q, name):
    make_product(shop, name, slug="it")
    assert names(api.get(f"/products?q={q}")) == [name]


def test_an_empty_q_is_no_filter(api, shop):
    make_product(shop, "Mug")
    assert names(api.get("/products?q=")) == names(api.get("/products?q=%20")) == ["Mug"]


@pytest.mark.parametrize("slug", ["nothing", "", "x" * 5000, "closed"])
def test_an_unknown_category_gives_an_empty_list(api, shop, slug):
    make_product(shop, "Mug", categories=(make_category(shop, "Closed", is_active=False),))
    body = api.get(f"/products?category={slug}").json()
    assert (body["data"], body["total"], body["last_page"]) == ([], 0, 1)


def test_updated_since_lists_products_changed_then_or_later(api, shop):
    make_product(shop, "Before", updated_at=NOW - timedelta(microseconds=1))
    make_product(shop, "At", updated_at=NOW)
    make_product(shop, "After", updated_at=NOW + timedelta(hours=1))
    assert sorted(names(api.get("/products?updated_since=2026-11-21T07:30:00.000000Z"))) == ["After", "At"]
    assert sorted(names(api.get("/products?updated_since=2026-11-21T08:30:00%2B01:00"))) == ["After", "At"]


@pytest.mark.rule("R-CAT-25")
def test_updated_since_lists_products_published_by_their_date(api, shop):
    old = NOW - timedelta(days=900)
    make_product(shop, "Scheduled", updated_at=old, publish_at=NOW - timedelta(days=300))
    make_product(shop, "Settled", updated_at=old, publish_at=old)
    since = (NOW - timedelta(days=400)).strftime("%Y-%m-%dT%H:%M:%SZ")
    assert names(api.get(f"/products?updated_since={since}")) == ["Scheduled"]


@pytest.mark.parametrize(
    "since", ["0001-01-01T00:00:00%2B14:00", "0001-01-01T00:00:00-23:59", "9999-12-31T23:59:59-14:00"]
)
def test_accepts_the_first_and_last_dates(api, shop, since):
    assert api.get(f"/products?updated_since={since}").status_code == 200


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("q", "x" * 201),
        ("sort", "cheapest"),
        ("sort", ""),
        ("page", "0"),
        ("page", "-1"),
        ("page", "1.0"),
        ("page", "%2B1"),
        ("page", "x"),
        ("page", ""),
        ("page", "9" * 5000),
        ("page", "%D9%A1"),
        ("page", "1%00"),
        ("per_page", "0"),
        ("per_page", "1_0"),
        ("per_page", "ten"),
        ("updated_since", "yesterday"),
        ("updated_since", "2026-11-21T07:30:00"),
        ("updated_since", "1795246200"),
        ("updated_since", "%00"),
    ],
)
def test_an_invalid_parameter_is_refused_by_name(api, parameter, value):
    answer = api.get(f"/products?{parameter}={value}")
    assert answer.status_code == 422
    assert list(answer.json()["errors"]) == [parameter]
    assert answer.json()["code"] == "invalid_fields"


def test_more_than_a_hundred_per_page_is_treated_as_a_hundred(api, shop):
    assert api.get("/products?per_page=100").json()["per_page"] == 100
    assert api.get("/products?per_page=101").json()["per_page"] == 100
    assert api.get(f"/products?per_page={'9' * 4999}").json()["per_page"] == 100


@pytest.mark.rule("R-CAT-24", "R-CAT-16")
@pytest.mark.parametrize("page", [2, 99, 2**53 - 1])
def test_a_page_past_the_end_is_empty(api, shop, page):
    make_product(shop, "Mug")
    body = api.get(f"/products?page={page}").json()
    assert (body["data"], body["from"], body["to"]) == ([], None, None)
    assert (body["total"], body["last_page"], body["current_page"]) == (1, 1, page)


def test_a_nul_is_refused_by_the_api_and_matches_nothing_in_queries(api, shop):
    make_product(shop, "Mug")
    for given in ("q", "category"):
        answer = api.get(f"/products?{given}=mug%00")
        assert (answer.status_code, list(answer.json()["errors"])) == (422, [given])
        filters = ProductFilters(**{given: "mug\0"})
        assert product_page(shop, filters, page=1, per_page=24, now=NOW).total == 0


def test_unknown_parameters_are_ignored(api, shop):
    make_product(shop, "Mug")
    assert names(api.get("/products?colour=blue&page[]=3")) == ["Mug"]
