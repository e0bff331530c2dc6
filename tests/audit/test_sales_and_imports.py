"""A sale is one entry, and so is an import of any number of products."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command

from storefront.catalogue.models import Product
from storefront.kit import clock
from storefront.product_files import importing, jobs
from storefront.product_files.models import ProductImport
from storefront.shops.models import AuditEntry
from tests.audit.entries import entries, one_entry
from tests.catalogue.factories import make_product
from tests.checkout.shopper import Shopper
from tests.customers.factories import make_customer
from tests.orders.factories import make_order, sale_line
from tests.product_files.test_admin_imports import work
from tests.staff import make_staff, open_desk

FILE = b'{"name": "Mug", "sku": "M1", "price": "9.50"}\n{"name": "Cup", "sku": "C1", "price": "5.00"}\n'


def test_an_order_makes_one_entry_by_the_shopper(shop, other_shop):
    ada = make_customer(shop)
    mug = make_product(shop, "Mug")
    with one_entry(shop) as found:
        order = make_order(shop, sale_line(mug, 2), sale_line(make_product(shop, "Pot")), customer_id=ada.pk)
    (entry,) = found
    assert (entry.action, entry.actor_kind, entry.actor_id, entry.actor_name) == (
        "order.placed",
        "customer",
        ada.pk,
        "",
    )
    assert (entry.object_type, entry.object_id, entry.object_name) == ("order", order.pk, "#1001")
    assert entry.after == {"total": "28.50", "currency": "EUR", "payment_method": "manual", "lines": 2}
    assert "ada@example.com" not in str(list(AuditEntry.objects.values()))


def test_a_guests_order_makes_one_entry_with_their_network_address(shop, api):
    shopper, product = Shopper(shop), make_product(shop, "Mug")
    with one_entry(shop) as found:
        shopper.bring(api, {"product_id": product.pk, "qty": 1})
        assert shopper.order().status_code == 303
    (entry,) = found
    assert (entry.action, entry.actor_kind, entry.actor_id) == ("order.placed", "customer", None)
    assert entry.place == "127.0.0.1"
    assert entry.request_id


def test_an_uploaded_import_makes_one_entry_by_its_uploader(shop, other_shop):
    desk = open_desk(make_staff(shop))
    with one_entry(shop) as found:
        desk.fill(ProductImport, file=SimpleUploadedFile("spring.jsonl", FILE), format="auto")
        work()
    (entry,) = found
    assert (entry.action, entry.object_type, entry.object_name) == ("import.finished", "import", "spring.jsonl")
    assert entry.object_id == ProductImport.objects.get().pk
    assert (entry.actor_kind, entry.actor_name, entry.place) == ("staff", "anna@example.com", "127.0.0.1")
    assert entry.after == {"created": 2, "updated": 0, "skipped": 0, "failed": 0, "conflicts": 0}
    assert "Product file imported" in desk.page(ProductImport.objects.get(), "history").content.decode()


def test_an_import_by_command_makes_one_entry(shop, tmp_path):
    (tmp_path / "spring.jsonl").write_bytes(FILE)
    with one_entry(shop) as found:
        call_command("importproducts", str(tmp_path / "spring.jsonl"), shop=shop.domain)
    assert (found[0].actor_kind, found[0].object_name) == ("command", "spring.jsonl")


def test_a_dry_run_makes_no_entry(shop, tmp_path):
    (tmp_path / "spring.jsonl").write_bytes(FILE)
    before = len(entries(shop))
    call_command("importproducts", str(tmp_path / "spring.jsonl"), shop=shop.domain, dry_run=True)
    assert len(entries(shop)) == before


def test_a_failed_import_is_recorded_with_what_it_did(shop, tmp_path, monkeypatch):
    (tmp_path / "spring.jsonl").write_bytes(FILE)

    def break_down(_read, _size, _report):
        raise RuntimeError

    with one_entry(shop) as found, pytest.raises(RuntimeError):
        importing.import_products(shop=shop, file=tmp_path / "spring.jsonl", now=clock.now(), progress=break_down)
    assert (found[0].action, found[0].after["created"]) == ("import.interrupted", 2)
    assert Product.objects.filter(shop=shop).count() == 2


def test_an_import_whose_worker_was_killed_is_recorded(shop):
    anna = make_staff(shop)
    long_ago = clock.now() - 2 * jobs.SILENCE
    row = ProductImport.objects.create(
        shop=shop, user=anna, file_name="spring.jsonl", state="running", heartbeat_at=long_ago, created_at=long_ago
    )
    with one_entry(shop) as found:
        assert jobs.give_up_silent_imports(now=clock.now(), limit=10) == 1
    assert (found[0].action, found[0].object_id, found[0].actor_id) == ("import.interrupted", row.pk, anna.pk)
