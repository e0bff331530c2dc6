"""A PATCH or DELETE with `If-Match` changes only the record that the caller has read (R-CALL-30)."""

from dataclasses import dataclass

import pytest
from django.db import connection  # noqa: F401, named in a mark

from storefront.catalogue.models import Product
from storefront.catalogue.stock import StockUse, take_stock
from tests.catalogue.factories import make_product, make_variant
from tests.client import ApiClient
from tests.customers.factories import make_customer
from tests.factories.apps import install
from tests.orders.factories import make_order, sale_line
from tests.races import run_after_waiting_for, run_concurrently
from tests.shops.factories import NOW

RECORDS = {
    "/api/v1/orders": {"note": "gift"},
    "/api/apps/orders": {"note": "gift"},
    "/api/v1/customers": {"first_name": "Ada"},
    "/api/apps/customers": {"first_name": "Ada"},
    "/api/apps/products": {"name": "Cup"},
    "/api/apps/extensions": {"callback_url": "https://app.example.com/other"},
    "/api/apps/webhooks": {"address": "https://app.example.com/other"},
}
REGISTERED = {
    "extensions": {"type": "checkout_block", "callback_url": "https://app.example.com/block"},
    "webhooks": {"topic": "order.placed", "address": "https://app.example.com/hook"},
}


@dataclass
class Record:
    api: ApiClient
    path: str
    change: dict

    def read(self, **headers: str):
        return self.api.get(self.path, **headers)

    def write(self, **headers: str):
        return self.api.patch(self.path, self.change, **headers)


def make_record(shop, path: str, *scopes: str) -> Record:
    kind = path.rpartition("/")[2]
    if kind in REGISTERED:
        api = install(shop, *(scopes or (f"write_{kind}",))).api
        id = api.post(f"/{kind}", REGISTERED[kind]).json()[kind.removesuffix("s")]["id"]
        api.prefix = path
        return Record(api, f"/{id}", RECORDS[path])
    if kind == "customers":
        id = make_customer(shop).pk
    else:
        mug = make_product(shop, "Mug", stock_qty=5)
        id = mug.pk if kind == "products" else make_order(shop, sale_line(mug)).pk
    api = install(shop, *(scopes or (f"read_{kind}", f"write_{kind}"))).api
    api.prefix = path
    return Record(api, f"/{id}", RECORDS[path])


@pytest.fixture(params=RECORDS)
def record(request, shop) -> Record:
    return make_record(shop, request.param)


@pytest.mark.rule("R-CALL-30")
def test_a_write_with_the_current_etag_is_carried_out_and_gives_the_next(record):
    read = record.read()
    written = record.write(If_Match=read["ETag"])
    assert (written.status_code, written.json()) == (200, record.read().json())
    assert written["ETag"] == record.read()["ETag"] != read["ETag"]


@pytest.mark.rule("R-CALL-30")
def test_a_write_with_an_old_etag_changes_nothing(record):
    old = record.read()["ETag"]
    record.write()
    now = record.read()
    for named in (old, '"other"', f"W/{now['ETag']}", now["ETag"].strip('"'), ""):
        answer = record.write(If_Match=named)
        assert (answer.status_code, answer.json()["code"]) == (412, "precondition_failed"), named
    assert record.read().content == now.content


def test_any_of_several_etags_an_asterisk_and_that_of_a_compressed_answer_match(record):
    for named in ('"other", {}', "*", "{}"):
        etag = record.read()["ETag"]
        etag = f'{etag[:-1]}-gzip"' if named == "{}" else etag
        assert record.write(If_Match=named.format(etag)).status_code == 200


def test_a_read_with_the_current_etag_is_not_sent_again(record):
    etag = record.read()["ETag"]
    again = record.read(If_None_Match=etag)
    assert (again.status_code, again.content, again["ETag"]) == (304, b"", etag)
    compressed = f'{etag[:-1]}-gzip"'
    assert record.read(If_None_Match=f'"other", {compressed}')["ETag"] == compressed
    assert record.read(If_None_Match='"other"').status_code == 200


def test_a_record_that_is_missing_or_another_shops_is_not_found(record, other_shop, shop):
    elsewhere = make_record(other_shop, record.api.prefix)
    record.path = elsewhere.path
    assert record.write(If_Match="*").status_code == 404
    record.path = "/999999"
    assert record.write(If_Match="*").status_code == 404


@pytest.mark.parametrize("path", [path for path in RECORDS if path.rpartition("/")[2] not in REGISTERED])
def test_a_caller_who_may_not_read_gets_no_etag(shop, path):
    record = make_record(shop, path, f"write_{path.rpartition('/')[2]}")
    answer = record.write()
    assert (answer.status_code, answer.has_header("ETag")) == (200, False)


@pytest.mark.parametrize("path", ["/api/apps/products", "/api/apps/extensions", "/api/apps/webhooks"])
def test_a_record_is_deleted_only_as_it_was_read(shop, path):
    record = make_record(shop, path)
    old = record.read()["ETag"]
    record.write()
    assert record.api.delete(record.path, If_Match=old).status_code == 412
    assert record.api.delete(record.path, If_Match=record.read()["ETag"]).status_code == 200


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("path", RECORDS)
def test_of_two_writers_with_the_same_etag_one_is_carried_out(shop, path):
    record = make_record(shop, path)
    etag = record.read()["ETag"]
    (member,) = record.change
    writers = [
        lambda text=f"https://app.example.com/{number}": (
            record.api.patch(record.path, {member: text}, If_Match=etag).status_code
        )
        for number in range(4)
    ]
    assert sorted(run_concurrently(*writers)) == [200, 412, 412, 412]


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif("connection.vendor != 'postgresql'", reason="SQLite has one writer at a time")
def test_a_sale_of_a_variant_meanwhile_is_not_overwritten(shop):
    record = make_record(shop, "/api/apps/products")
    mug = Product.objects.get()
    blue = make_variant(mug, stock_qty=3)
    record.change = {"variants": [{"id": blue.pk, "stock_qty": 5}]}
    etag = record.read()["ETag"]
    answer = run_after_waiting_for(
        lambda: take_stock(shop=shop, uses=[StockUse("variant", blue.pk, 1)], now=NOW),
        lambda: record.write(If_Match=etag),
    )
    blue.refresh_from_db()
    assert (answer.status_code, blue.stock_qty) == (412, 2)
