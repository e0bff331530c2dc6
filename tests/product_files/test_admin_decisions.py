"""An upload that updates products waits until somebody has seen what it would change. A button undoes an import."""

from datetime import timedelta

import pytest

from storefront.catalogue.models import Product
from storefront.kit import clock
from storefront.product_files import deciding, undo_jobs
from storefront.product_files.models import ProductImport
from storefront.server.worker.sweeps import SWEEPS
from storefront.shops.models import AuditEntry, Shop
from tests.catalogue.factories import make_product
from tests.product_files.test_admin_imports import files_left, no_files_of_other_tests, upload, work  # noqa: F401
from tests.product_files.test_import_gate import changed, mugs
from tests.races import run_concurrently
from tests.shops.factories import NOW, make_shop
from tests.staff import admin_url


@pytest.fixture
def role() -> str:
    return "manager"


def button(row: ProductImport, name: str) -> str:
    return admin_url(row, "change").replace("change/", f"{name}/")


def asked(desk, content: str) -> ProductImport:
    """An upload that updates products, as the worker leaves it."""
    upload(desk, content.encode(), update="on")
    work()
    return ProductImport.objects.latest("pk")


def prices(shop) -> set[str]:
    return {str(price) for price in Product.objects.filter(shop=shop).values_list("price", flat=True)}


def test_an_update_asks_and_is_imported_once_confirmed(desk, shop, other_shop):
    mugs(shop, 3)
    mugs(other_shop, 3)
    row = asked(desk, changed(range(3), price="9.00"))
    assert (row.state, row.updated, prices(shop)) == ("asking", 3, {"9.50"})
    page = desk.page(row).content.decode()
    assert "Waits for you" in page
    assert "Nothing is imported yet. It would be: 0 created, 3 updated" in page
    assert "prices down" in page
    assert 'href="../confirm/"' in page
    assert "Mug 0: price 9.50 to 9.00" in page
    assert 'hx-trigger="every 2s"' not in page
    assert len(files_left()) == 1
    question = desk.get(button(row, "confirm")).content.decode()
    assert "Prices down: 3" in question
    assert "checkbox" not in question
    desk.post(button(row, "confirm"))
    work()
    row.refresh_from_db()
    assert (row.state, row.updated, prices(shop), prices(other_shop)) == ("done", 3, {"9.00"}, {"9.50"})
    assert [entry.action for entry in AuditEntry.objects.filter(object_id=row.pk, object_type="import")] == [
        "import.finished",
        "import.confirmed",
    ]


def test_a_rule_that_trips_is_ticked_by_itself(desk, shop):
    mugs(shop, 5)
    row = asked(desk, changed(range(5), price="0.00"))
    assert {"zero-price", "repriced"} == set(deciding.shown_rules(row))
    assert "5 prices would be set to 0.00" in desk.page(row).content.decode()
    question = desk.get(button(row, "confirm")).content.decode()
    assert 'name="accept-zero-price" required' in question
    for ticked in ({}, {"accept-zero-price": "on"}):
        page = desk.post(button(row, "confirm"), ticked, follow=True).content.decode()
        assert "Tick each of the changes that you mean" in page
        row.refresh_from_db()
        assert (row.state, prices(shop)) == ("asking", {"9.50"})
    desk.post(button(row, "confirm"), {"accept-zero-price": "on", "accept-repriced": "on"})
    work()
    assert prices(shop) == {"0.00"}


def test_it_asks_again_if_more_would_happen_by_then(desk, shop):
    mugs(shop, 5)
    Product.objects.filter(slug="mug-0").update(price="9.00")
    Product.objects.exclude(slug="mug-0").update(price="0.00")
    row = asked(desk, changed(range(5), price="0.00"))
    assert set(deciding.shown_rules(row)) == {"zero-price"}
    Product.objects.update(price="9.50")
    desk.post(button(row, "confirm"), {"accept-zero-price": "on"})
    work()
    row.refresh_from_db()
    assert (row.state, row.accepted, prices(shop)) == ("asking", None, {"9.50"})
    assert "changed since this import was confirmed" in desk.page(row).content.decode()
    assert set(deciding.shown_rules(row)) == {"zero-price", "repriced"}
    assert len(files_left()) == 1


def test_what_is_declined_is_not_imported_and_its_file_is_deleted(desk, shop, django_capture_on_commit_callbacks):
    mugs(shop, 3)
    row = asked(desk, changed(range(3), price="9.00"))
    with django_capture_on_commit_callbacks(execute=True):
        desk.post(button(row, "decline"), {"_form_submitted": "on"})
    row.refresh_from_db()
    assert (row.state, prices(shop), files_left()) == ("declined", {"9.50"}, [])
    assert "Nothing was imported" in desk.page(row).content.decode()
    page = desk.post(button(row, "confirm"), follow=True).content.decode()
    assert "decided about this import already" in page
    work()
    assert prices(shop) == {"9.50"}


