"""Two simultaneous imports into one shop create every product and category once."""

import pytest

from storefront.catalogue import tree
from storefront.catalogue.models import Brand, Category, Product, RelatedProduct
from storefront.product_files import importing, read_ahead
from storefront.product_files.models import ExternalId
from storefront.shops.models import Shop
from tests.product_files.files import as_csv, woo
from tests.races import run_concurrently
from tests.shops.factories import NOW, make_shop

pytestmark = pytest.mark.slow


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("source", "skus"), [("", 300), ("cups", 20)])
def test_two_imports_of_one_file_at_once(tmp_path, monkeypatch, source, skus):
    """Products share SKUs only if the source of their ids is named."""
    monkeypatch.setattr(read_ahead, "BATCH_PRODUCTS", 20)
    shop = make_shop()
    rows = [
        woo(id=str(n), sku=f"S{n % skus}", name=f"Mug {n}", categories=f"A{n % 9} > B{n % 13}", brands=f"Kiln {n % 11}")
        for n in range(1, 150)
    ]
    (tmp_path / "file").write_text(as_csv(rows))

    def run():
        own = Shop.objects.get(pk=shop.pk)
        return importing.import_products(shop=own, file=tmp_path / "file", source=source, now=NOW)

    reports = run_concurrently(run, run)

    assert sum(report.created for report in reports) == 149
    assert sum(report.skipped for report in reports) == 149
    assert [problem for report in reports for problem in report.problems] == []
    names = Product.objects.filter(shop=shop).values_list("name", flat=True)
    assert len(names) == len(set(names)) == ExternalId.objects.count() == 149
    nodes = list(
        Category.objects.filter(shop=shop)
        .order_by("sort_order", "id")
        .values_list("id", "parent_id", "name", "lft", "rgt")
    )
    assert len({(parent, name) for _, parent, name, _, _ in nodes}) == len(nodes)
    assert tree.bounds((id, parent) for id, parent, *_ in nodes) == {node[0]: node[3:] for node in nodes}
    assert Brand.objects.filter(shop=shop).count() == 11


@pytest.mark.django_db(transaction=True)
def test_two_imports_relate_products_at_once(tmp_path):
    shop = make_shop()
    rows = [woo(sku=f"S{n}", name=f"Mug {n}", upsells=f"S{(n + 1) % 40}, S{(n + 2) % 40}") for n in range(40)]
    (tmp_path / "file").write_text(as_csv(rows))
    importing.import_products(shop=shop, file=tmp_path / "file", now=NOW)
    for row in rows:
        row["Upsells"] = ", ".join(reversed(row["Upsells"].split(", ")))
    (tmp_path / "file").write_text(as_csv(rows))

    def run():
        own = Shop.objects.get(pk=shop.pk)
        return importing.import_products(shop=own, file=tmp_path / "file", update=True, now=NOW)

    reports = run_concurrently(run, run)

    assert [report.updated for report in reports].count(40) >= 1
    assert [problem for report in reports for problem in report.problems] == []
    for n in range(40):
        found = RelatedProduct.objects.filter(product__sku=f"S{n}").order_by("sort_order")
        expected = [f"S{(n + 2) % 40}", f"S{(n + 1) % 40}"]
        assert list(found.values_list("related_product__sku", flat=True)) == expected
