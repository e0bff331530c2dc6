"""An import says that PostgreSQL is asked for where SQLite's shops become too large."""

import pytest
from django.db import connection

from storefront.product_files.dialect import dialect
from tests.product_files.files import as_lines, imported

MUG = {"price": "9.50", "status": "active"}
MUGS = as_lines(*({"name": f"Mug {number}", "slug": f"mug-{number}"} | MUG for number in range(3)))


@pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL serves shops of any size")
def test_the_report_asks_for_postgresql_beyond_the_size_that_sqlite_serves(shop, other_shop, tmp_path, monkeypatch):
    monkeypatch.setattr(dialect, "MAX_PRODUCTS", 3)
    assert imported(shop, MUGS, tmp_path).problems == []
    assert imported(shop, MUGS, tmp_path).problems == []
    (problem,) = imported(shop, as_lines({"name": "Cup"} | MUG), tmp_path).problems
    assert (problem.severity, problem.reason[:31]) == ("note", "The shop lists 4 products now. ")
    assert "PostgreSQL" in problem.reason
    assert imported(other_shop, MUGS, tmp_path).problems == []


def test_a_small_shop_is_told_nothing(shop, tmp_path):
    assert imported(shop, MUGS, tmp_path).problems == []
