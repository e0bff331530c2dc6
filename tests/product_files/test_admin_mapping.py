"""A table of no known format waits in the admin until its columns are mapped, and the mapping is kept for the next."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from storefront.catalogue.models import Product
from storefront.kit import clock
from storefront.product_files import jobs
from storefront.product_files.mapped import kept
from storefront.product_files.mapped.mapping import Mapping
from storefront.product_files.mapped.samples import MAX_COLUMNS
from storefront.product_files.models import ColumnMapping, ProductImport
from storefront.server.worker.sweeps import SWEEPS
from tests.product_files.test_admin_imports import files_left, no_files_of_other_tests, upload, work
from tests.product_files.workbooks import workbook
from tests.staff import admin_url

TABLE = b"Artikel;Art.-Nr.;VK;Farbton\nMug;M-1;9,50;blue\nCup;C-1;a lot;red\n"

# Used by every test of this file, too.
__all__ = ["no_files_of_other_tests"]


@pytest.fixture
def role() -> str:
    return "manager"


@pytest.fixture
def waiting(desk, shop) -> ProductImport:
    """An import of a table that needs a mapping."""
    upload(desk, TABLE, "prices.csv")
    work()
    return ProductImport.objects.get()


def mapping_url(row: ProductImport) -> str:
    return admin_url(row, "change").replace("change/", "mapping/")


def filled(desk, row: ProductImport, **changes: str) -> dict[str, str]:
    form = desk.get(mapping_url(row)).context_data["form"]
    return {field.html_name: field.value() or "" for field in form} | changes


def test_a_table_of_no_known_format_waits_with_its_file(desk, waiting):
    assert (waiting.state, waiting.has_ended, waiting.reason) == ("unmapped", False, "")
    assert len(files_left()) >= 1
    page = desk.page(waiting).content.decode()
    assert 'href="../mapping/"' in page
    assert 'hx-trigger="every 2s"' not in page
    assert not Product.objects.exists()


def test_the_page_guesses_members_and_shows_the_first_products_with_problems(desk, waiting):
    given = filled(desk, waiting)
    assert [given[f"column_{n}"] for n in range(4)] == ["name", "sku", "price", ""]
    page = desk.post(mapping_url(waiting), given | {"step": "preview"}).content.decode()
    assert "Mug" in page
    assert "9.50" in page
    assert "line 3, VK: expected a number, found &#x27;a lot&#x27;" in page
    waiting.refresh_from_db()
    assert waiting.state == "unmapped"
    assert not Product.objects.exists()


def test_the_mapped_file_is_imported_once_and_deleted(desk, shop, waiting, django_capture_on_commit_callbacks):
    given = filled(desk, waiting, constant_status="draft") | {"step": "import"}
    assert desk.post(mapping_url(waiting), given)["Location"] == admin_url(waiting, "change")
    desk.post(mapping_url(waiting), given)
    with django_capture_on_commit_callbacks(execute=True):
        work()
    waiting.refresh_from_db()
    assert (waiting.state, waiting.created, waiting.failed, waiting.sample) == ("done", 1, 1, None)
    assert Product.objects.values_list("name", "sku", "status").get(shop=shop) == ("Mug", "M-1", "draft")
    assert files_left() == []
    assert "Art.-Nr." in desk.page(waiting).content.decode()


@pytest.mark.slow
def test_the_mapping_is_kept_for_the_next_file_with_these_columns_alone(desk, shop, other_shop, waiting):
    desk.post(mapping_url(waiting), filled(desk, waiting) | {"step": "import"})
    work()
    upload(desk, workbook([["Artikel", "Art.-Nr.", "VK", "Farbton"], ["Jar", "J-1", 7, "green"]]), "next.xlsx")
    work()
    assert ProductImport.objects.first().state == "done"
    assert Product.objects.filter(shop=shop, sku="J-1", price=7).exists()
    upload(desk, TABLE.replace(b"VK", b"EK"), "other.csv")
    work()
    assert ProductImport.objects.first().state == "unmapped"
    assert kept.kept_mapping(other_shop, ["Artikel", "Art.-Nr.", "VK", "Farbton"]) is None


def test_an_export_that_is_not_read_is_named_and_can_be_mapped(desk):
    upload(desk, b"sku,attribute_set_code,product_type,name,price,qty\nM,Default,simple,Mug,9.50,3\n", "magento.csv")
    work()
    row = ProductImport.objects.get()
    assert row.state == "unmapped"
    assert "This is an export of Magento" in desk.page(row).content.decode()
    desk.post(mapping_url(row), filled(desk, row) | {"step": "import"})
    work()
    row.refresh_from_db()
    assert (row.state, row.created, row.reason) == ("done", 1, "")
    assert Product.objects.values_list("name", "price", "stock_qty").get() == ("Mug", Decimal("9.5"), 3)


def test_a_mapping_that_cannot_be_used_is_refused_with_the_reason(desk, waiting):
    given = filled(desk, waiting, column_3="price", column_0="") | {"step": "import"}
    page = desk.post(mapping_url(waiting), given).content.decode()
    assert "Price has 2 columns." in page
    given = filled(desk, waiting, column_0="", column_1="") | {"step": "import"}
    assert "No column is the name, SKU or slug" in desk.post(mapping_url(waiting), given).content.decode()
    waiting.refresh_from_db()
    assert waiting.state == "unmapped"


def test_of_two_columns_with_one_header_each_can_be_mapped(desk, shop):
    upload(desk, b"Artikel,VK,Artikel\nMug,9.50,Blue\nArtikel,VK,Artikel\n", "twice.csv")
    work()
    row = ProductImport.objects.get()
    labels = [each.label for each in desk.get(mapping_url(row)).context_data["form"].columns()]
    assert labels == ["Artikel", "VK", "Artikel (2)"]
    desk.post(mapping_url(row), filled(desk, row, column_0="", column_2="name") | {"step": "import"})
    work()
    assert list(Product.objects.values_list("name", flat=True)) == ["Blue"]
    upload(desk, b"Artikel,VK,Artikel\nMug,9.50,Red\n", "again.csv")
    work()
    assert sorted(Product.objects.values_list("name", flat=True)) == ["Blue", "Red"]


def test_texts_that_no_database_can_store_do_not_stop_the_page(desk, shop):
    upload(desk, b"Artikel,VK\nM\0ug,9.50\n\xff\xfe cup,9\n" + "Über,1\nÄpfel,2\n".encode(), "odd.csv")
    work()
    row = ProductImport.objects.get()
    assert row.state == "unmapped"
    given = filled(desk, row) | {"step": "import"}
    assert desk.post(mapping_url(row), given | {"step": "preview"}).status_code == 200
    desk.post(mapping_url(row), given)
    work()
    row.refresh_from_db()
    assert row.state == "done"
    assert any("NUL" in each["reason"] for each in row.problems)


def test_a_member_that_is_not_offered_is_a_field_error(desk, waiting):
    page = desk.post(mapping_url(waiting), filled(desk, waiting, column_0="shop_id") | {"step": "import"})
    assert "column_0" in page.context_data["form"].errors
    assert not ColumnMapping.objects.exists()


def test_another_shop_sees_neither_the_page_nor_the_mapping(desk, other_shop, waiting):
    ProductImport.objects.update(shop=other_shop)
    assert desk.get(mapping_url(waiting)).status_code == 404
    assert desk.post(mapping_url(waiting), {"step": "import"}).status_code == 404


def test_a_file_that_is_never_mapped_is_deleted(desk, waiting, django_capture_on_commit_callbacks):
    late = clock.now() + jobs.KEPT_UNMAPPED + timedelta(minutes=1)
    assert jobs.give_up_unmapped_imports(now=clock.now(), limit=10) == 0
    with django_capture_on_commit_callbacks(execute=True):
        assert jobs.give_up_unmapped_imports(now=late, limit=10) == 1
    waiting.refresh_from_db()
    assert (waiting.state, waiting.reason, waiting.sample) == ("failed", jobs.NOT_MAPPED, None)
    assert files_left() == []
    assert any(sweep.batch is jobs.give_up_unmapped_imports for sweep in SWEEPS)


def test_a_table_that_is_too_wide_for_the_page_is_refused_with_what_to_do(desk):
    header = ",".join(f"c{n}" for n in range(MAX_COLUMNS + 1))
    desk.fill(ProductImport, file=SimpleUploadedFile("wide.csv", f"{header}\n1\n".encode()), format="auto")
    work()
    row = ProductImport.objects.get()
    assert row.state == "failed"
    assert "--map" in row.reason


def test_a_shop_keeps_its_newest_mappings(shop, other_shop, monkeypatch):
    monkeypatch.setattr(kept, "MAX_KEPT", 2)
    now = clock.now()
    kept.keep_mapping(other_shop, ["A"], Mapping({"A": "name"}), now=now)
    for number in range(3):
        headers = [f"H{number}"]
        kept.keep_mapping(shop, headers, Mapping({headers[0]: "name"}), now=now + timedelta(seconds=number))
    assert kept.kept_mapping(shop, ["H0"]) is None
    assert kept.kept_mapping(shop, ["H2"]) == Mapping({"H2": "name"})
    assert ColumnMapping.objects.filter(shop=other_shop).count() == 1
