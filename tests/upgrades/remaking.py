"""A program: migrates the database that the environment names, fills it, has a scratch migration change the product's
table, and looks whether totals and search are right. `test_remade_tables.py` runs it.

argv[1]: `filled` to fill the database before that migration, `fresh` to run all migrations at once.
argv[2]: a folder for the scratch migration.
"""

import sys
from pathlib import Path

import django
from django.core.checks import Tags, run_checks
from django.core.management import call_command
from django.db import connection
from django.test import override_settings

PACKAGE = """
from storefront.catalogue import migrations
__path__ = [*__path__, *migrations.__path__]
"""
MIGRATION = """
from django.db import migrations, models

class Migration(migrations.Migration):
    dependencies = [("catalogue", "{last}")]
    operations = [
        migrations.AddField("product", "scratch", models.IntegerField(db_default=7)),
        migrations.AddConstraint(
            "product", models.CheckConstraint(condition=models.Q(scratch__gte=7), name="scratch_enough")
        ),
    ]
"""


def main(state: str, folder: Path) -> None:
    django.setup()
    write_migration(folder / "scratch")
    if state == "filled":
        call_command("migrate", verbosity=0)
    shop = filled() if state == "filled" else None
    with override_settings(MIGRATION_MODULES={"catalogue": "scratch"}):
        call_command("migrate", verbosity=0)
        assert run_checks(tags=[Tags.database], databases=["default"]) == []
    look(shop or filled())


def write_migration(package: Path) -> None:
    from storefront.catalogue import migrations

    last = max(path.stem for path in Path(migrations.__path__[0]).glob("[0-9]*.py"))
    package.mkdir()
    (package / "__init__.py").write_text(PACKAGE)
    (package / "9999_scratch.py").write_text(MIGRATION.format(last=last))
    sys.path.insert(0, str(package.parent))


def filled():
    from tests.catalogue.factories import make_category, make_product
    from tests.shops.factories import make_shop

    shop = make_shop()
    cups = make_category(shop, "Cups")
    for name, status in (("Red mug", "active"), ("Blue mug", "active"), ("Green mug", "draft")):
        make_product(shop, name, status=status, categories=(cups,))
    return shop


def look(shop) -> None:
    from storefront.catalogue import actions
    from storefront.catalogue.models import Category, Product, ProductSearch
    from tests.catalogue.factories import make_product
    from tests.shops.factories import NOW

    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*), min(scratch) FROM catalogue_product")
        assert cursor.fetchone() == (3, 7)
    assert listed(shop) == (2, 2, {"red-mug", "blue-mug"})
    # Each way of writing is still seen.
    make_product(shop, "Grey mug", status="active", categories=(Category.objects.get(shop=shop),))
    actions.set_status(shop=shop, products=Product.objects.filter(slug="red-mug"), status="draft", now=NOW)
    Product.objects.filter(slug="green-mug").update(status="active")
    Product.objects.get(slug="blue-mug").delete()
    assert listed(shop) == (2, 2, {"green-mug", "grey-mug"})
    actions.update_product(shop=shop, product=Product.objects.get(slug="grey-mug"), now=NOW, name="Grey jug")
    assert listed(shop) == (2, 2, {"green-mug"})
    assert ProductSearch.objects.filter(listed=True).count() == 2


def listed(shop) -> tuple[int, int, set[str]]:
    """The totals of the shop and of its category, and what a search for mugs finds."""
    from storefront.listing import queries
    from storefront.listing.queries import ProductFilters
    from tests.shops.factories import NOW

    def page(**filters):
        return queries.product_page(shop, ProductFilters(**filters), page=1, per_page=10, now=NOW)

    found = page(q="mug")
    assert found.total == len(found.rows)
    return page().total, page(category="cups").total, {row["slug"] for row in found.rows}


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
