"""A file with everything that a shop has about a person, and nothing secret or of anybody else."""

import json
from datetime import timedelta
from io import BytesIO
from zipfile import ZipFile

import pytest
from django.core.files.storage import storages
from django.db import connection
from django.test.utils import CaptureQueriesContext

from storefront.customers.models import Customer
from storefront.documents.models import Document
from storefront.kit import clock
from storefront.orders.models import Order
from storefront.privacy import actions, jobs
from storefront.privacy.exporting import write_export
from storefront.privacy.kinds import KINDS
from storefront.privacy.models import DataRequest
from storefront.privacy.person import find_person
from storefront.shops.models import Shop
from tests.documents.factories import texts_of
from tests.privacy.lives import EMAIL, TRACES, live, sold
from tests.worker import run_due_tasks

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


def files_of(content: bytes) -> dict[str, bytes]:
    with ZipFile(BytesIO(content)) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name) for name in archive.namelist()}


def exported(shop, email: str = EMAIL) -> dict[str, bytes]:
    out = BytesIO()
    write_export(find_person(shop, email), out)
    return files_of(out.getvalue())


def records(files: dict[str, bytes], kind: str) -> list[dict]:
    return json.loads(files[f"{kind}.json"])


def test_has_everything_that_erasing_would_take_away(shop, other_shop):
    live(shop)
    live(other_shop)
    files = exported(shop)
    assert {f"{kind.name}.json" for kind in KINDS} < set(files)
    text = b"".join(content for name, content in files.items() if name.endswith(".json")).decode()
    # The provider's ids of a saved method are no business of anybody's.
    assert {trace for trace in TRACES if trace.lower() not in text.lower()} == {"cus_ada", "pm_ada"}
    assert not [kind.name for kind in KINDS if not records(files, kind.name)]
    assert [order["id"] for order in records(files, "orders")] == list(
        Order.objects.filter(shop=shop).order_by("pk").values_list("pk", flat=True)
    )
    assert other_shop.domain not in text


def test_the_readme_is_in_the_language_of_the_person(shop, other_shop):
    live(shop)
    live(other_shop)
    Shop.objects.filter(pk=shop.pk).update(further_languages=["de"])
    Customer.objects.filter(shop=shop, email=EMAIL).update(language="de")
    told = exported(Shop.objects.get(pk=shop.pk))["README.txt"].decode()
    assert "What this shop" not in told
    assert "orders.json: Bestellungen (" in told
    assert "orders.json: Orders (" in exported(other_shop)["README.txt"].decode()


def test_has_the_papers_as_pdf(shop):
    live(shop)
    files = exported(shop)
    papers = {name for name in files if name.startswith("papers/")}
    assert papers == {row["file"] for row in records(files, "invoices")}
    assert len(papers) == Document.objects.count() == 3
    assert all("Lovelace" in texts_of(files[name])[0] for name in papers)


def test_has_no_secrets(shop):
    ada = live(shop)
    text = b"".join(exported(shop).values())
    Customer.objects.filter(pk=ada.pk).update(password="md5$salt$hash")
    for secret in ("md5$", str(ada.session_mark), *(card.digest for card in shop.gift_cards.all() if card.digest)):
        assert secret.encode() not in text


def test_somebody_whom_the_shop_does_not_know_gets_empty_lists(shop):
    live(shop)
    files = exported(shop, "nobody@example.com")
    assert not [kind.name for kind in KINDS if records(files, kind.name)]


def test_the_worker_makes_the_file_and_deletes_it_after_a_week(shop):
    live(shop)
    request = actions.open_request(shop=shop, email=EMAIL, now=clock.now())
    actions.start_export(shop=shop, request=request, now=clock.now())
    with pytest.raises(actions.RequestAtWork):
        actions.start_export(shop=shop, request=request, now=clock.now())
    run_due_tasks()
    request.refresh_from_db()
    assert (request.state, request.size) == ("open", request.file.size)
    assert "orders.json" in files_of(request.file.read())
    name = request.file.name
    assert jobs.delete_old_requests(now=clock.now() + timedelta(days=6), limit=10) == 0
    assert jobs.delete_old_requests(now=clock.now() + timedelta(days=8), limit=10) == 1
    assert not storages["private"].exists(name)
    assert jobs.delete_old_requests(now=clock.now() + timedelta(days=31), limit=10) == 1
    assert not DataRequest.objects.exists()


def test_erasing_deletes_the_file_and_keeps_the_row_as_proof(shop):
    live(shop)
    request = actions.open_request(shop=shop, email=EMAIL, now=clock.now())
    for start in (actions.start_export, actions.start_erasure):
        start(shop=shop, request=request, now=clock.now())
        name = DataRequest.objects.get().file.name
        run_due_tasks()
    assert not storages["private"].exists(name)
    assert jobs.delete_old_requests(now=clock.now() + timedelta(days=400), limit=10) == 0
    assert DataRequest.objects.get().erased["orders"] == 2


def test_an_export_whose_worker_is_gone_says_so(shop):
    request = actions.open_request(shop=shop, email=EMAIL, now=clock.now())
    actions.start_export(shop=shop, request=request, now=clock.now())
    assert jobs.resume_silent_requests(now=clock.now() + timedelta(minutes=11), limit=10) == 1
    request.refresh_from_db()
    assert (request.state, request.reason) == ("open", jobs.WENT_AWAY)


def test_takes_no_more_queries_for_more_orders(shop):
    live(shop)

    def queries() -> int:
        with CaptureQueriesContext(connection) as found:
            write_export(find_person(shop, EMAIL), BytesIO())
        return len(found)

    few = queries()
    for _ in range(3):
        sold(shop, EMAIL)
    assert queries() == few <= 60
