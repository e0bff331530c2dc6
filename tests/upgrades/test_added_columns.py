"""The release before inserts rows into migrated tables: `bin/migrations.py` refuses columns that keep it from that."""

import subprocess
import sys
from pathlib import Path

import pytest
from django.db import connection
from django.db.models import NOT_PROVIDED

from storefront.orders.models import OrderLine
from storefront.shops.models import Shop
from tests.catalogue.factories import make_product
from tests.orders.factories import make_order, sale_line

MIGRATION = """
class Migration(migrations.Migration):
    operations = [
        migrations.CreateModel("Page", [("title", models.CharField(max_length=9))]),
        migrations.AddField("Page", "shop", models.ForeignKey(on_delete=models.CASCADE, to="shops.shop")),
        migrations.AddField("shop", "motto", models.CharField(max_length=9, default="")),
        migrations.AddField(model_name="shop", name="size", field=kit.MoneyField(null=False)),
        migrations.AddField(model_name="shop", name="kept", field=models.IntegerField(default=0, db_default=0)),
        migrations.AddField(model_name="shop", name="seen", field=models.DateTimeField(null=True)),
        migrations.AddField(model_name="shop", name="tags", field=models.ManyToManyField(to="shops.tag")),
    ]
"""


def test_columns_that_the_release_before_cannot_fill_are_refused(tmp_path):
    folder = tmp_path / "storefront" / "shops" / "migrations"
    folder.mkdir(parents=True)
    (tmp_path / "tests" / "upgrades").mkdir(parents=True)
    (folder / "0099_more.py").write_text(MIGRATION)
    script = Path("bin/migrations.py").resolve()
    done = subprocess.run(
        [sys.executable, script, "--add"], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )
    refused = [line.partition(" needs ")[0].split()[-1] for line in done.stdout.splitlines()]
    assert (done.returncode, refused) == (1, ["shop.motto", "shop.size"]), done.stdout
    assert not (tmp_path / "tests" / "upgrades" / "migrations.json").exists()


@pytest.mark.django_db
def test_rows_without_the_newer_columns_can_be_inserted(shop):
    order = make_order(shop, sale_line(make_product(shop, stock_qty=5)))
    for model, row, unique in ((Shop, shop, {"domain": "'old.example.com'"}), (OrderLine, order.lines.get(), {})):
        fields = [field for field in model._meta.concrete_fields if field.db_default is NOT_PROVIDED]
        names = [field.column for field in fields if not field.primary_key]
        values = ", ".join(unique.get(name, f'"{name}"') for name in names)
        columns = ", ".join(f'"{name}"' for name in names)
        with connection.cursor() as cursor:
            cursor.execute(
                f"INSERT INTO {model._meta.db_table} ({columns}) SELECT {values} FROM {model._meta.db_table}"
                " WHERE id = %s",
                [row.pk],
            )
    new, line = Shop.objects.latest("pk"), OrderLine.objects.latest("pk")
    # As a shop of the release before is after the migration.
    assert (new.eu_tax, new.exports_at_net_price, new.order_emails) == ("listed", False, [])
    assert (line.closed_qty, line.withdrawn_qty, line.tax_lines, line.discount) == (0, 0, [], 0)
    assert (Shop().eu_tax, Shop().exports_at_net_price) == ("destination", True)
