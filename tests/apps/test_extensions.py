"""An app registers, lists and deletes extensions (R-APP-16 to R-APP-18)."""

import re

import pytest

from storefront.apps.extensions import MAX_EXTENSIONS
from storefront.apps.models import Extension
from storefront.kit import clock
from tests.answers import without_id
from tests.factories.apps import install
from tests.races import run_concurrently

URL = "https://app.example.com/blocks"


@pytest.fixture
def app(shop):
    return install(shop, "write_extensions")


def new(**given):
    return {"type": "checkout_block", "callback_url": URL} | given


def test_an_extension_is_registered_and_listed(app, shop):
    answer = app.api.post("/extensions", new(timeout_ms=800))
    assert answer.status_code == 201
    body = answer.json()
    assert body["message"] == "Extension registered."
    record = body["extension"]
    assert list(record) == [
        *("id", "app_installation_id", "type", "callback_url", "is_active", "timeout_ms", "created_at", "updated_at")
    ]
    row = Extension.objects.get()
    assert (row.shop, row.pk, row.installation) == (shop, record["id"], app.installation)
    assert record["app_installation_id"] == app.installation.pk
    assert (record["type"], record["callback_url"], record["is_active"]) == ("checkout_block", URL, True)
    assert record["timeout_ms"] == 800
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", record["created_at"])
    assert app.api.get("/extensions").json() == {"extensions": [record]}


@pytest.mark.parametrize("type", ["checkout_block", "product_block", "confirmation_block"])
def test_the_three_types(app, type):
    assert app.api.post("/extensions", new(type=type)).json()["extension"]["type"] == type


@pytest.mark.parametrize("given", [{}, {"timeout_ms": None}])
def test_the_default_timeout_is_five_seconds(app, given):
    assert app.api.post("/extensions", new(**given)).json()["extension"]["timeout_ms"] == 5000


def test_a_null_timeout_changes_nothing(app):
    id = app.api.post("/extensions", new(timeout_ms=800)).json()["extension"]["id"]
    changed = app.api.patch(f"/extensions/{id}", {"timeout_ms": None})
    assert (changed.status_code, changed.json()["extension"]["timeout_ms"]) == (200, 800)


@pytest.mark.parametrize("timeout", [100, 10_000])
def test_accepts_the_shortest_and_longest_timeout(app, timeout):
    assert app.api.post("/extensions", new(timeout_ms=timeout)).json()["extension"]["timeout_ms"] == timeout


@pytest.mark.parametrize(
    ("field", "given"),
    [
        ("type", {"type": "basket_block"}),
        ("type", {"type": None}),
        ("type", {"type": 1}),
        ("callback_url", {"callback_url": None}),
        ("callback_url", {"callback_url": 7}),
        ("callback_url", {"callback_url": ""}),
        ("callback_url", {"callback_url": "ftp://app.example.com/"}),
        ("callback_url", {"callback_url": "https://user:secret@app.example.com/"}),
        ("callback_url", {"callback_url": "https://app.example.com/" + "a" * 2048}),
        ("timeout_ms", {"timeout_ms": 99}),
        ("timeout_ms", {"timeout_ms": 10_001}),
        ("timeout_ms", {"timeout_ms": "800"}),
        ("timeout_ms", {"timeout_ms": 800.5}),
        ("timeout_ms", {"timeout_ms": True}),
    ],
)
def test_refuses_invalid_fields(app, field, given):
    answer = app.api.post("/extensions", new(**given))
    assert answer.status_code == 422
    assert list(answer.json()["errors"]) == [field]
    assert not Extension.objects.exists()


@pytest.mark.parametrize("field", ["type", "callback_url"])
def test_refuses_missing_fields(app, field):
    body = new()
    del body[field]
    assert app.api.post("/extensions", body).json()["errors"] == {field: [f"{field} is required."]}


@pytest.mark.parametrize("url", ["http://app.example.com/", "https://127.0.0.1/", "https://169.254.169.254/x"])
def test_in_production_the_callback_is_public_https(app, url, settings):
    settings.ALLOW_PRIVATE_CALLBACKS = False
    answer = app.api.post("/extensions", new(callback_url=url))
    assert answer.status_code == 422
    assert answer.json()["errors"]["callback_url"][0].startswith("The URL")