def test_an_update_without_changes_does_not_ask(desk, shop):
    mugs(shop, 3)
    row = asked(desk, changed(range(3), price="9.50") + changed(range(3, 4), price="1.00"))
    assert (row.state, row.created, row.skipped) == ("done", 1, 3)


def test_pressing_twice_imports_once(desk, shop):
    mugs(shop, 3)
    row = asked(desk, changed(range(3), price="9.00"))
    desk.post(button(row, "confirm"))
    assert "decided about this import already" in desk.post(button(row, "confirm"), follow=True).content.decode()
    work()
    assert AuditEntry.objects.filter(action="import.finished").count() == 1


def test_nobody_decides(desk, shop, django_capture_on_commit_callbacks):
    mugs(shop, 3)
    row = asked(desk, changed(range(3), price="9.00"))
    later = row.heartbeat_at + deciding.UNDECIDED
    assert deciding.decline_undecided(now=later, limit=10) == 0
    with django_capture_on_commit_callbacks(execute=True):
        assert deciding.decline_undecided(now=later + timedelta(seconds=1), limit=10) == 1
    row.refresh_from_db()
    assert (row.state, row.reason, files_left()) == ("declined", deciding.EXPIRED, [])
    assert any(sweep.batch is deciding.decline_undecided for sweep in SWEEPS)


def test_a_shop_has_few_undecided_imports(desk, shop, other_shop, monkeypatch):
    monkeypatch.setattr(deciding, "MAX_ASKING", 1)
    make_product(other_shop, "Mug 0")
    ProductImport.objects.create(shop=other_shop, file_name="a", state="asking", created_at=NOW)
    mugs(shop, 1)
    assert asked(desk, changed(range(1), price="9.00")).state == "asking"
    upload(desk, changed(range(1), price="9.00").encode())
    assert ProductImport.objects.filter(shop=shop).count() == 1


def test_another_shops_import_is_not_found(desk, shop, other_shop):
    row = ProductImport.objects.create(shop=other_shop, file_name="a", state="asking", created_at=NOW)
    for name in ("confirm", "decline", "undo"):
        assert desk.post(button(row, name)).status_code == 404


@pytest.mark.slow
def test_an_import_is_undone_by_its_button(desk, shop):
    mugs(shop, 3)
    row = asked(desk, changed(range(3), price="9.00") + changed(range(3, 4), price="1.00"))
    assert "Undo" not in [str(each) for each in desk.page(row).context_data.get("actions_detail", ())]
    desk.post(button(row, "confirm"))
    work()
    Product.objects.filter(slug="mug-0").update(price="8.00")
    question = desk.get(button(row, "undo")).content.decode()
    assert "Put back or removed: 3" in question
    assert "Mug 0: its price changed since" in question
    desk.post(button(row, "undo"))
    row.refresh_from_db()
    assert row.state == "undoing"
    assert 'hx-trigger="every 2s"' in desk.page(row).content.decode()
    assert "is being undone" in desk.post(button(row, "undo"), follow=True).content.decode()
    work()
    assert prices(shop) == {"8.00", "9.50", "1.00"}
    assert Product.objects.filter(shop=shop, deleted_at=None).count() == 3
    row.refresh_from_db()
    assert row.state == "undone"
    page = desk.page(row).content.decode()
    assert "3 put back or removed, 1 left" in page
    assert "Mug 0: its price changed since" in page
    entries = AuditEntry.objects.filter(object_type="import", actor_name="anna@example.com")
    assert {"import.undo_started", "import.undone"} <= set(entries.values_list("action", flat=True))


def test_an_undoing_that_was_stopped_can_be_started_again(desk, shop):
    mugs(shop, 3)
    row = asked(desk, changed(range(3), price="9.00"))
    desk.post(button(row, "confirm"))
    work()
    desk.post(button(row, "undo"))
    undo_jobs.undo_stopped(shop.pk, row.pk, reason="it took too long")
    assert "Undo it again to continue" in desk.page(row).content.decode()
    desk.post(button(row, "undo"))
    work()
    assert prices(shop) == {"9.50"}


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_two_decisions_at_once():
    shop = make_shop()
    row = ProductImport.objects.create(
        shop=shop, file_name="a", state="asking", created_at=NOW, impact={"trips": []}, heartbeat_at=NOW
    )

    def confirm() -> None:
        deciding.confirm_import(shop=Shop.objects.get(), row=row, accepted=[], now=clock.now())

    def decline() -> None:
        deciding.decline_import(shop=Shop.objects.get(), row=row, now=clock.now())

    results = run_concurrently(confirm, decline, confirm, refusal=deciding.AlreadyDecided)
    assert results.count(None) == 1
    row.refresh_from_db()
    assert row.state == ("declined" if results[1] is None else "waiting")
    assert AuditEntry.objects.filter(action__in=["import.confirmed", "import.declined"]).count() == 1
