"""An app registers the same extension again, reads it and changes it (R-APP-37, R-APP-38)."""

import pytest

from storefront.apps.actions import uninstall_app
from storefront.apps.models import Extension
from storefront.kit import clock
from storefront.shops.models import AuditEntry
from tests.answers import without_id
from tests.factories.apps import Installed, install
from tests.races import run_concurrently
from tests.shops.factories import NOW

NEW = {"type": "checkout_block", "callback_url": "https://app.example.com/blocks"}


@pytest.fixture
def app(shop) -> Installed:
    return install(shop, "write_extensions")


@pytest.fixture
def path(app) -> str:
    return f"/extensions/{app.api.post('/extensions', NEW).json()['extension']['id']}"


class TestRegisteringAgain:
    @pytest.mark.rule("R-APP-37")
    def test_the_same_type_and_url_again_is_the_one_that_stands(self, app):
        first, again = (app.api.post("/extensions", NEW | {"timeout_ms": ms}) for ms in (800, 900))
        assert (first.status_code, again.status_code) == (201, 200)
        assert first.json() == again.json()
        assert AuditEntry.objects.filter(action="extension.registered").count() == 1

    @pytest.mark.rule("R-APP-37")
    def test_another_type_url_app_or_shop_is_another_extension(self, app, shop, other_shop):
        answers = [app.api.post("/extensions", NEW), app.api.post("/extensions", NEW | {"type": "product_block"})]
        answers.append(app.api.post("/extensions", NEW | {"callback_url": "https://app.example.com/blocks/2"}))
        answers += [install(each, "write_extensions").api.post("/extensions", NEW) for each in (shop, other_shop)]
        assert [answer.status_code for answer in answers] == [201] * 5
        assert Extension.objects.count() == 5

    @pytest.mark.rule("R-APP-37")
    @pytest.mark.django_db(transaction=True)
    def test_of_concurrent_registrations_of_the_same_one_is_new(self, app):
        statuses = run_concurrently(*[lambda: app.api.post("/extensions", NEW).status_code] * 6)
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
        for body in ({}, {"timeout_ms": 5000}, NEW):
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
        [
            ("callback_url", ""),
            ("callback_url", None),
            ("callback_url", "ftp://app.example.com/"),
            ("timeout_ms", 99),
            ("timeout_ms", "900"),
        ],
    )
    def test_refuses_invalid_fields(self, app, path, field, value):
        before = app.api.get(path).content
        answer = app.api.patch(path, {"timeout_ms": 900, field: value})
        assert (answer.status_code, list(answer.json()["errors"])) == (422, [field])
        assert app.api.get(path).content == before

    @pytest.mark.rule("R-APP-38")
    def test_refuses_the_url_of_another_extension_of_that_type(self, app, path):
        app.api.post("/extensions", NEW | {"callback_url": "https://app.example.com/2"})
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
        assert Extension.objects.get().timeout_ms == 5000

    def test_reading_needs_no_scope_and_changing_its_own(self, shop):
        reader = install(shop)
        assert reader.api.get("/extensions/1").status_code == 404
        answer = reader.api.patch("/extensions/1", {"timeout_ms": 900})
        assert (answer.status_code, answer.json()["required_scopes"]) == (403, ["write_extensions"])

    @pytest.mark.slow
    @pytest.mark.django_db(transaction=True)
    @pytest.mark.parametrize("condition", [{}, {"If_Match": "*"}])
    def test_a_change_during_the_uninstall_leaves_nothing(self, shop, condition):
        for _ in range(6):
            app = install(shop, "write_extensions")
            path = f"/extensions/{app.api.post('/extensions', NEW).json()['extension']['id']}"
            changed, gone = run_concurrently(
                lambda app=app, path=path: app.api.patch(path, {"timeout_ms": 900}, **condition).status_code,
                lambda app=app: uninstall_app(shop=shop, installation=app.installation, now=clock.now()),
            )
            assert (changed in (200, 401), gone) == (True, None)
            assert not Extension.objects.exists()
