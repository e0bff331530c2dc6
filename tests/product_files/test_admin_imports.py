"""A product file uploaded in the admin is imported in the background, reported and deleted."""

from datetime import timedelta

import pytest
from django.core.files.storage import storages
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from django.utils.html import escape
from django_tasks_db.models import DBTaskResult

from storefront.catalogue.models import Product
from storefront.kit import clock
from storefront.product_files import jobs
from storefront.product_files.importing import Report
from storefront.product_files.models import ImportSource, ProductImport
from storefront.server.worker.sweeps import SWEEPS
from storefront.shops.models import AuditEntry
from tests.catalogue.factories import make_product
from tests.product_files.files import as_csv, woo
from tests.shops.factories import NOW
from tests.staff import admin_url

MUG = b'{"name": "Mug", "sku": "M1", "price": "9.50", "status": "active"}\n'
BROKEN = b'{"name": "Cup", "sku": "C1", "price": "a lot"}\n'


@pytest.fixture
def role() -> str:
    return "manager"


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
    page = desk.page(row).content.decode()
    assert "Waiting to start" in page
    assert 'hx-trigger="every 2s"' in page
    work()
    row.refresh_from_db()
    assert (row.state, row.created, row.failed, row.percent) == ("done", 1, 0, 100)
    assert Product.objects.get(shop=shop).name == "Mug"
    page = desk.page(row).content.decode()
    assert "1 created, 0 updated" in page
    assert 'hx-trigger="every 2s"' not in page


def test_the_file_is_deleted_after_the_import(desk, shop, django_capture_on_commit_callbacks):
    upload(desk, MUG)
    assert len(files_left()) == 1
    with django_capture_on_commit_callbacks(execute=True):
        work()
    assert files_left() == []
    assert not ProductImport.objects.get().file


def test_a_missing_file_is_told_in_words_that_help(desk, shop, caplog):
    upload(desk, MUG)
    storages["private"].delete(ProductImport.objects.get().file.name)
    work()
    row = ProductImport.objects.get()
    assert (row.state, row.reason, row.created) == ("failed", jobs.GONE, 0)
    assert "Please upload it again." in desk.page(row).content.decode()
    assert "upload_unreadable" in caplog.text


def test_failed_rows_are_reported_and_the_others_imported(desk, shop):
    upload(desk, BROKEN + MUG)
    work()
    row = ProductImport.objects.get()
    assert (row.state, row.created, row.failed) == ("done", 1, 1)
    problem = row.problems[0]
    assert (problem["line"], problem["column"]) == (1, "price")
    assert escape(problem["reason"]) in desk.page(row).content.decode()


def test_it_ends_with_links_to_its_products_and_to_what_was_refused(desk, shop, other_shop):
    make_product(shop, "Plate")
    theirs = ProductImport.objects.create(shop=other_shop, created_at=NOW)
    upload(desk, MUG + BROKEN)
    work()
    row = ProductImport.objects.get(shop=shop)
    mug = Product.objects.get(sku="M1")
    page = desk.page(row).content.decode()
    listed = f"{admin_url(Product, 'changelist')}?import={row.pk}"
    report = reverse("admin:catalogue_productimport_download_report", args=[row.pk])
    for url in (admin_url(mug, "change"), listed, report):
        assert f'href="{url}"' in page
    assert list(desk.get(listed).context_data["cl"].result_list) == [mug]
    # Another shop's import is none.
    shown = desk.get(f"{admin_url(Product, 'changelist')}?import={theirs.pk}").context_data["cl"].result_list
    assert {each.name for each in shown} == {"Mug", "Plate"}
    mug.deleted_at = NOW
    mug.save()
    assert listed not in desk.page(row).content.decode()


def test_the_downloaded_report_has_no_formulas(desk, shop):
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
        "line,key,what,reason",
        "2,,error,'=1+1: Expected a price.",
    ]


APPLE = b"ID,SKU,Name,Published,Regular price\n1001,A-1,Apple,1,5\n"
BICYCLE = b"ID,SKU,Name,Published,Regular price\n1001,B-9,Bicycle,1,80\n"


@pytest.mark.slow
def test_conflicts_and_skipped_products_are_shown_until_the_source_is_named(desk, shop, other_shop):
    ImportSource.objects.create(shop=other_shop, name="secret", used_at=clock.now())
    for content in (APPLE, APPLE, BICYCLE):
        upload(desk, content, "products.csv")
        work()
    skipped, conflict = ProductImport.objects.order_by("id")[1:]
    assert (skipped.skipped, conflict.conflicts) == (1, 1)
    page = desk.page(skipped).content.decode()
    assert "ID 1001" in page
    assert "is in the shop already" in page
    page = desk.page(conflict).content.decode()
    assert "1 in conflict" in page
    assert "name it as the source of the import" in page

    form = desk.page(ProductImport, "add").content.decode()
    assert "So far: woocommerce." in form
    assert "secret" not in form
    upload(desk, BICYCLE, "products.csv", source=" bikes ")
    work()
    last = ProductImport.objects.order_by("id").last()
    assert (last.source, last.created) == ("bikes", 1)
    assert b"at most 100" in upload(desk, BICYCLE, "products.csv", source="x" * 101).content


