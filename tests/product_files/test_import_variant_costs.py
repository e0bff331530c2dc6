"""An update of variants takes the same number of queries however many there are."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from storefront.catalogue.models import Variant
from tests.product_files.files import as_csv, as_lines, imported, woo
from tests.product_files.variants import variation


def shirts(count: int) -> str:
    rows = []
    for number in range(count):
        rows.append(woo(id=str(100 * number + 1), type="variable", sku=f"S{number}", name=f"Shirt {number}"))
        rows += [
            variation(str(100 * number + place), f"S{number}-{place}", f"C{place}") | {"Parent": f"S{number}"}
            for place in range(2, 6)
        ]
    return as_csv(rows)


def queries_of(shop, content: str, tmp_path, **given) -> int:
    with CaptureQueriesContext(
        connection,
    ) as found:
        imported(shop, content, tmp_path, update=True, **given)
    return len(found)


def test_finding_variants_takes_the_same_queries_for_few_and_many(shop, tmp_path):
    imported(shop, shirts(30), tmp_path)
    lists = {
        "WooCommerce": lambda n: "SKU,Stock\n" + "".join(f"S{k}-{p},3\n" for k in range(n) for p in (2, 3)),
        "IDs": lambda n: "ID,Regular price\n" + "".join(f"{100 * k + 2},9.50\n" for k in range(n)),
        "native": lambda n: as_lines(*({"sku": f"S{k}-2", "stock_qty": 3} for k in range(n))),
        "Shopify": lambda n: "Variant SKU,Variant Price\n" + "".join(f"S{k}-2,9.50\n" for k in range(n)),
        "families": shirts,
    }
    for name, content in lists.items():
        few, many = (queries_of(shop, content(count), tmp_path, dry_run=True) for count in (2, 30))
        assert few == many, name


@pytest.mark.slow
def test_thousands_of_skus_take_few_queries_each_way(shop, tmp_path):
    """Each changed product is written by statements of its own; looking for the variants takes few."""
    lines = (
        {"name": f"P{k}", "slug": f"p{k}", "status": "active",
         "variants": [{"option_values": {"N": str(p)}, "sku": f"P{k}-{p}", "price": "1.00"} for p in range(100)]}
        for k in range(40)
    )  # fmt: skip
    imported(shop, as_lines(*lines), tmp_path)
    content = "SKU,Regular price\n" + "".join(f"P{k}-{p},2.00\n" for k in range(40) for p in range(100))
    assert queries_of(shop, content, tmp_path, dry_run=True) < 60
    assert queries_of(shop, content, tmp_path) < 40 * 20
    assert set(map(str, Variant.objects.values_list("price", flat=True))) == {"2.00"}