def test_an_extension_is_deleted(app):
    id = app.api.post("/extensions", new()).json()["extension"]["id"]
    answer = app.api.delete(f"/extensions/{id}")
    assert (answer.status_code, answer.json()) == (200, {"message": "Extension deleted."})
    assert app.api.get("/extensions").json() == {"extensions": []}
    assert app.api.delete(f"/extensions/{id}").status_code == 404


def test_another_apps_extension_is_listed_but_not_deleted(app, shop):
    other = install(shop, "write_extensions")
    record = other.api.post("/extensions", new()).json()["extension"]
    assert app.api.get("/extensions").json() == {"extensions": [record]}
    assert app.api.delete(f"/extensions/{record['id']}").status_code == 404
    assert Extension.objects.count() == 1


def test_another_shops_extension_is_neither_listed_nor_deleted(app, other_shop):
    other = install(other_shop, "write_extensions")
    id = other.api.post("/extensions", new()).json()["extension"]["id"]
    assert app.api.get("/extensions").json() == {"extensions": []}
    refused, unknown = app.api.delete(f"/extensions/{id}"), app.api.delete("/extensions/999999")
    assert without_id(refused) == without_id(unknown)
    assert refused.status_code == 404
    assert Extension.objects.count() == 1


@pytest.mark.parametrize("id", ["0", "-1", "x", "1.5", "9007199254740992", "9" * 40, "%20"])
def test_an_invalid_id_is_a_404(app, id):
    assert app.api.delete(f"/extensions/{id}").status_code == 404


def test_listing_needs_no_scope_and_writing_its_own(shop):
    app = install(shop, "read_shop")
    assert app.api.get("/extensions").status_code == 200
    for refused in (app.api.post("/extensions", new()), app.api.delete("/extensions/1")):
        assert refused.status_code == 403
        assert refused.json()["required_scopes"] == ["write_extensions"]


def test_a_shops_own_token_is_refused(api):
    api.prefix = "/api/apps"
    assert api.get("/extensions").status_code == 401
    assert api.post("/extensions", new()).status_code == 401


@pytest.mark.rule("R-LIM-12")
def test_refuses_more_than_the_limit(app, shop):
    for number in range(MAX_EXTENSIONS):
        assert app.api.post("/extensions", new(callback_url=f"{URL}/{number}")).status_code == 201
    assert app.api.post("/extensions", new()).json()["code"] == "too_many_extensions"
    assert app.api.post("/extensions", new(callback_url=f"{URL}/0")).status_code == 200
    assert install(shop, "write_extensions").api.post("/extensions", new()).status_code == 201


def test_the_number_of_queries_does_not_grow_with_the_list(app, django_assert_max_num_queries):
    for number in range(5):
        app.api.post("/extensions", new(callback_url=f"{URL}/{number}"))
    with django_assert_max_num_queries(2):
        listed = app.api.get("/extensions").json()["extensions"]
    assert len(listed) == 5


@pytest.mark.django_db(transaction=True)
def test_a_registration_during_the_uninstall_leaves_nothing(shop):
    from storefront.apps.actions import uninstall_app

    for _ in range(5):
        app = install(shop, "write_extensions")
        run_concurrently(
            lambda app=app: app.api.post("/extensions", new()),
            lambda app=app: uninstall_app(shop=shop, installation=app.installation, now=clock.now()),
        )
        assert not Extension.objects.filter(installation=app.installation).exists()


@pytest.mark.django_db(transaction=True)
def test_concurrent_registrations_do_not_exceed_the_limit(shop):
    app = install(shop, "write_extensions")
    for number in range(MAX_EXTENSIONS - 1):
        app.api.post("/extensions", new(callback_url=f"{URL}/{number}"))
    more = [new(callback_url=f"{URL}/more/{number}") for number in range(4)]
    run_concurrently(*[lambda body=body: app.api.post("/extensions", body) for body in more])
    assert Extension.objects.count() == MAX_EXTENSIONS
