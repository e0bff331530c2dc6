"""What extensions and script tags have in common: their fields, ids, owners, scopes and limits."""

from typing import Any, NamedTuple

import pytest
from django.db.models import Model

from storefront.apps.extensions import MAX_EXTENSIONS
from storefront.apps.models import Extension, ScriptTag
from storefront.apps.scripts import MAX_SCRIPT_TAGS
from tests.answers import without_id
from tests.factories.apps import install
from tests.races import run_concurrently

ADDRESS = "https://app.example.com/1"


class Kind(NamedTuple):
    model: type[Model]
    member: str
    members: str
    address: str
    given: dict[str, Any]
    max: int

    @property
    def path(self) -> str:
        return "/" + self.members.replace("_", "-")

    @property
    def scope(self) -> str:
        return f"write_{self.members}"

    def new(self, address: Any = ADDRESS) -> dict[str, Any]:
        return self.given | {self.address: address}


EXTENSION = Kind(Extension, "extension", "extensions", "callback_url", {"type": "checkout_block"}, MAX_EXTENSIONS)
SCRIPT_TAG = Kind(ScriptTag, "script_tag", "script_tags", "src", {"location": "head"}, MAX_SCRIPT_TAGS)


@pytest.fixture(params=[EXTENSION, SCRIPT_TAG], ids=lambda kind: kind.member)
def kind(request) -> Kind:
    return request.param


@pytest.fixture
def app(shop, kind):
    return install(shop, kind.scope)


def test_refuses_missing_fields(app, kind):
    answers = [app.api.post(kind.path, body).json()["errors"] for body in (kind.given, {kind.address: ADDRESS})]
    (other,) = kind.given
    assert answers == [{field: [f"{field} is required."]} for field in (kind.address, other)]


def test_another_apps_is_listed_but_not_deleted(app, kind, shop):
    record = install(shop, kind.scope).api.post(kind.path, kind.new()).json()[kind.member]
    assert app.api.get(kind.path).json() == {kind.members: [record]}
    assert app.api.delete(f"{kind.path}/{record['id']}").status_code == 404
    assert kind.model.objects.count() == 1


def test_another_shops_is_neither_listed_nor_deleted(app, kind, other_shop):
    id = install(other_shop, kind.scope).api.post(kind.path, kind.new()).json()[kind.member]["id"]
    assert app.api.get(kind.path).json() == {kind.members: []}
    refused, unknown = app.api.delete(f"{kind.path}/{id}"), app.api.delete(f"{kind.path}/999999")
    assert without_id(refused) == without_id(unknown)
    assert refused.status_code == 404
    assert kind.model.objects.count() == 1


def test_an_invalid_id_is_a_404(app, kind):
    for id in ("0", "-1", "x", "1.5", "9007199254740992", "9" * 40, "%20"):
        assert app.api.delete(f"{kind.path}/{id}").status_code == 404


def test_reading_needs_no_scope_and_writing_its_own(shop, kind):
    api = install(shop, "read_shop").api
    assert api.get(kind.path).status_code == 200
    for refused in (api.post(kind.path, kind.new()), api.delete(f"{kind.path}/1")):
        assert (refused.status_code, refused.json()["required_scopes"]) == (403, [kind.scope])


def test_reading_one_extension_needs_no_scope_and_changing_its_own(shop):
    api = install(shop, "read_shop").api
    assert api.get("/extensions/1").status_code == 404
    refused = api.patch("/extensions/1", {"timeout_ms": 900})
    assert (refused.status_code, refused.json()["required_scopes"]) == (403, ["write_extensions"])


def test_a_shops_own_token_is_refused(api, kind):
    api.prefix = "/api/apps"
    assert api.get(kind.path).status_code == api.post(kind.path, kind.new()).status_code == 401


@pytest.mark.rule("R-LIM-12")
def test_refuses_more_than_the_limit(app, kind, shop):
    for number in range(kind.max):
        assert app.api.post(kind.path, kind.new(f"{ADDRESS}/{number}")).status_code == 201
    assert app.api.post(kind.path, kind.new()).json()["code"] == f"too_many_{kind.members}"
    assert app.api.post(kind.path, kind.new(f"{ADDRESS}/0")).status_code == 200
    assert install(shop, kind.scope).api.post(kind.path, kind.new()).status_code == 201


def test_the_number_of_queries_does_not_grow_with_the_list(app, kind, django_assert_max_num_queries):
    addresses = [f"{ADDRESS}/{number}" for number in range(5)]
    for address in addresses:
        app.api.post(kind.path, kind.new(address))
    with django_assert_max_num_queries(2):
        listed = app.api.get(kind.path).json()[kind.members]
    assert [record[kind.address] for record in listed] == addresses


@pytest.mark.django_db(transaction=True)
def test_concurrent_registrations_do_not_exceed_the_limit(app, kind):
    for number in range(kind.max - 1):
        app.api.post(kind.path, kind.new(f"{ADDRESS}/{number}"))
    more = [kind.new(f"{ADDRESS}/more/{number}") for number in range(4)]
    run_concurrently(*[lambda body=body: app.api.post(kind.path, body) for body in more])
    assert kind.model.objects.count() == kind.max
