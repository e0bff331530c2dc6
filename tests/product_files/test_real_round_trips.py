"""Real files of other shops: what was imported changes nothing when it is exported and imported again."""

import pytest

from storefront.product_files.importing import import_products
from tests.product_files.files import exported, imported, real_file
from tests.shops.factories import NOW

FILES = {"woocommerce-sample.csv": 18, "shopify-packt.csv": 20, "shopify-gatsby-demo.csv": 99}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("format", ["native", "woocommerce", "shopify"])
def test_the_export_of_a_real_file_changes_nothing(shop, tmp_path, name, format):
    import_products(shop=shop, file=real_file(name), now=NOW)
    before = exported(shop)
    report = imported(shop, exported(shop, format), tmp_path, update=True)
    assert (report.changes, report.counts()) == (
        [], {"created": 0, "updated": 0, "skipped": FILES[name], "failed": 0, "conflicts": 0},
    ), report.problems  # fmt: skip
    assert exported(shop) == before
