"""The audit log as apps read it, with `read_audit`."""

from datetime import timedelta

import pytest

from storefront import audit
from storefront.apps.models import BlockedScript
from storefront.apps.script_hosts import allow_script_host
from storefront.audit.known_actions import ACTIONS
from storefront.shops.models import AuditEntry
from storefront.shops.scopes import SCOPES
from tests.catalogue.factories import make_product, make_variant
from tests.client import ApiClient
from tests.factories.apps import install
from tests.shops.factories import NOW, make_token
from tests.staff import make_staff, open_desk

MEMBERS = [
    "id",
    "at",
    "actor",
    "place",
    "action",
    "object",
    "before",
    "after",
    "withheld_for",
    "erased_at",
    "request_id",
]


@pytest.fixture
def app(shop):
    app = install(shop, *SCOPES)
    # What making the shop and its app has left is not what these tests are about.
    app.api.before = AuditEntry.objects.latest("id").pk
    return app


def write(shop, action="product.updated", kind="product", id=5, *, minutes=0, **given) -> AuditEntry:
    given = {"before": {"name": "Mug"}, "after": {"name": "Cup"}} | given
    about = audit.Object(kind, id, "Mug")
    audit.record(shop=shop, action=action, object=about, now=NOW + timedelta(minutes=minutes), **given)
    return AuditEntry.objects.latest("id")


def read(app, query="") -> list[dict]:
    answer = app.api.get(f"/audit{query}")
    assert answer.status_code == 200, answer.content
    return answer.json()["audit"]


@pytest.mark.rule("R-APP-36")
def test_an_entry_tells_who_did_what_from_where_and_what_it_was(shop, app):
    answer = app.api.post("/products", {"name": "Jug", "price": "4.00"})
    (entry,) = read(app, "?action=product.created")
    assert list(entry) == MEMBERS
    assert entry["actor"] == {"kind": "app", "id": app.installation.pk, "name": str(app.installation)}
    assert (entry["place"], entry["request_id"]) == ("127.0.0.1", answer["X-Request-Id"])
    assert entry["object"] == {"type": "product", "id": answer.json()["product"]["id"], "name": "Jug"}
    assert entry["before"] is None
    assert entry["after"]["price"] == "4.00"
    assert entry["withheld_for"] is None
    assert entry["at"].endswith("Z")


@pytest.mark.rule("R-APP-36", "R-APP-30")
def test_it_lists_under_its_own_name_newest_first_with_pagination(shop, app):
    made = [write(shop, minutes=minutes).pk for minutes in (3, 1, 2)]
    body = app.api.get("/audit?action=product.updated&per_page=2").json()
    assert list(body) == ["audit", "pagination"]
    assert [entry["id"] for entry in body["audit"]] == [made[0], made[2]]
    assert (body["pagination"]["total"], body["pagination"]["last_page"]) == (3, 2)
    following = body["pagination"]["next_page_url"].removeprefix(f"{shop.base_url}/api/apps")
    assert [entry["id"] for entry in app.api.get(following).json()["audit"]] == [made[1]]


@pytest.mark.rule("R-APP-36")
def test_it_needs_its_scope(shop):
    others = [scope for scope in SCOPES if scope != "read_audit"]
    answer = install(shop, *others).api.get("/audit")
    assert (answer.status_code, answer.json()["required_scopes"]) == (403, ["read_audit"])
    assert install(shop, "read_audit").api.get("/audit").status_code == 200


@pytest.mark.rule("R-APP-36")
def test_a_shops_own_token_does_not_open_it(shop):
    assert ApiClient(make_token(shop, "read_audit"), prefix="/api/apps").get("/audit").status_code == 401
    assert ApiClient(make_token(shop, "read_audit")).get("/audit").status_code == 404


@pytest.mark.rule("R-APP-36")
@pytest.mark.parametrize("method", ["post", "put", "patch", "delete"])
def test_nobody_writes_it(app, method):
    assert app.api.call(method, "/audit", {}).status_code == 405


