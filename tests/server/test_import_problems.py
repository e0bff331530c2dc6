"""`storefront importproducts` names the first problems on stderr, and says how many more there are."""

import json

import pytest
from django.core.management import call_command

from storefront.server.management.commands.importproducts import MAX_SHOWN
from tests.product_files.files import as_csv, woo

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize("has_report", [True, False])
def test_problems_on_stderr_end_with_a_count(shop, tmp_path, capsys, has_report):
    file, report = tmp_path / "products.csv", tmp_path / "report.csv"
    file.write_text(as_csv([woo(sku=str(number), regular_price="soon") for number in range(MAX_SHOWN + 5)]))
    given = ("--report", str(report)) if has_report else ()
    with pytest.raises(SystemExit):
        call_command("importproducts", "--shop", shop.domain, *given, str(file))
    out, err = capsys.readouterr()
    lines = err.splitlines()
    assert len(lines) == MAX_SHOWN + 1
    assert (
        lines[-1] == f"... and 5 more; {f'all are in {report}' if has_report else '--report FILE.csv has all of them'}"
    )
    assert json.loads(out.splitlines()[-1])["failed"] == MAX_SHOWN + 5
    assert not has_report or len(report.read_text().splitlines()) == MAX_SHOWN + 6
