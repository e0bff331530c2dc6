"""A product file uploaded in the admin: read in the background, reported, and thrown away."""

from datetime import timedelta

import pytest
from django.core.files.storage import storages
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils.html import escape
from django_tasks_db.models import DBTaskResult

from storefront.catalogue import jobs
from storefront.catalogue.models import Product, ProductImport
from storefront.kit import clock
from storefront.server.worker import Worker
from tests.catalogue.factories import make_product
from tests.staff import Desk, admin_url, make_staff, open_desk

MUG = b'{"name": "Mug", "sku": "M1", "price": "9.50", "status": "active"}\n'
BROKEN = b'{"name": "Cup", "sku": "C1", "price": "a lot"}\n'


@pytest.fixture
def desk(shop) -> Desk:
    return open_desk(make_staff(shop, role="staff"))


def upload(desk, content: bytes, name: str = "products.jsonl", **given):
    return desk.fill(ProductImport, file=SimpleUploadedFile(name, content), format="auto", **given)


def work() -> None:
    for waiting in DBTaskResult.objects.filter(status="READY"):
        waiting.task.call(*waiting.args_kwargs["args"])
        waiting.delete()


def files_left() -> list[str]:
    storage = storages["private"]
    return storage.listdir("imports")[1] if storage.exists("imports") else []


@pytest.fixture(autouse=True)
def no_files_of_other_tests():
    for name in files_left():
        storages["private"].delete(f"imports/{name}")


def test_a_file_is_imported_in_the_background(desk, shop):
    answer = upload(desk, MUG)
    row = ProductImport.objects.get()
    assert answer["Location"] == admin_url(row, "change")
    assert (row.shop, row.state, row.file_name) == (shop, "waiting", "products.jsonl")
    assert "Waits for the worker" in desk.page(row).content.decode()
    work()
    row.refresh_from_db()
    assert (row.state, row.created, row.failed, row.percent) == ("done", 1, 0, 100)
    assert Product.objects.get(shop=shop).name == "Mug"
    assert "1 created, 0 updated" in desk.page(row).content.decode()


def test_the_file_is_gone_afterwards(desk, shop, django_capture_on_commit_callbacks):
    upload(desk, MUG)
    assert len(files_left()) == 1
    with django_capture_on_commit_callbacks(execute=True):
        work()
    assert files_left() == []
    assert not ProductImport.objects.get().file


def test_the_page_follows_the_import_until_it_has_ended(desk, shop):
    upload(desk, MUG)
    row = ProductImport.objects.get()
    assert 'hx-trigger="every 2s"' in desk.page(row).content.decode()
    work()
    assert 'hx-trigger="every 2s"' not in desk.page(row).content.decode()


def test_rows_that_fail_are_named_and_the_rest_goes_on(desk, shop):
    upload(desk, BROKEN + MUG)
    work()
    row = ProductImport.objects.get()
    assert (row.state, row.created, row.failed) == ("done", 1, 1)
    problem = row.problems[0]
    assert (problem["line"], problem["column"]) == (1, "price")
    assert escape(problem["reason"]) in desk.page(row).content.decode()


def test_the_report_is_a_download_that_no_spreadsheet_runs(desk, shop):
    row = ProductImport.objects.create(
        shop=shop,
        file_name="p.csv",
        state="done",
        created_at=clock.now(),
        problems=[{"line": 2, "column": "=1+1", "reason": "Expected a price.", "severity": "error"}],
    )
    report = desk.get(admin_url(row, "change").replace("change/", "report/"))
    assert "attachment" in report["Content-Disposition"]
    assert report.content.decode("utf-8-sig").splitlines() == [
        "line,column,reason,severity",
        "2,'=1+1,Expected a price.,error",
    ]


def test_a_try_changes_nothing_and_says_what_would(desk, shop):
    upload(desk, MUG, dry_run="on")
    work()
    page = desk.page(ProductImport.objects.get()).content.decode()
    assert not Product.objects.exists()
    assert "Nothing was changed, this was a try: 1 created" in page


