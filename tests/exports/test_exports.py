"""A list written into a file by the worker, given out by a signed link, and deleted after a day."""

import gzip
import json
from datetime import timedelta

import pytest
import time_machine
from django.core.files.storage import storages
from django_tasks_db.models import DBTaskResult

from storefront.catalogue import actions
from storefront.exports import jobs
from storefront.exports.models import Export
from storefront.kit import clock
from storefront.server.worker.sweeps import SWEEPS
from storefront.shops.models import AuditEntry
from tests.catalogue.factories import make_product, make_variant
from tests.client import ApiClient
from tests.customers.factories import add_address, make_customer
from tests.factories.apps import install
from tests.orders.factories import make_order, sale_line
from tests.races import run_concurrently
from tests.shops.factories import make_token
from tests.sync.copying import Copy
from tests.worker import run_due_tasks

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def cast(shop, other_shop) -> None:
    for owner in (shop, other_shop):
        make_product(owner, "Mug")
        make_variant(make_product(owner, "Shirt"))
        make_product(owner, "Draft", status="draft")
        make_order(owner, sale_line(owner.products.first()))
        add_address(make_customer(owner, password=""))


def files_left() -> list[str]:
    storage = storages["private"]
    return storage.listdir("exports")[1] if storage.exists("exports") else []


@pytest.fixture(autouse=True)
def no_files_of_other_tests():
    for name in files_left():
        storages["private"].delete(f"exports/{name}")


def exported(api: ApiClient, **given) -> dict:
    """The export after the worker has made it."""
    started = api.post("/exports", given)
    assert started.status_code == 201, started.content
    record = started.json()["data"]
    assert (record["state"], record["url"], record["next"]) == ("waiting", None, None)
    run_due_tasks()
    return api.get(f"/exports/{record['id']}").json()["data"]


def content(api: ApiClient, export: dict) -> list[dict]:
    host, _, path = export["url"].removeprefix("https://").partition("/")
    response = api.http.get(f"/{path}", headers={"Host": host})
    assert response.status_code == 200
    assert response["Content-Type"] == "application/gzip"
    assert response["Cache-Control"] == "no-store"
    return [json.loads(line) for line in gzip.decompress(b"".join(response.streaming_content)).splitlines()]


@pytest.mark.rule("R-SYNC-17", "R-SYNC-18")
@pytest.mark.parametrize(
    ("kind", "include"),
    [("products", ["variants", "options"]), ("inventory", None), ("orders", ["lines"]), ("customers", ["addresses"])],
)
def test_an_export_has_the_list_and_its_cursor_goes_on_from_there(shop, api, cast, kind, include):
    export = exported(api, kind=kind, include=include)
    assert export["state"] == "done"
    lines = content(api, export)
    parameters = {"include": ",".join(include)} if include else {}
    copy = Copy(api, f"/{kind}", **parameters).follow()
    assert {line["id"]: line for line in lines} == copy.records
    assert export["rows"] == len(lines) > 0
    copy.after = export["next"]
    assert copy.step()["data"] == []
    actions.update_product(shop=shop, product=shop.products.first(), name="Cup", now=clock.now())
    make_order(shop, sale_line(shop.products.first()), customer_id=shop.customers.get().pk)
    assert copy.step()["data"] != []


@pytest.mark.rule("R-SYNC-18")
def test_fields_and_updated_since_choose_what_is_exported(shop, api, cast):
    late = clock.now() + timedelta(days=1)
    actions.update_product(shop=shop, product=shop.products.get(name="Mug"), price="11.00", now=late)
    export = exported(api, kind="products", fields=["name", "price"], updated_since=late.isoformat())
    assert content(api, export) == [{"name": "Mug", "price": "11.00"}]


@pytest.mark.rule("R-SYNC-17")
def test_unknown_kinds_and_names_are_refused_and_nothing_begins(api):
    refused = {
        "kind": {"kind": "carts"},
        "fields": {"kind": "orders", "fields": ["number", "colour"]},
        "include": {"kind": "inventory", "include": ["variants"]},
        "updated_since": {"kind": "orders", "updated_since": "yesterday"},
    }
    for field, body in refused.items():
        answer = api.post("/exports", body)
        assert answer.status_code == 422
        assert list(answer.json()["errors"]) == [field]
    assert "Known are id, number" in api.post("/exports", refused["fields"]).json()["errors"]["fields"][0]
    assert not Export.objects.exists()


