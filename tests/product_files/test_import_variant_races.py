"""Simultaneous changes of the same variants: nothing is doubled, whatever comes first."""

import pytest

from storefront.catalogue import actions
from storefront.catalogue.models import Product, Variant
from storefront.product_files import importing, read_ahead
from storefront.product_files.models import ExternalVariantId
from storefront.shops.models import Shop
from tests.product_files.files import as_csv, imported, woo
from tests.product_files.variants import variation
from tests.races import run_concurrently
from tests.shops.factories import NOW, make_shop

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]
MUGS = 12


@pytest.fixture
def shop(monkeypatch):
    monkeypatch.setattr(read_ahead, "BATCH_PRODUCTS", 4)
    return make_shop()


def rows(first: str = "Red", **given: str) -> list[dict[str, str]]:
    found = []
    for number in range(MUGS):
        found.append(woo(id=str(100 * number + 1), type="variable", sku=f"M{number}", name=f"Mug {number}"))
        for place, colour in ((2, first), (3, "Blue")):
            row = variation(str(100 * number + place), f"M{number}-{place}", colour, **given)
            found.append(row | {"Parent": f"M{number}"})
    return found


def importing_of(shop, tmp_path, name: str, content: str):
    (tmp_path / name).write_text(content)

    def run():
        own = Shop.objects.get(pk=shop.pk)
        return importing.import_products(shop=own, file=tmp_path / name, update=True, now=NOW)

    return run


def colours(shop) -> list[tuple[str, str]]:
    found = Variant.objects.filter(shop=shop).order_by("product_id", "sku").values_list("sku", "option_values__Colour")
    return list(found)


def test_two_imports_of_one_file_create_every_variant_once(shop, tmp_path):
    run = importing_of(shop, tmp_path, "file", as_csv(rows()))
    reports = run_concurrently(run, run)
    assert sum(report.created for report in reports) == MUGS
    assert [problem for report in reports for problem in report.problems] == []
    assert len(colours(shop)) == len(set(colours(shop))) == ExternalVariantId.objects.count() == 2 * MUGS


def test_a_rename_and_a_list_of_skus_at_once(shop, tmp_path):
    imported(shop, rows(), tmp_path)
    stock = "SKU,Stock\n" + "".join(f"M{number}-{place},7\n" for number in range(MUGS) for place in (2, 3))
    renames = importing_of(shop, tmp_path, "renames", as_csv(rows("Crimson")))
    reports = run_concurrently(renames, importing_of(shop, tmp_path, "stock", stock))
    assert [problem for report in reports for problem in report.problems] == []
    wanted = [
        (f"M{number}-{place}", colour) for number in range(MUGS) for place, colour in ((2, "Crimson"), (3, "Blue"))
    ]
    assert sorted(colours(shop)) == sorted(wanted)
    assert set(Variant.objects.values_list("stock_qty", flat=True)) <= {7, 0}


def test_an_import_and_an_app_rename_the_same_variants_at_once(shop, tmp_path):
    imported(shop, rows(), tmp_path)

    def rename():
        own = Shop.objects.get(pk=shop.pk)
        for product in Product.objects.filter(shop=own).order_by("-pk"):
            red = product.variants.get(sku=f"{product.sku}-2")
            entry = {"id": red.pk, "option_values": {"Colour": "Scarlet"}, "name": "Scarlet"}
            actions.update_product(shop=own, product=product, variants=[entry], now=NOW)

    renames = importing_of(shop, tmp_path, "renames", as_csv(rows("Crimson")))
    report, _ = run_concurrently(renames, rename)
    assert report.problems == []
    found = colours(shop)
    assert len(found) == 2 * MUGS
    assert {colour for sku, colour in found if sku.endswith("-2")} <= {"Crimson", "Scarlet"}