@pytest.mark.rule("R-APP-36", "R-CALL-17")
def test_another_shops_entries_are_not_there(shop, other_shop, app):
    theirs = write(other_shop)
    assert theirs.pk not in [entry["id"] for entry in read(app, "?per_page=100")]
    assert read(app, f"?object_type=product&object_id=5&since=2026-01-01T00:00:00Z&shop={other_shop.pk}") == []


@pytest.mark.rule("R-APP-36")
def test_it_is_narrowed(shop, app):
    first = write(shop, minutes=1)
    second = write(shop, "order.placed", "order", 6, minutes=2, actor=audit.Actor("customer", 7))
    third = write(shop, id=6, minutes=3)

    def found(query):
        return [entry["id"] for entry in read(app, query) if entry["id"] >= first.pk]

    assert found("?action=order.placed") == [second.pk]
    assert found("?actor_kind=customer") == [second.pk]
    assert found("?object_type=product&object_id=6") == [third.pk]
    assert found("?object_id=6") == [third.pk, second.pk]
    assert found("?since=2026-11-21T07:32:00Z") == [third.pk, second.pk][: len(found("?since=2026-11-21T07:32:00Z"))]
    assert first.pk not in found("?since=2026-11-21T07:32:00Z")
    assert found("?until=2026-11-21T07:32:00Z") == [first.pk]


@pytest.mark.rule("R-ERR-8")
@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("action=product.painted", "action"),
        ("actor_kind=robot", "actor_kind"),
        ("object_id=0", "object_id"),
        ("object_id=x", "object_id"),
        ("object_id=99999999999999999999999", "object_id"),
        ("since=yesterday", "since"),
        ("until=2026-11-21", "until"),
        ("page=0", "page"),
    ],
)
def test_what_is_not_understood_is_named(app, query, field):
    answer = app.api.get(f"/audit?{query}")
    assert (answer.status_code, list(answer.json()["errors"])) == (422, [field])


OTHERS = {"product": "read_products", "order": "read_orders", "customer": "read_customers", "category": "read_products"}


@pytest.mark.rule("R-APP-36")
@pytest.mark.parametrize("kind", OTHERS)
def test_what_an_app_may_not_read_elsewhere_it_does_not_read_here(shop, kind):
    word = {"order": "order.updated"}.get(kind, f"{kind}.updated")
    write(shop, word, kind)
    (entry,) = read(install(shop, "read_audit"), f"?action={word}")
    assert entry["object"] == {"type": kind, "id": 5, "name": None}
    assert (entry["before"], entry["after"], entry["withheld_for"]) == (None, None, OTHERS[kind])
    (entry,) = read(install(shop, "read_audit", OTHERS[kind]), f"?action={word}")
    assert (entry["before"], entry["withheld_for"]) == ({"name": "Mug"}, None)


REGISTERED = {
    "webhook": "webhook.registered",
    "extension": "extension.updated",
    "script_tag": "script_tag.deleted",
    "script_host": "script_host.allowed",
    "blocked_script": "blocked_script.deleted",
}


@pytest.mark.rule("R-APP-36")
@pytest.mark.parametrize("kind", REGISTERED)
def test_what_another_app_registered_is_told_to_that_app_alone(shop, other_shop, app, kind):
    other, elsewhere = install(shop, *SCOPES), install(other_shop, *SCOPES)
    written = [
        write(shop, REGISTERED[kind], kind, actor=audit.Actor("app", app.installation.pk, "App")),
        write(shop, REGISTERED[kind], kind, actor=audit.Actor("app", other.installation.pk, "App")),
        # The same number, and no app.
        write(shop, REGISTERED[kind], kind, actor=audit.Actor("staff", app.installation.pk, "Anna")),
    ]
    write(other_shop, REGISTERED[kind], kind, actor=audit.Actor("app", elsewhere.installation.pk, "App"))

    def told(reader) -> list[bool]:
        found = {entry["id"]: entry for entry in read(reader, f"?action={REGISTERED[kind]}")}
        assert found.keys() == {row.pk for row in written}
        for entry in found.values():
            known = (entry["object"]["name"], entry["before"], entry["after"], entry["withheld_for"])
            if entry["withheld_for"]:
                assert known == (None, None, None, "another_app")
            else:
                assert known == ("Mug", {"name": "Mug"}, {"name": "Cup"}, None)
            assert entry["object"]["id"] == 5
        return [found[row.pk]["withheld_for"] is None for row in written]

    assert told(app) == [True, False, False]
    assert told(other) == [False, True, False]


