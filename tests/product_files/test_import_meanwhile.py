"""What somebody removes while an import runs is made again; what is renamed stays what the file's name means."""

import pytest
from django.db import connection

from storefront.catalogue.models import Brand, Category, Product
from storefront.product_files import read_ahead
from tests.catalogue.factories import make_product
from tests.product_files.files import after_batch, as_lines, imported

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def two_rows_a_batch(monkeypatch):
    monkeypatch.setattr(read_ahead, "BATCH_PRODUCTS", 2)


def cup(number: int, brand: str, category: str) -> dict:
    return {"name": f"Cup {number}", "slug": f"cup-{number}", "price": "5", "brand": brand, "categories": [category]}


ROWS = [cup(0, "Acme", "Cups"), cup(1, "Acme", "Cups"), cup(2, "Acme", "Cups"), cup(3, "Zeta", "Bowls")]


def rename(shop) -> None:
    Category.objects.filter(shop=shop, name="Cups").update(name="Mugs", slug="mugs")
    Brand.objects.filter(shop=shop, name="Acme").update(name="Ajax")


def remove(shop) -> None:
    Category.objects.filter(shop=shop, name="Cups").delete()
    Brand.objects.filter(shop=shop, name="Acme").delete()


def named(shop) -> dict[str, tuple[str | None, list[str]]]:
    return {
        product.slug: (product.brand and product.brand.name, [each.name for each in product.categories.all()])
        for product in Product.objects.filter(shop=shop).select_related("brand")
    }


@pytest.mark.parametrize("change", [rename, remove])
@pytest.mark.parametrize("update", [False, True])
def test_a_category_and_a_brand(shop, other_shop, tmp_path, monkeypatch, change, update):
    if update:
        # It compares all four, and then writes in half batches.
        monkeypatch.setattr(read_ahead, "BATCH_PRODUCTS", 4)
        for number in range(4):
            make_product(shop, f"Cup {number}", slug=f"cup-{number}")
    written = after_batch(2 if update else 1, lambda: change(shop))
    report = imported(shop, as_lines(*ROWS), tmp_path, update=update, progress=written)
    assert (report.created, report.updated, report.problems) == ((0, 4, []) if update else (4, 0, []))
    found = named(shop)
    renamed = ("Ajax", ["Mugs"])
    assert found["cup-2"] == (renamed if change is rename else ("Acme", ["Cups"]))
    assert found["cup-3"] == ("Zeta", ["Bowls"])
    assert found["cup-0"] == (renamed if change is rename else (None, []))
    assert Brand.objects.filter(shop=shop).count() == Category.objects.filter(shop=shop).count() == 2
    assert not Brand.objects.filter(shop=other_shop).exists()


def test_a_renamed_brand_stays_the_same_after_a_batch_that_was_rolled_back(shop, tmp_path):
    """Its second product is refused by the database, and takes the brand and category of its batch along at first."""
    with connection.cursor() as cursor:
        cursor.execute("CREATE UNIQUE INDEX surprise ON catalogue_product (barcode)")
    rows = [*ROWS[:2], {**cup(4, "Zeta", "Bowls"), "barcode": "1"}, {**cup(5, "Acme", "Cups"), "barcode": "1"}, ROWS[2]]
    report = imported(shop, as_lines(*rows), tmp_path, progress=after_batch(1, lambda: rename(shop)))
    assert (report.created, report.failed) == (4, 1)
    found = named(shop)
    assert (found["cup-2"], found["cup-4"]) == (("Ajax", ["Mugs"]), ("Zeta", ["Bowls"]))
    assert Brand.objects.filter(shop=shop).count() == Category.objects.filter(shop=shop).count() == 2


def test_another_brand_of_the_old_name_gets_the_later_products(shop, tmp_path):
    def change() -> None:
        rename(shop)
        Brand.objects.create(shop=shop, name="ACME")

    imported(shop, as_lines(*ROWS), tmp_path, progress=after_batch(1, change))
    found = named(shop)
    assert (found["cup-0"][0], found["cup-2"]) == ("Ajax", ("ACME", ["Mugs"]))
