"""An app registers, lists and deletes script tags (R-APP-25, R-APP-26)."""

import re

import pytest

from storefront.apps.models import ScriptTag
from tests.factories.apps import install
from tests.races import run_concurrently

SRC = "https://app.example.com/badge.js"


@pytest.fixture
def app(shop):
    return install(shop, "write_script_tags")


def new(**given):
    return {"src": SRC, "location": "head"} | given


def test_a_script_tag_is_registered_and_listed(app, shop):
    answer = app.api.post("/script-tags", new())
    assert answer.status_code == 201
    body = answer.json()
    assert list(body) == ["message", "script_tag"]
    assert body["message"] == "Script tag registered."
    record = body["script_tag"]
    members = ["id", "app_installation_id", "src", "location", "is_active", "created_at", "updated_at"]
    assert list(record) == [*members, "blocked_reason"]
    row = ScriptTag.objects.get()
    assert (row.shop, row.pk, row.installation) == (shop, record["id"], app.installation)
    assert record["app_installation_id"] == app.installation.pk
    assert (record["src"], record["location"], record["is_active"]) == (SRC, "head", True)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", record["created_at"])
    assert app.api.get("/script-tags").json() == {"script_tags": [record]}


def test_registering_the_same_again_returns_the_existing_tag(app):
    first = app.api.post("/script-tags", new())
    again = app.api.post("/script-tags", new())
    assert (again.status_code, again.json()) == (200, first.json())
    assert ScriptTag.objects.count() == 1


def test_registering_again_does_not_turn_a_tag_on(app):
    app.api.post("/script-tags", new())
    ScriptTag.objects.update(is_active=False)
    assert app.api.post("/script-tags", new()).json()["script_tag"]["is_active"] is False


def test_another_location_or_another_app_has_another_tag(app, shop):
    other = install(shop, "write_script_tags")
    for api, body in ((app.api, new()), (app.api, new(location="body_end")), (other.api, new())):
        assert api.post("/script-tags", body).status_code == 201
    assert ScriptTag.objects.count() == 3


@pytest.mark.parametrize("location", ["head", "body_start", "body_end"])
def test_the_three_locations(app, location):
    assert app.api.post("/script-tags", new(location=location)).json()["script_tag"]["location"] == location


def test_accepts_the_longest_address(app):
    src = "https://app.example.com/".ljust(2048, "a")
    assert app.api.post("/script-tags", new(src=src)).json()["script_tag"]["src"] == src


@pytest.mark.parametrize(
    ("field", "given"),
    [
        ("location", {"location": "footer"}),
        ("location", {"location": None}),
        ("location", {"location": 1}),
        ("src", {"src": None}),
        ("src", {"src": 7}),
        ("src", {"src": ""}),
        ("src", {"src": "/badge.js"}),
        ("src", {"src": "//app.example.com/badge.js"}),
        ("src", {"src": "javascript:alert(1)"}),
        ("src", {"src": "data:text/javascript,alert(1)"}),
        ("src", {"src": "https://user:secret@app.example.com/"}),
        ("src", {"src": "https://app.example.com/" + "a" * 2048}),
    ],
)
def test_refuses_invalid_fields(app, field, given):
    answer = app.api.post("/script-tags", new(**given))
    assert answer.status_code == 422
    assert list(answer.json()["errors"]) == [field]
    assert not ScriptTag.objects.exists()


@pytest.mark.parametrize("url", ["http://app.example.com/", "https://127.0.0.1/", "https://[::1]/x.js"])
def test_in_production_a_script_is_public_https(app, url, settings):
    settings.ALLOW_PRIVATE_CALLBACKS = False
    answer = app.api.post("/script-tags", new(src=url))
    assert answer.status_code == 422
    assert answer.json()["errors"]["src"][0].startswith("The URL")


def test_a_script_tag_is_deleted(app):
    id = app.api.post("/script-tags", new()).json()["script_tag"]["id"]
    answer = app.api.delete(f"/script-tags/{id}")
    assert (answer.status_code, answer.json()) == (200, {"message": "Script tag deleted."})
    assert app.api.get("/script-tags").json() == {"script_tags": []}
    assert app.api.delete(f"/script-tags/{id}").status_code == 404


@pytest.mark.django_db(transaction=True)
def test_concurrent_registrations_of_one_tag_create_one(shop):
    app = install(shop, "write_script_tags")
    for number in range(5):
        body = new(src=f"{SRC}?{number}")
        answers = run_concurrently(*[lambda body=body: app.api.post("/script-tags", body)] * 4)
        assert sorted(answer.status_code for answer in answers) == [200, 200, 200, 201]
        assert len({answer.json()["script_tag"]["id"] for answer in answers}) == 1
    assert ScriptTag.objects.count() == 5
