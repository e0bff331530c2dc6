"""Every answer names the API's version, tells of an operation's end, and is compressed if it is large."""

import gzip
from datetime import date

import pytest

from storefront.server.api import versions
from storefront.server.api.api import api as ninja_api
from tests.catalogue.factories import make_product
from tests.customers.factories import add_address, make_customer
from tests.server.edges import EdgeClient


@pytest.mark.rule("R-CALL-33")
def test_every_answer_names_the_version(api, stranger, shop):
    make_product(shop)
    answers = [api.get("/products"), api.get("/cart"), api.get("/nothing"), stranger.get("/cart"), api.delete("/cart")]
    assert {answer["API-Version"] for answer in answers} == {versions.VERSION} == {ninja_api.version}


@pytest.mark.slow
@pytest.mark.rule("R-CALL-33")
def test_an_operation_that_will_go_away_says_so(api, monkeypatch):
    ends = versions.Deprecation(date(2026, 12, 1), date(2027, 12, 1))
    monkeypatch.setitem(versions.DEPRECATED, "get_cart", ends)
    answer = api.get("/cart")
    assert (answer["Deprecation"], answer["Sunset"]) == ("@1796083200", "Wed, 01 Dec 2027 00:00:00 GMT")
    assert answer["Link"] == '</api/docs>; rel="deprecation"'
    assert not api.get("/products").has_header("Deprecation")
    described = ninja_api.get_openapi_schema()["paths"]
    assert described["/api/v1/cart"]["get"]["deprecated"] is True
    assert "deprecated" not in described["/api/v1/cart"]["post"]


@pytest.fixture
def customer(shop):
    customer = make_customer(shop, note="A long note. " * 100)
    add_address(customer)
    return customer


@pytest.mark.rule("R-CALL-34")
def test_a_larger_answer_is_compressed_for_those_who_accept_that(api, customer):
    path = f"/customers/{customer.pk}"
    plain, compressed = api.get(path), api.get(path, Accept_Encoding="br, gzip")
    assert plain["Vary"] == compressed["Vary"] == "Origin, Accept-Encoding"
    assert ("Content-Encoding" in plain, compressed["Content-Encoding"]) == (False, "gzip")
    assert gzip.decompress(compressed.content) == plain.content
    assert int(compressed["Content-Length"]) == len(compressed.content) < len(plain.content) / 2
    head = api.call("head", path, Accept_Encoding="gzip")
    assert (head["Content-Length"], head.content) == (compressed["Content-Length"], b"")


@pytest.mark.rule("R-CALL-34")
def test_each_encoding_has_its_etag_and_both_are_known(api, customer):
    path = f"/customers/{customer.pk}"
    plain, compressed = api.get(path), api.get(path, Accept_Encoding="gzip")
    assert plain["ETag"] != compressed["ETag"]
    for answer in (plain, compressed):
        assert api.get(path, If_None_Match=answer["ETag"]).status_code == 304
        assert api.get(path, If_None_Match=answer["ETag"], Accept_Encoding="gzip").status_code == 304
    assert api.patch(path, {"note": ""}, If_Match=compressed["ETag"]).status_code == 200


@pytest.mark.rule("R-CALL-34")
def test_a_small_answer_is_sent_as_it_is(api):
    answer = api.get("/cart", Accept_Encoding="gzip")
    assert "Content-Encoding" not in answer
    assert len(answer.content) < 1000


@pytest.mark.django_db(transaction=True)
def test_the_edge_compresses_the_catalogue_alone(shop, api, customer):
    make_product(shop, description="Made by hand. " * 100)
    asked = EdgeClient()
    for path in ("/products", f"/customers/{customer.pk}"):
        answer = asked.ask(path, api.token, Accept_Encoding="gzip")
        assert answer.headers.getlist("Content-Encoding") == ["gzip"]
        assert gzip.decompress(answer.data).startswith(b"{")
