"""Search texts that an import on PostgreSQL has written beside it: they come, whatever fails, and never undo a newer
write."""

import json
from datetime import timedelta
from functools import partial

import pytest
from django.db import OperationalError, connection
from django.db.models import Sum
from structlog.testing import capture_logs

from storefront.catalogue import actions, awaited_texts
from storefront.catalogue.models import AwaitedTexts, ListingTotal, ProductSearch
from storefront.listing import queries, verifying
from storefront.listing.queries import ProductFilters
from storefront.product_files import later_texts
from storefront.product_files.importing import import_products
from storefront.shops.models import Shop
from tests.catalogue.factories import make_product
from tests.races import run_after_waiting_for
from tests.shops.factories import NOW, make_shop

pytestmark = pytest.mark.slow
LATER = NOW + awaited_texts.PATIENCE


@pytest.fixture
def shop(transactional_db) -> Shop:
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has one writer, which writes the texts with the products")
    return make_shop()


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "products.jsonl"
    rows = [{"name": f"Plate number{n:03d}", "price": "1.00", "status": "active"} for n in range(50)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture
def left(shop, file, monkeypatch) -> AwaitedTexts:
    """The texts of an import that ended between a batch and its texts."""
    kept = []
    monkeypatch.setattr(later_texts, "write_awaited", lambda *call: kept.append(call))
    import_products(shop=shop, file=file, now=NOW)
    monkeypatch.undo()
    ((awaited, table, rows),) = kept
    awaited.write = partial(awaited_texts.write_awaited, awaited, table, rows)
    return awaited


def found(shop, q: str) -> list[str]:
    return [record["slug"] for record in page(shop, q=q).rows]


def page(shop, **filters):
    return queries.product_page(shop, ProductFilters(**filters), page=1, per_page=100, now=NOW)


def version_of(shop) -> int:
    return ListingTotal.objects.filter(shop=shop, category=0).aggregate(version=Sum("version"))["version"]


def missing(shop) -> int:
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
    assert (page(shop).total, found(shop, "plate"), missing(shop)) == (50, [], 0)
    assert awaited_texts.write_overdue(now=LATER - timedelta(seconds=1), limit=10) == 0
    assert awaited_texts.write_overdue(now=LATER, limit=10) == 1
    assert page(shop, q="plate").total == 50
    assert version_of(shop) != version
    assert page(other, q="plate").total == 1
    assert awaited_texts.write_overdue(now=LATER, limit=10) == 0
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


@pytest.mark.parametrize("write", ["beside", "overdue"])
def test_they_wait_for_a_change_of_a_product(shop, left, write):
    first, *_ = shop.products.order_by("pk")
    calls = {"beside": left.write, "overdue": lambda: awaited_texts.write_overdue(now=LATER, limit=10)}
    run_after_waiting_for(lambda: shop.products.filter(pk=first.pk).update(status="archived"), calls[write])
    assert not ProductSearch.objects.get(product=first).listed
    assert page(shop, q="plate").total == 49


def test_a_missing_text_that_nothing_announces_is_told(shop, left):
    AwaitedTexts.objects.all().delete()
    assert missing(shop) == 50
    assert missing(make_shop("other")) == 0