def test_products_that_are_there_are_changed_when_asked(desk, shop, other_shop):
    make_product(shop, "Mug", sku="M1", price="5.00")
    theirs = make_product(other_shop, "Mug", sku="M1", price="5.00")
    upload(desk, MUG)
    work()
    assert str(Product.objects.get(shop=shop).price) == "5.00"
    upload(desk, MUG, update="on")
    work()
    assert str(Product.objects.get(shop=shop).price) == "9.50"
    theirs.refresh_from_db()
    assert str(theirs.price) == "5.00"


def test_a_file_of_another_kind_is_refused_in_a_sentence(desk, shop):
    upload(desk, b"\x89PNG\r\n\x1a\n not products", "cup.png")
    work()
    row = ProductImport.objects.get()
    assert row.state == "failed"
    assert row.reason
    assert "Traceback" not in row.reason
    assert row.reason.split(".")[0][:20] in desk.page(row).content.decode()


def test_no_file_is_a_field_error(desk, shop):
    page = desk.fill(ProductImport, format="auto")
    assert page.context_data["adminform"].form.errors["file"]
    assert not DBTaskResult.objects.exists()


def test_too_large_a_file_is_refused_before_it_is_read(desk, shop, monkeypatch):
    monkeypatch.setattr("storefront.kit.uploads.LARGEST_UPLOAD", 100)
    monkeypatch.setattr("storefront.kit.uploads._ENVELOPE", 0)
    assert upload(desk, MUG * 10).status_code in (400, 413)
    assert not ProductImport.objects.exists()


def test_a_defect_ends_the_import_with_a_sentence(desk, shop, monkeypatch):
    def broken(**_given):
        raise ZeroDivisionError("secret detail")

    monkeypatch.setattr(jobs, "import_products", broken)
    upload(desk, MUG)
    work()
    row = ProductImport.objects.get()
    assert (row.state, row.reason) == ("failed", jobs.BROKE)


def test_an_import_whose_worker_was_killed_does_not_run_for_ever(desk, shop, django_capture_on_commit_callbacks):
    upload(desk, MUG)
    row = ProductImport.objects.get()
    now = clock.now()
    ProductImport.objects.update(state="running", heartbeat_at=now - jobs.SILENCE + timedelta(seconds=1))
    assert jobs.give_up_silent_imports(now=now, limit=10) == 0
    with django_capture_on_commit_callbacks(execute=True):
        assert jobs.give_up_silent_imports(now=now + timedelta(seconds=2), limit=10) == 1
    row.refresh_from_db()
    assert (row.state, row.reason) == ("failed", jobs.WENT_AWAY)
    assert files_left() == []
    # A worker that comes upon it later leaves it alone.
    work()
    assert not Product.objects.exists()


def test_the_worker_looks_for_such_imports():
    assert any(sweep.batch is jobs.give_up_silent_imports for sweep in Worker().sweeps)


def test_an_interrupted_import_begins_anew(desk, shop):
    upload(desk, MUG)
    row = ProductImport.objects.get()
    make_product(shop, "Mug", slug="mug", sku="M1")
    ProductImport.objects.update(state="running", heartbeat_at=clock.now())
    work()
    row.refresh_from_db()
    assert (row.state, row.skipped) == ("done", 1)
    assert Product.objects.count() == 1


@pytest.mark.parametrize("format", ["native", "woocommerce", "shopify"])
def test_all_products_are_exported(desk, shop, other_shop, format):
    make_product(shop, "Mug")
    make_product(other_shop, "Theirs")
    answer = desk.get(f"/admin/catalogue/productimport/export/{format}/")
    text = b"".join(answer.streaming_content).decode()
    assert "attachment" in answer["Content-Disposition"]
    assert "Mug" in text
    assert "Theirs" not in text
