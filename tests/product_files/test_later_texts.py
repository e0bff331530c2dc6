"""Search texts that an import on PostgreSQL has written beside it: they come, whatever fails, and never undo a newer
write."""

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from functools import partial

import pytest
from django.db import OperationalError, connection, connections, transaction
from django.db.models import Sum
from structlog.testing import capture_logs

from storefront.catalogue import actions, awaited_texts
from storefront.catalogue.models import AwaitedTexts, ListingTotal, ProductSearch
from storefront.listing import frequent_words, known_matches, queries, verifying
from storefront.listing.queries import ProductFilters
from storefront.product_files import later_texts
from storefront.product_files.importing import import_products
from storefront.server.worker.sweeps import DATABASE_SWEEPS
from storefront.shops import changes
from storefront.shops.models import Shop
from tests.catalogue.factories import make_product
from tests.races import run_after_waiting_for
from tests.shops.factories import NOW, make_shop

pytestmark = pytest.mark.slow


@pytest.fixture
def shop(transactional_db) -> Shop:
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has one writer, which writes the texts with the products")
    return make_shop()


@pytest.fixture
def file(tmp_path):
    return write_file(tmp_path)


def write_file(folder, count: int = 50, status: str = "active"):
    path = folder / "products.jsonl"
    rows = [{"name": f"Plate number{n:03d}", "price": "1.00", "status": status} for n in range(count)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture
def left_by(shop, tmp_path, monkeypatch):
    """The texts of an import that ended between a batch and its texts."""

    def run(*file) -> AwaitedTexts:
        kept = []
        with monkeypatch.context() as patched:
            patched.setattr(later_texts, "write_awaited", lambda *call: kept.append(call))
            import_products(shop=shop, file=write_file(tmp_path, *file), now=NOW)
        ((awaited, table, rows),) = kept
        awaited.write = partial(awaited_texts.write_awaited, awaited, table, rows)
        return awaited

    return run


@pytest.fixture
def left(left_by) -> AwaitedTexts:
    return left_by()


def closing(call):
    """The call, for another thread, whose connection ends with it."""

    def run():
        try:
            return call()
        finally:
            connections.close_all()

    return run


def later(awaited) -> datetime:
    """When the worker takes care of it."""
    return AwaitedTexts.objects.get(pk=awaited.pk).made_at + awaited_texts.PATIENCE


def found(shop, q: str) -> list[str]:
    return [record["slug"] for record in page(shop, q=q).rows]


def page(shop, **filters):
    return queries.product_page(shop, ProductFilters(**filters), page=1, per_page=100, now=NOW)


def version_of(shop) -> int:
    return ListingTotal.objects.filter(shop=shop, category=0).aggregate(version=Sum("version"))["version"]


def wrong_texts(shop) -> int:
    return sum(each.check == "search text" for each in verifying.deviations(shop))


def test_they_come_with_the_import(shop, file):
    assert found(shop, "number007") == []
    import_products(shop=shop, file=file, now=NOW)
    assert found(shop, "number007") == ["plate-number007"]
    assert page(shop, q="plate").total == 50
    assert not AwaitedTexts.objects.exists()


def test_they_come_at_its_end_if_they_cannot_come_beside_it(shop, file, monkeypatch):
    def fail(*call):
        raise OperationalError("the connection is lost")

    monkeypatch.setattr(later_texts, "write_awaited", fail)
    with capture_logs() as logs:
        import_products(shop=shop, file=file, now=NOW)
    assert [entry["event"] for entry in logs if entry["log_level"] == "warning"] == ["search_texts_not_written"]
    assert page(shop, q="plate").total == 50
    assert not AwaitedTexts.objects.exists()


def test_the_worker_writes_what_a_killed_import_left(shop, left):
    other = make_shop("other")
    make_product(other, "Plate")
    version = version_of(shop)
    assert (page(shop).total, found(shop, "plate"), wrong_texts(shop)) == (50, [], 0)
    (sweep,) = [each for each in DATABASE_SWEEPS if each.name == "search texts that an import left"]
    due = later(left)
    assert sweep.run(now=due - timedelta(seconds=1)) == 0
    assert sweep.run(now=due) == 1
    assert page(shop, q="plate").total == 50
    assert version_of(shop) != version
    assert page(other, q="plate").total == 1
    assert sweep.run(now=due) == 0
    # The import was not killed, only slow.
    left.write()
    assert page(shop, q="plate").total == 50


def test_they_do_not_undo_what_was_written_meanwhile(shop, left):
    renamed, archived, gone, *_ = shop.products.order_by("pk")
    actions.update_product(shop=shop, product=renamed, now=NOW, name="Bowl")
    shop.products.filter(pk=archived.pk).update(status="archived")
    actions.delete_product(shop=shop, product=gone, now=NOW)
    left.write()
    assert found(shop, "bowl") == [renamed.slug]
    assert page(shop, q="plate").total == 47
    assert not ProductSearch.objects.filter(product=gone).exists()
    assert not AwaitedTexts.objects.exists()


def test_searches_find_them_although_they_found_nothing_before(shop, left):
    version, announced = version_of(shop), changes.version(shop.pk)
    assert found(shop, "number007") == []
    left.write()
    # To this process; the announcement to others goes the same way.
    assert changes.version(shop.pk) > announced
    assert found(shop, "number007") == ["plate-number007"]
    assert version_of(shop) != version


def test_they_are_changes_for_the_frequent_words(shop, left, monkeypatch):
    for module in (known_matches, frequent_words):
        monkeypatch.setattr(module, "LARGE_SHOP", 1)
    monkeypatch.setattr(frequent_words, "MIN_TEXTS", 1)
    make_product(shop, "Plate")
    frequent_words.count_words(shop, now=NOW, rest=0)
    assert found(shop, "plate") == ["plate"]
    left.write()
    assert page(shop, q="plate").total == 51


@pytest.mark.parametrize("count", [1, 50])
@pytest.mark.parametrize("status", ["active", "draft"])
def test_they_are_found_as_a_change_of_all_products_says(shop, left_by, count, status):
    left = left_by(count, "draft" if status == "active" else "active")
    assert actions.set_status(shop=shop, products=shop.products.all(), status=status, now=NOW) == count
    left.write()
    assert page(shop, q="plate").total == page(shop).total == (count if status == "active" else 0)
    assert wrong_texts(shop) == 0


def test_a_deleted_product_gets_no_text(shop, left_by):
    left = left_by(1)
    actions.delete_product(shop=shop, product=shop.products.get(), now=NOW)
    left.write()
    assert (page(shop, q="plate").total, ProductSearch.objects.count()) == (0, 0)


def test_what_another_program_holds_is_left_to_the_worker(shop, left, monkeypatch):
    monkeypatch.setattr(awaited_texts, "MAX_LOCK_WAIT", "50ms")
    with ThreadPoolExecutor(1) as thread, transaction.atomic(), capture_logs() as logs:
        shop.products.update(weight=1)
        due = later(left)
        written = thread.submit(closing(partial(awaited_texts.write_overdue, now=due, limit=10)))
        assert written.result() == 0
        with pytest.raises(OperationalError):
            thread.submit(closing(left.write)).result()
    assert [entry["event"] for entry in logs] == ["search_texts_not_written"]
    assert awaited_texts.write_overdue(now=due, limit=10) == 1


@pytest.mark.parametrize("write", ["beside", "overdue"])
def test_they_wait_for_a_change_of_a_product(shop, left, write):
    first, *_ = shop.products.order_by("pk")
    calls = {"beside": left.write, "overdue": lambda: awaited_texts.write_overdue(now=later(left), limit=10)}
    run_after_waiting_for(lambda: shop.products.filter(pk=first.pk).update(status="archived"), calls[write])
    assert not ProductSearch.objects.get(product=first).listed
    assert page(shop, q="plate").total == 49


def test_a_missing_text_that_nothing_announces_is_told(shop, left):
    AwaitedTexts.objects.all().delete()
    assert wrong_texts(shop) == 50
    assert wrong_texts(make_shop("other")) == 0
