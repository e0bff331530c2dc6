"""An app registers, lists, changes and deletes extensions (R-APP-16 to R-APP-18, R-APP-37, R-APP-38)."""

import re

import pytest

from storefront.apps.actions import uninstall_app
from storefront.apps.models import Extension
from storefront.kit import clock
from storefront.shops.models import AuditEntry
from tests.answers import without_id
from tests.factories.apps import install
from tests.races import run_concurrently
from tests.shops.factories import NOW

URL = "https://app.example.com/blocks"


@pytest.fixture
def app(shop):
    return install(shop, "write_extensions")


@pytest.fixture
def path(app):
    return f"/extensions/{app.api.post('/extensions', new(timeout_ms=800)).json()['extension']['id']}"


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


class TestRegisteringAgain:
    @pytest.mark.rule("R-APP-37")
    def test_the_same_type_and_url_again_is_the_one_that_stands(self, app):
        first, again = (app.api.post("/extensions", new(timeout_ms=ms)) for ms in (800, 900))
        assert (first.status_code, again.status_code) == (201, 200)
        assert first.json() == again.json()
        assert AuditEntry.objects.filter(action="extension.registered").count() == 1

    @pytest.mark.rule("R-APP-37")
    def test_another_type_url_app_or_shop_is_another_extension(self, app, shop, other_shop):
        answers = [app.api.post("/extensions", new()), app.api.post("/extensions", new(type="product_block"))]
        answers.append(app.api.post("/extensions", new(callback_url="https://app.example.com/blocks/2")))
        answers += [install(each, "write_extensions").api.post("/extensions", new()) for each in (shop, other_shop)]
        assert [answer.status_code for answer in answers] == [201] * 5
        assert Extension.objects.count() == 5

    @pytest.mark.rule("R-APP-37")
    @pytest.mark.django_db(transaction=True)
    def test_of_concurrent_registrations_of_the_same_one_is_new(self, app):
        statuses = run_concurrently(*[lambda: app.api.post("/extensions", new()).status_code] * 6)
        assert sorted(statuses) == [200] * 5 + [201]
        assert Extension.objects.count() == 1


class TestChanging:
    @pytest.mark.rule("R-APP-38")
    def test_the_members_that_are_sent_are_changed(self, app, path, django_assert_max_num_queries):
        before = app.api.get(path).json()["extension"]
        with django_assert_max_num_queries(14):
            answer = app.api.patch(path, {"timeout_ms": 900})
        assert answer.status_code == 200
        after = answer.json()["extension"]
        assert after["updated_at"] > before["updated_at"]
        assert after == before | {"timeout_ms": 900, "updated_at": after["updated_at"]}
        changed = app.api.patch(path, {"callback_url": "https://app.example.com/other"}).json()["extension"]
        assert (changed["callback_url"], changed["timeout_ms"]) == ("https://app.example.com/other", 900)
        assert app.api.get(path).json() == {"extension": changed}

    def test_what_changes_nothing_is_not_recorded(self, app, path):
        before = app.api.get(path).content
        for body in ({}, {"timeout_ms": None}, {"timeout_ms": 800}, new()):
            assert app.api.patch(path, body).content == before
        assert not AuditEntry.objects.filter(action="extension.updated").exists()

    def test_a_new_url_starts_without_the_failures_of_the_old_one(self, app, path):
        Extension.objects.update(failures_in_a_row=5, asked_again_at=NOW)
        app.api.patch(path, {"timeout_ms": 900})
        assert Extension.objects.get().failures_in_a_row == 5
        app.api.patch(path, {"callback_url": "https://app.example.com/other"})
        row = Extension.objects.get()
        assert (row.failures_in_a_row, row.asked_again_at) == (0, None)

    @pytest.mark.parametrize(
        ("field", "value"),
        [("callback_url", None), ("callback_url", "ftp://app.example.com/"), ("timeout_ms", 99), ("timeout_ms", "900")],
    )
    def test_refuses_invalid_fields(self, app, path, field, value):
        before = app.api.get(path).content
        answer = app.api.patch(path, {"timeout_ms": 900, field: value})
        assert (answer.status_code, list(answer.json()["errors"])) == (422, [field])
        assert app.api.get(path).content == before

    @pytest.mark.rule("R-APP-38")
    def test_refuses_the_url_of_another_extension_of_that_type(self, app, path):
        app.api.post("/extensions", new(callback_url="https://app.example.com/2"))
        app.api.post("/extensions", {"type": "product_block", "callback_url": "https://app.example.com/3"})
        answer = app.api.patch(path, {"callback_url": "https://app.example.com/2"})
        assert (answer.status_code, list(answer.json()["errors"])) == (422, ["callback_url"])
        assert app.api.patch(path, {"callback_url": "https://app.example.com/3"}).status_code == 200

    @pytest.mark.rule("R-APP-38")
    def test_an_extension_of_another_app_or_shop_is_not_found(self, app, path, shop, other_shop):
        for other in (install(shop, "write_extensions"), install(other_shop, "write_extensions")):
            for method, body in (("get", None), ("patch", {"timeout_ms": 900})):
                answer = other.api.call(method, path, body)
                assert answer.status_code == 404
                assert without_id(answer) == without_id(other.api.call(method, "/extensions/999999", body))
        assert Extension.objects.get().timeout_ms == 800

    @pytest.mark.slow
    @pytest.mark.django_db(transaction=True)
    @pytest.mark.parametrize("condition", [{}, {"If_Match": "*"}])
    def test_a_change_during_the_uninstall_leaves_nothing(self, shop, condition):
        for _ in range(6):
            app = install(shop, "write_extensions")
            path = f"/extensions/{app.api.post('/extensions', new(timeout_ms=800)).json()['extension']['id']}"
            changed, gone = run_concurrently(
                lambda app=app, path=path: app.api.patch(path, {"timeout_ms": 900}, **condition).status_code,
                lambda app=app: uninstall_app(shop=shop, installation=app.installation, now=clock.now()),
            )
            assert (changed in (200, 401), gone) == (True, None)
            assert not Extension.objects.exists()
