"""The OpenAPI document and the page that shows it."""

import re

import pytest
from django.contrib.staticfiles import finders


@pytest.fixture
def document(stranger) -> dict:
    stranger.prefix = "/api"
    return stranger.get("/openapi.json").json()


def operations(document):
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield f"{method.upper()} {path}", operation


def test_every_call_of_the_contract_is_described(document):
    assert document["openapi"].startswith("3.1")
    assert {name for name, _ in operations(document)} >= {
        "GET /api/v1/products",
        "GET /api/v1/products/{id_or_slug}",
        "GET /api/v1/categories",
        "GET /api/v1/categories/{id_or_slug}",
        "GET /api/v1/cart",
        "POST /api/v1/cart",
        "PATCH /api/v1/cart/{key}",
        "DELETE /api/v1/cart/{key}",
        "DELETE /api/v1/cart",
        "POST /api/v1/cart/checkout",
    }


def test_every_field_is_described(document):
    bare = [
        f"{name}.{field}"
        for name, schema in document["components"]["schemas"].items()
        for field, described in schema.get("properties", {}).items()
        if not described.get("description")
    ]
    assert bare == []


def test_every_parameter_is_described(document):
    bare = [
        f"{name}: {parameter['name']}"
        for name, operation in operations(document)
        for parameter in operation["parameters"]
        if not parameter.get("description")
    ]
    assert bare == []


def test_every_operation_has_a_summary_a_tag_and_its_scope(document):
    tags = {tag["name"] for tag in document["tags"]}
    for name, operation in operations(document):
        assert operation["summary"], name
        assert set(operation["tags"]) <= tags, name
        assert [list(each) for each in operation["security"]] == [["ApiToken"], ["InstallationToken"]], name
        bearer, header = operation["security"]
        assert bearer["ApiToken"] == header["InstallationToken"], name
        # Any app may list what is registered; everything else needs a scope.
        assert bearer["ApiToken"] or name.startswith("GET /api/apps/"), name
        assert operation["description"], name


def test_the_scopes_are_those_of_the_contract(document):
    scopes = {name: operation["security"][0]["ApiToken"] for name, operation in operations(document)}
    assert scopes["GET /api/v1/categories"] == ["read_products"]
    assert scopes["GET /api/v1/cart"] == ["read_cart"]
    assert scopes["POST /api/v1/cart/checkout"] == ["write_cart"]


def test_every_operation_describes_its_errors(document):
    for name, operation in operations(document):
        statuses = set(operation["responses"])
        assert statuses >= {"401", "403", "429", "500", "503"}, name
        if "requestBody" in operation:
            assert statuses >= {"400", "413", "415", "422"}, name
        if name.startswith("POST"):
            assert statuses >= {"409", "422"}, name


def test_the_headers_are_described(document):
    described = dict(operations(document))

    def asked(name):
        return {parameter["name"] for parameter in described[name]["parameters"] if parameter["in"] == "header"}

    def told(name, status):
        return set(described[name]["responses"][status]["headers"])

    assert asked("POST /api/v1/cart") == {"X-Cart-Token", "Idempotency-Key"}
    assert asked("POST /api/v1/cart/checkout") == {"X-Cart-Token", "Idempotency-Key"}
    assert asked("GET /api/v1/products") == {"If-None-Match"}
    assert asked("GET /api/v1/cart") == {"X-Cart-Token"}
    limits = {"X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "X-Request-Id"}
    assert told("GET /api/v1/products", "200") == limits | {"ETag"}
    assert told("POST /api/v1/cart", "201") == limits | {"Idempotent-Replayed"}
    assert told("GET /api/v1/cart", "429") == limits | {"Retry-After"}
    assert told("GET /api/v1/cart", "503") == limits | {"Retry-After"}
    assert told("GET /api/v1/cart", "401") == limits | {"WWW-Authenticate"}


def test_the_document_does_not_look_at_the_host(stranger):
    stranger.prefix = "/api"
    ours, theirs = (stranger.get("/openapi.json", Host=host) for host in ("shop.example.com", "evil.example"))
    assert ours.content == theirs.content
    assert ours.json()["servers"] == [{"url": "/", "description": "This service."}]


def test_the_document_can_be_asked_for_again_without_being_sent_again(stranger):
    stranger.prefix = "/api"
    answer = stranger.get("/openapi.json")
    again = stranger.get("/openapi.json", If_None_Match=answer["ETag"])
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize("path", ["/openapi.json", "/docs"])
def test_the_description_is_read_only(stranger, path):
    stranger.prefix = "/api"
    answer = stranger.post(path)
    assert answer.status_code == 405
    assert answer["Allow"] == "GET, HEAD, OPTIONS"


def test_the_page_loads_nothing_from_anywhere_else(stranger):
    stranger.prefix = "/api"
    answer = stranger.get("/docs")
    assert answer.status_code == 200
    assert answer["Content-Type"].startswith("text/html")
    page = answer.content.decode()
    loaded = re.findall(r'(?:src|href)="([^"]+)"', page)
    assert loaded
    assert all(address.startswith("/") and not address.startswith("//") for address in loaded)
    for address in loaded:
        if address.startswith("/static/"):
            assert finders.find(address.removeprefix("/static/")), address


def test_the_page_runs_no_script_but_ours(stranger):
    stranger.prefix = "/api"
    policy = stranger.get("/docs")["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self';" in policy
