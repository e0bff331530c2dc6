"""The OpenAPI document and the page that shows it."""

import gzip
import re
from collections.abc import Iterator

import pytest
from django.contrib.staticfiles import finders
from jsonschema_rs import Draft202012Validator

from tests.client import ApiClient
from tests.shops.factories import make_token


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
        # Any app may list what is registered, and an export needs the scope of its kind; everything else needs a scope.
        assert bearer["ApiToken"] or name.startswith("GET /api/apps/") or "/exports" in name, name
        assert operation["description"], name


def test_every_operation_says_which_token_it_takes_and_its_limits(document):
    described = dict(operations(document))
    for name, operation in described.items():
        scopes = operation["security"][0]["ApiToken"]
        assert all(f"`{scope}`" in operation["description"] for scope in scopes), name
        is_for_apps = name.split()[1].startswith("/api/apps/")
        assert ("**Token**: An app's token" in operation["description"]) is is_for_apps, name
        assert ("at most 1 MiB" in operation["description"]) is ("requestBody" in operation), name
    assert described["POST /api/v1/cart"]["description"].endswith(
        "**Token**: An API token or an app's token with `write_cart`. **Limits**: The body has at most 1 MiB. A cart "
        "has at most 200 lines, a line at most 9,999 pieces, the texts of all lines together 64 KiB. A cart ends 7 "
        "days after its last change."
    )


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

    assert asked("POST /api/v1/cart") == {"X-Cart-Token", "Idempotency-Key", "If-Match"}
    assert asked("POST /api/v1/cart/checkout") == {"X-Cart-Token", "Idempotency-Key"}
    assert asked("GET /api/v1/products") == {"If-None-Match"}
    assert asked("GET /api/v1/cart") == {"X-Cart-Token"}
    limits = {
        "X-RateLimit-Limit",
        "X-RateLimit-Remaining",
        "X-RateLimit-Reset",
        "X-Request-Id",
        "X-Ignored",
        "API-Version",
    }
    assert told("GET /api/v1/products", "200") == limits | {"ETag"}
    assert told("POST /api/v1/cart", "201") == limits | {"Idempotent-Replayed", "ETag"}
    assert told("DELETE /api/v1/cart", "200") == limits | {"Idempotent-Replayed", "ETag"}
    assert told("GET /api/v1/cart", "200") == limits | {"ETag"}
    assert told("POST /api/v1/cart/checkout", "200") == limits | {"Idempotent-Replayed"}
    assert told("GET /api/v1/cart", "429") == limits | {"Retry-After"}
    assert told("GET /api/v1/cart", "503") == limits | {"Retry-After"}
    assert told("GET /api/v1/cart", "401") == limits | {"WWW-Authenticate"}


def schemas_under(document: dict, part: object) -> Iterator[dict]:
    """Every schema in this part, and those that it refers to."""
    known: set[str] = set()
    waiting = [part]
    while waiting:
        found = waiting.pop()
        if isinstance(found, list):
            waiting += found
        elif isinstance(found, dict):
            yield found
            waiting += found.values()
            name = str(found.get("$ref", "")).rpartition("/")[2]
            if name and name not in known:
                known.add(name)
                waiting.append(document["components"]["schemas"][name])


def test_no_patch_declares_a_default(document):
    """A generated client would send it, and so change what the caller did not name (R-APP-32)."""
    patches = {name: each for name, each in operations(document) if name.startswith("PATCH")}
    assert len(patches) == 8
    for name, operation in patches.items():
        body = operation["requestBody"]["content"]["application/json"]["schema"]
        assert not [schema for schema in schemas_under(document, body) if "default" in schema], name


@pytest.mark.slow
def test_every_default_fits_its_own_schema(document):
    described = [*schemas_under(document, document["paths"]), *schemas_under(document, document["webhooks"])]
    defaults = [schema for schema in described if isinstance(schema.get("description"), str) and "default" in schema]
    assert defaults
    for schema in defaults:
        Draft202012Validator(document | schema).validate(schema["default"])


def test_every_array_says_what_it_holds(document):
    described = [*schemas_under(document, document["paths"]), *schemas_under(document, document["webhooks"])]
    assert not [schema for schema in described if schema.get("type") == "array" and "items" not in schema]


def test_names_of_operations_are_unique(document):
    names = [operation["operationId"] for _, operation in operations(document)]
    assert len(names) == len(set(names))
    assert {"get_product", "create_checkout_link", "update_order", "fulfil_order_for_app"} <= set(names)


def test_errors_are_shown_as_they_are_answered(document, shop, api):
    described = dict(operations(document))
    blind = ApiClient(make_token(shop, "read_cart"))

    def send(body: bytes, content_type: str = "application/json"):
        headers = {"Authorization": f"Bearer {api.token}"}
        return api.http.post("/api/v1/cart", body, content_type, headers=headers)

    def example(name: str, status: int) -> dict:
        return described[name]["responses"][str(status)]["content"]["application/json"]["example"]

    answers = [
        ("GET /api/v1/products", ApiClient(None).get("/products")),
        ("GET /api/v1/products", blind.get("/products")),
        ("GET /api/v1/products", api.get("/products?page=0")),
        ("GET /api/v1/products/{id_or_slug}", api.get("/products/nothing")),
        ("POST /api/v1/cart", send(b"{")),
        ("POST /api/v1/cart", send(b"{}", "text/plain")),
        ("POST /api/v1/cart", send(b" " * 1_048_577)),
    ]
    assert [answer.status_code for _, answer in answers] == [401, 403, 422, 404, 400, 415, 413]
    for name, answer in answers:
        shown = example(name, answer.status_code)
        assert shown | {"request_id": answer["X-Request-Id"]} == answer.json()


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


def test_the_document_is_compressed_for_those_who_accept_that(stranger):
    stranger.prefix = "/api"
    plain, compressed = stranger.get("/openapi.json"), stranger.get("/openapi.json", Accept_Encoding="gzip")
    assert gzip.decompress(compressed.content) == plain.content
    assert len(compressed.content) * 10 < len(plain.content)
    assert (plain["Vary"], compressed["Vary"], compressed["Content-Encoding"]) == (*["Accept-Encoding"] * 2, "gzip")
    again = stranger.get("/openapi.json", Accept_Encoding="gzip", If_None_Match=compressed["ETag"])
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.rule("R-CALL-34")
@pytest.mark.parametrize("accepted", ["gzip;q=0", "GZIP", "gzip, br"])
def test_the_document_is_compressed_like_every_answer(stranger, accepted):
    stranger.prefix = "/api"
    answer = stranger.get("/openapi.json", Accept_Encoding=accepted)
    assert (answer.get("Content-Encoding") == "gzip") == (accepted != "gzip;q=0")
    head = stranger.call("head", "/openapi.json", Accept_Encoding=accepted)
    assert [head.get(name) for name in ("Content-Length", "ETag")] == [answer["Content-Length"], answer["ETag"]]
    again = stranger.get("/openapi.json", Accept_Encoding=accepted, If_None_Match=answer["ETag"])
    assert (again.status_code, again["ETag"]) == (304, answer["ETag"])


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
