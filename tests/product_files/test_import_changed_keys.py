"""Products, slugs and ids that somebody adds or changes between two batches of an import are found."""

import pytest

from storefront.catalogue.models import Product
from storefront.product_files import read_ahead
from storefront.product_files.models import ExternalId, ImportSource
from tests.catalogue.factories import make_product
from tests.product_files.files import after_batch, as_lines, imported, woo

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def a_batch_each(monkeypatch):
    monkeypatch.setattr(read_ahead, "BATCH_PRODUCTS", 1)


def cup(number: int, **given) -> dict:
    return {"name": f"Cup {number}", "slug": f"cup-{number}", "sku": f"C{number}", "price": "5.00"} | given


def outcomes(report) -> list[str]:
    return [str(problem) for problem in (*report.problems, *report.unchanged)]


@pytest.mark.parametrize("update", [False, True])
def test_a_product_that_somebody_adds_meanwhile_is_found(shop, tmp_path, update):
    def add() -> None:
        make_product(shop, "Beaker", slug="beaker", sku="C3", price="7.00")
        make_product(shop, "Cup 2", slug="cup-2", price="7.00")

    report = imported(shop, as_lines(*map(cup, range(5))), tmp_path, update=update, progress=after_batch(2, add))
    assert (report.created, report.skipped + report.updated, report.conflicts) == (3, 2, 0)
    assert Product.objects.filter(shop=shop).count() == 5
    assert str(Product.objects.get(shop=shop, slug="cup-2").price) == ("5.00" if update else "7.00")


def test_a_slug_that_a_merchant_gives_meanwhile_is_a_conflict(shop, tmp_path):
    def rename() -> None:
        Product.objects.filter(shop=shop, slug="cup-0").update(slug="cup-3")

    report = imported(shop, as_lines(*map(cup, range(5))), tmp_path, progress=after_batch(2, rename))
    assert (report.created, report.conflicts, report.failed) == (4, 1, 0)
    assert outcomes(report) == ["line 4, slug cup-3: is “Cup 0” (cup-3, SKU C0), as is the product on line 1"]


def test_a_slug_that_a_merchant_gives_meanwhile_is_a_conflict_beside_rows_without_one(shop, tmp_path, monkeypatch):
    monkeypatch.setattr(read_ahead, "BATCH_PRODUCTS", 2)

    def rename() -> None:
        Product.objects.filter(shop=shop, slug="cup-0").update(slug="cup-3")

    rows = [cup(0), cup(1), cup(3), {"name": "Cup 3", "sku": "X", "price": "5.00"}]
    report = imported(shop, as_lines(*rows), tmp_path, progress=after_batch(1, rename))
    assert (report.created, report.conflicts, report.failed) == (3, 1, 0)
    assert outcomes(report) == ["line 3, slug cup-3: is “Cup 0” (cup-3, SKU C0), as is the product on line 1"]
    slugs = Product.objects.filter(shop=shop).order_by("pk").values_list("slug", flat=True)
    assert list(slugs) == ["cup-3", "cup-1", "cup-3-x"]


def test_a_stated_slug_goes_to_the_row_that_states_it(shop, tmp_path, monkeypatch):
    monkeypatch.setattr(read_ahead, "BATCH_PRODUCTS", 10)
    rows = [{"name": "Mug", "sku": sku, "price": "5.00"} for sku in ("a", "b")]
    report = imported(shop, as_lines(*rows, cup(1, slug="mug-b")), tmp_path)
    assert (report.created, report.conflicts) == (3, 0)
    slugs = Product.objects.filter(shop=shop).order_by("pk").values_list("slug", flat=True)
    assert list(slugs) == ["mug", "mug-b-2", "mug-b"]


def test_an_id_that_another_import_links_meanwhile_is_a_conflict(shop, tmp_path):
    def link() -> None:
        found = Product.objects.get(shop=shop, sku="C1")
        ExternalId.objects.create(source=ImportSource.objects.get(shop=shop), external_id=7, product=found)

    rows = [woo(sku="C1", name="Cup 1"), woo(id="5", sku="C5", name="Cup 5"), woo(id="7", sku="C7", name="Cup 7")]
    report = imported(shop, rows, tmp_path, source="cups", progress=after_batch(2, link))
    assert (report.created, report.conflicts) == (2, 1)
    assert outcomes(report) == ["line 4, ID 7: is “Cup 1” (cup-1, SKU C1), as is the product on line 2"]
    assert ExternalId.objects.get(external_id=7).product.sku == "C1"


def test_a_slug_that_was_made_for_another_row_is_a_conflict(shop, tmp_path):
    rows = [{"name": "Cup 1", "sku": "X", "price": "5.00"}, cup(0), cup(1), {"name": "Cup 0", "price": "5.00"}]
    report = imported(shop, as_lines(*rows), tmp_path)
    assert (report.created, report.conflicts, report.failed) == (2, 2, 0)
    assert outcomes(report) == [
        "line 3, slug cup-1: is “Cup 1” (cup-1, SKU X), as is the product on line 1",
        "line 4, name Cup 0: is “Cup 0” (cup-0, SKU C0), as is the product on line 2",
    ]
