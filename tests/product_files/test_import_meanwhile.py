"""What somebody removes or renames while an import runs is made again, not left out."""

import pytest

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
    assert (found["cup-2"], found["cup-3"]) == (("Acme", ["Cups"]), ("Zeta", ["Bowls"]))
    assert found["cup-0"] == (("Ajax", ["Mugs"]) if change is rename else (None, []))
    assert not Brand.objects.filter(shop=other_shop).exists()