@pytest.mark.slow
@pytest.mark.rule("R-SYNC-19")
def test_an_export_needs_the_scope_that_reads_the_list(shop, other_api, cast):
    for kind in ("products", "inventory", "orders", "customers"):
        api, app = ApiClient(make_token(shop, f"read_{kind}")), ApiClient(install(shop, f"read_{kind}").token)
        export = exported(api, kind=kind)
        assert app.get(f"/exports/{export['id']}").status_code == 200
        other = ApiClient(make_token(shop, "read_cart"))
        for answer in (other.post("/exports", {"kind": kind}), other.get(f"/exports/{export['id']}")):
            assert answer.status_code == 403
            assert answer.json()["required_scopes"] == [f"read_{kind}"]
        assert other_api.get(f"/exports/{export['id']}").status_code == 404
    started = AuditEntry.objects.filter(shop=shop, action="export.started").values_list("object_name", flat=True)
    assert sorted(started) == ["customers", "inventory", "orders", "products"]


@pytest.mark.rule("R-SYNC-20")
def test_the_link_ends_and_cannot_be_altered_or_used_in_another_shop(shop, other_shop, api, cast):
    url = exported(api, kind="products")["url"]
    path = url.removeprefix(shop.base_url)
    hosts = {"shop.example.com": path, "other.example.com": path}
    answers = [api.http.get(path, headers={"Host": host}).status_code for host, path in hosts.items()]
    assert answers == [200, 403]
    for altered in (path + "0", path.replace("expires=", "expires=1"), path.partition("?")[0]):
        assert api.http.get(altered, headers={"Host": "shop.example.com"}).status_code == 403
    with time_machine.travel(clock.now() + timedelta(minutes=61), tick=False):
        assert api.http.get(path, headers={"Host": "shop.example.com"}).status_code == 403


@pytest.mark.rule("R-SYNC-20")
def test_an_export_and_its_file_are_deleted_after_a_day(api, cast):
    export = exported(api, kind="products")
    assert len(files_left()) == 1
    now = clock.now()
    assert jobs.delete_old_exports(now=now + timedelta(hours=23), limit=10) == 0
    assert jobs.delete_old_exports(now=now + timedelta(hours=25), limit=10) == 1
    assert files_left() == []
    assert api.get(f"/exports/{export['id']}").status_code == 404


@pytest.mark.rule("R-SYNC-21")
def test_two_exports_of_a_shop_run_at_most_and_others_are_refused(shop, api, other_api):
    answers = run_concurrently(*[lambda: api.post("/exports", {"kind": "products"}).status_code] * 5)
    assert sorted(answers) == [201, 201, 422, 422, 422]
    assert other_api.post("/exports", {"kind": "products"}).status_code == 201
    answer = api.post("/exports", {"kind": "products"})
    assert (answer.json()["code"], Export.objects.filter(shop=shop).count()) == ("too_many_exports", 2)
    run_due_tasks()
    assert api.post("/exports", {"kind": "products"}).status_code == 201


def test_an_export_whose_worker_was_killed_runs_again_or_is_given_up(shop, api, cast):
    id = api.post("/exports", {"kind": "products"}).json()["data"]["id"]
    Export.objects.filter(pk=id).update(state="running", heartbeat_at=clock.now(), rows=1)
    late = clock.now() + timedelta(minutes=11)
    assert jobs.give_up_silent_exports(now=clock.now(), limit=10) == 0
    assert jobs.give_up_silent_exports(now=late, limit=10) == 1
    record = api.get(f"/exports/{id}").json()["data"]
    assert (record["state"], record["reason"]) == ("failed", jobs.WENT_AWAY)
    again = api.post("/exports", {"kind": "products"}).json()["data"]["id"]
    Export.objects.filter(pk=again).update(state="running", heartbeat_at=clock.now(), rows=1)
    run_due_tasks()
    assert api.get(f"/exports/{again}").json()["data"]["rows"] == 2


def test_a_failure_is_told_and_leaves_no_file(api, cast):
    id = api.post("/exports", {"kind": "products"}).json()["data"]["id"]
    Export.objects.filter(pk=id).update(kind="gone")
    run_due_tasks()
    assert Export.objects.get(pk=id).reason == jobs.BROKE
    assert files_left() == []


def test_the_worker_sweeps_exports_and_changes():
    assert {"old exports", "interrupted exports", "old changes"} <= {sweep.name for sweep in SWEEPS}
    assert not DBTaskResult.objects.exists()
