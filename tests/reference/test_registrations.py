"""What holds for extensions and script tags alike: lists, deletion, URLs, credentials, scopes."""

import re
from dataclasses import dataclass
from typing import Any

import pytest
from django.db.models import Model

from storefront.apps.models import Extension, ScriptTag
from tests.client import ApiClient
from tests.factories.apps import Installed, install

TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")
REFUSED_URLS = [
    "/render",
    "http://app.example.com/",
    "https://user:secret@app.example.com/",
    "https://app.example.com/" + "a" * 2048,
    "https://127.0.0.1/",
    "https://10.0.0.1/",
    "https://169.254.169.254/",
    "https://100.64.0.1/",
    "https://224.0.0.1/",
    "https://[::1]/",
    "https://[fd00::1]/",
    "https://[::ffff:127.0.0.1]/",
]


@dataclass(frozen=True)
class Kind:
    """A kind of registration: its path, the member of a record and of a list, the member with the URL, a body."""

    path: str
    record: str
    records: str
    url: str
    model: type[Model]
    body: dict[str, Any]

    @property
    def scope(self) -> str:
        return f"write_{self.records}"


EXTENSIONS = Kind(
    path="/extensions",
    record="extension",
    records="extensions",
    url="callback_url",
    model=Extension,
    body={"type": "checkout_block", "callback_url": "https://app.example.com/render"},
)
SCRIPT_TAGS = Kind(
    path="/script-tags",
    record="script_tag",
    records="script_tags",
    url="src",
    model=ScriptTag,
    body={"src": "https://app.example.com/badge.js", "location": "head"},
)


@pytest.fixture(params=[EXTENSIONS, SCRIPT_TAGS], ids=lambda kind: kind.records)
def kind(request) -> Kind:
    return request.param


@pytest.fixture
def app(shop, kind) -> Installed:
    return install(shop, kind.scope)


@pytest.fixture
def registered(app, kind) -> dict[str, Any]:
    """The record of one that the app has registered."""
    return app.api.post(kind.path, kind.body).json()[kind.record]


@pytest.mark.rule("R-APP-11")
def test_the_list_is_wrapped_under_its_name_not_under_data(app, kind, registered):
    assert app.api.get(kind.path).json() == {kind.records: [registered]}


@pytest.mark.rule("R-APP-11")
def test_listing_needs_no_scope_and_another_apps_registrations_are_visible(shop, kind, registered):
    assert install(shop).api.get(kind.path).json() == {kind.records: [registered]}


@pytest.mark.rule("R-APP-5")
def test_an_installation_belongs_to_exactly_one_shop_and_so_does_what_it_registers(app, kind, registered, other_shop):
    assert registered["app_installation_id"] == app.installation.pk
    assert install(other_shop).api.get(kind.path).json() == {kind.records: []}


@pytest.mark.rule("R-CALL-4")
def test_timestamps_are_utc_with_six_fraction_digits_and_a_z(registered):
    assert TIMESTAMP.fullmatch(registered["created_at"])
    assert TIMESTAMP.fullmatch(registered["updated_at"])


@pytest.mark.rule("R-APP-13")
def test_delete_answers_200_with_a_message(app, kind, registered):
    answer = app.api.delete(f"{kind.path}/{registered['id']}")
    assert answer.status_code == 200
    assert list(answer.json()) == ["message"]
    assert app.api.get(kind.path).json() == {kind.records: []}


@pytest.mark.rule("R-APP-13")
def test_delete_of_another_apps_or_another_shops_is_a_404(shop, other_shop, kind, registered):
    for place in (shop, other_shop):
        assert install(place, kind.scope).api.delete(f"{kind.path}/{registered['id']}").status_code == 404
    assert kind.model.objects.count() == 1


@pytest.mark.rule("R-CALL-21")
def test_repeated_with_an_idempotency_key_it_is_registered_once(app, kind):
    first = app.api.post(kind.path, kind.body, Idempotency_Key="once")
    again = app.api.post(kind.path, kind.body, Idempotency_Key="once")
    assert (again.status_code, again.content) == (201, first.content)
    assert again["Idempotent-Replayed"] == "true"
    assert kind.model.objects.count() == 1


@pytest.mark.rule("R-APP-14")
@pytest.mark.parametrize("url", REFUSED_URLS)
def test_what_is_not_absolute_https_to_a_public_address_is_refused(app, kind, url, settings):
    settings.ALLOW_PRIVATE_CALLBACKS = False
    answer = app.api.post(kind.path, kind.body | {kind.url: url})
    assert answer.status_code == 422
    assert list(answer.json()["errors"]) == [kind.url]


@pytest.mark.rule("R-APP-4")
def test_the_installations_token_in_its_own_header_or_as_a_bearer_token(app, kind):
    plain = ApiClient(None, prefix="/api/apps")
    assert plain.get(kind.path).status_code == 401
    assert plain.get(kind.path, X_Shop_Access_Token=app.token).status_code == 200
    assert plain.get(kind.path, Authorization=f"Bearer {app.token}").status_code == 200


@pytest.mark.rule("R-APP-12")
@pytest.mark.parametrize("call", ["post", "delete"])
def test_writing_needs_its_scope(shop, kind, registered, call):
    api = install(shop, "read_shop").api
    answer = api.post(kind.path, kind.body) if call == "post" else api.delete(f"{kind.path}/{registered['id']}")
    assert answer.status_code == 403
    body = answer.json()
    assert body["message"] == "Insufficient scope for this endpoint."
    assert (body["required_scopes"], body["granted_scopes"]) == ([kind.scope], ["read_shop"])