def test_a_dry_run_changes_nothing_and_shows_the_changes(desk, shop):
    upload(desk, MUG, dry_run="on")
    work()
    page = desk.page(ProductImport.objects.get()).content.decode()
    assert not Product.objects.exists()
    assert "Dry run, nothing changed: 1 created" in page


def test_existing_products_are_updated_with_the_option(desk, shop, other_shop):
    make_product(shop, "Mug", sku="M1", price="5.00")
    theirs = make_product(other_shop, "Mug", sku="M1", price="5.00")
    upload(desk, MUG)
    work()
    assert str(Product.objects.get(shop=shop).price) == "5.00"
    upload(desk, MUG, update="on")
    work()
    assert str(Product.objects.get(shop=shop).price) == "5.00"
    desk.post(admin_url(ProductImport.objects.latest("pk"), "change").replace("change/", "confirm/"))
    work()
    assert str(Product.objects.get(shop=shop).price) == "9.50"
    theirs.refresh_from_db()
    assert str(theirs.price) == "5.00"


def test_an_unsupported_file_is_refused_with_a_sentence(desk, shop):
    upload(desk, b"\x89PNG\r\n\x1a\n not products", "cup.png")
    work()
    row = ProductImport.objects.get()
    assert row.state == "failed"
    assert row.reason
    assert "Traceback" not in row.reason
    assert row.reason.split(".")[0][:20] in desk.page(row).content.decode()


def test_an_encoding_can_be_chosen_and_a_detected_one_is_shown(desk, shop):
    content = as_csv([woo(sku="A", name="Кружка для кофе")]).encode("cp1251")
    upload(desk, content, "products.csv")
    work()
    row = ProductImport.objects.get()
    assert "Read as windows-1251." in desk.page(row).content.decode()
    upload(desk, as_csv([woo(sku="B", name="Grüße")]).encode("mac_roman"), "products.csv", encoding="mac-roman")
    work()
    assert sorted(Product.objects.filter(shop=shop).values_list("name", flat=True)) == ["Grüße", "Кружка для кофе"]


def test_an_encoding_that_is_not_offered_is_a_field_error(desk, shop):
    page = upload(desk, MUG, encoding="klingon")
    assert "encoding" in page.context_data["adminform"].form.errors
    assert not ProductImport.objects.exists()


def test_columns_that_are_not_imported_are_shown(desk, shop):
    upload(desk, as_csv([woo() | {"Categorys": "Cups", "Purchase note": "Thanks"}]).encode(), "products.csv")
    work()
    page = desk.page(ProductImport.objects.get()).content.decode()
    assert escape('is not a known column; not imported. Did you mean "Categories"?') in page
    assert "Purchase note" in page


def test_no_file_is_a_field_error(desk, shop):
    page = desk.fill(ProductImport, format="auto")
    assert page.context_data["adminform"].form.errors["file"]
    assert not DBTaskResult.objects.exists()


def test_too_large_a_file_is_refused_before_it_is_read(desk, shop, settings, monkeypatch):
    settings.UPLOAD_BYTES = 100
    monkeypatch.setattr("storefront.kit.files.uploads.MAX_FIELDS_BYTES", 0)
    assert upload(desk, MUG * 10).status_code == 400
    assert not ProductImport.objects.exists()


def test_an_internal_error_ends_the_import_with_a_sentence(desk, shop, monkeypatch):
    def broken(**_given):
        raise ZeroDivisionError("secret detail")

    monkeypatch.setattr(jobs, "import_products", broken)
    upload(desk, MUG)
    work()
    row = ProductImport.objects.get()
    assert (row.state, row.reason) == ("failed", jobs.BROKE)


def test_an_import_that_needs_too_much_memory_ends_clearly(desk, shop, monkeypatch):
    def hungry(*, progress, **_given):
        progress(1, 2, Report(created=3, updated=1))
        raise MemoryError

    monkeypatch.setattr(jobs, "import_products", hungry)
    monkeypatch.setattr(jobs, "HEARTBEAT_EVERY", timedelta(0))
    upload(desk, MUG)
    work()
    row = ProductImport.objects.get()
    assert (row.state, row.created, row.updated) == ("failed", 3, 1)
    assert row.reason.startswith(
        "The import was stopped, because it needed too much memory. Until then, 3 products are"
    )


def test_an_import_whose_worker_was_killed_is_marked_as_failed(desk, shop, django_capture_on_commit_callbacks):
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
    # A worker that gets the task later does not run it.
    work()
    assert not Product.objects.exists()


def test_the_worker_has_the_sweep_for_silent_imports():
    assert any(sweep.batch is jobs.give_up_silent_imports for sweep in SWEEPS)


def test_an_interrupted_import_can_run_again(desk, shop):
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


@pytest.mark.parametrize("format", ["native", "woocommerce", "shopify"])
@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_requests_from_other_sites_cannot_export_products(desk, shop, format, site):
    url = f"/admin/catalogue/productimport/export/{format}/"
    there = {"sec-fetch-site": site, "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
    assert desk.get(url, headers=there).status_code == 403
    assert not AuditEntry.objects.filter(action="products.exported").exists()
    for own in ("same-origin", "none"):
        assert desk.get(url, headers=there | {"sec-fetch-site": own}).status_code == 200
    assert AuditEntry.objects.filter(action="products.exported").count() == 2