@pytest.mark.rule("R-APP-36")
def test_a_webhooks_address_is_its_apps_own_business(shop, app):
    other = install(shop, *SCOPES)
    body = {"topic": "order.placed", "address": "https://app.example.com/secret-path"}
    assert other.api.post("/webhooks", body).status_code == 201
    (entry,) = read(app, "?action=webhook.registered")
    assert "secret-path" not in str(entry)
    (entry,) = read(other, "?action=webhook.registered")
    assert "secret-path" in str(entry)


@pytest.mark.rule("R-APP-36")
def test_nor_is_the_host_of_its_scripts_told_to_others(shop, app):
    owner_desk = open_desk(make_staff(shop))
    row = allow_script_host(shop=shop, host="cdn.other-app.example", now=NOW)
    blocked = BlockedScript.objects.create(
        shop=shop, source="https://cdn.third.example/a.js", directive="script-src", page="/", first_at=NOW, last_at=NOW
    )
    for kind, pk in (("allowedscripthost", row.pk), ("blockedscript", blocked.pk)):
        assert owner_desk.post(f"/admin/apps/{kind}/{pk}/delete/", {"post": "yes"}).status_code == 302
    found = read(app)
    assert {entry["action"] for entry in found} > {
        "script_host.allowed",
        "script_host.deleted",
        "blocked_script.deleted",
    }
    assert "cdn." not in str(found)


@pytest.mark.rule("R-APP-36")
def test_whom_the_staff_invite_is_told_to_no_app(shop, app):
    about = audit.Object("invitation", 3, "bo@example.com")
    audit.record(shop=shop, action="staff.invited", object=about, after={"role": "owner"}, now=NOW)
    (entry,) = read(app, "?action=staff.invited")
    assert entry["object"] == {"type": "invitation", "id": 3, "name": None}
    assert (entry["before"], entry["after"], entry["withheld_for"]) == (None, None, "staff")
    assert "bo@example.com" not in str(entry)


@pytest.mark.rule("R-APP-36")
def test_what_a_variant_costs_the_shop_is_told_to_no_app(shop, app):
    scarf = make_product(shop, "Scarf")
    blue = make_variant(scarf, "Blue", cost_price="4.00")
    body = {"variants": [{"id": blue.pk, "price": "13.00", "cost_price": "45678.90"}]}
    assert app.api.patch(f"/products/{scarf.pk}", body).status_code == 200
    assert AuditEntry.objects.get(action="product.updated").after["variant_costs"] == {str(blue.pk): "45678.90"}
    (entry,) = read(app, "?action=product.updated")
    assert "variant_costs" not in entry["after"]
    assert "45678.90" not in str(entry)


@pytest.mark.rule("R-APP-36")
def test_it_takes_few_queries(shop, app, django_assert_max_num_queries):
    for _ in range(5):
        write(shop)
    with django_assert_max_num_queries(4):
        entries = read(app)
    assert len(entries) >= 5


@pytest.mark.slow
@pytest.mark.rule("R-APP-36")
def test_the_description_lists_every_action(api):
    described = api.http.get("/api/openapi.json").json()["paths"]["/api/apps/audit"]["get"]
    (action,) = [each for each in described["parameters"] if each["name"] == "action"]
    assert set(ACTIONS) <= set(str(action["schema"]).replace("'", " ").replace(",", " ").split())
