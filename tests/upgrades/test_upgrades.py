"""Databases of earlier releases are migrated to the current schema, and no data is lost."""

import json
from collections.abc import Callable
from operator import eq
from pathlib import Path
from typing import Any

import pytest

from storefront.server.baseline import BASELINE
from tests.server.programs import STOREFRONT, storefront
from tests.upgrades.databases import RELEASES, Database, Rows, database_of

pytestmark = [pytest.mark.uses_database, pytest.mark.slow]

KEY = "upgrade-test-key-of-release-0.1.0"

# What `migrate` itself writes down, or makes anew.
BOOKKEEPING = {"django_migrations", "django_content_type", "auth_permission"}

# Tables whose rows are made anew when triggers change, and the columns that stay.
REBUILT: dict[str, tuple[str, ...]] = {
    "catalogue_listingtotal": ("shop_id", "category", "products"),
    # Words, and changes whose words are still to be counted: then all are counted again.
    "catalogue_frequentword": (),
    "catalogue_textchange": (),
    "catalogue_wordcount": (),
}


def is_with_its_shop(before: Any, after: Any) -> bool:
    """Returns True for the arguments of a task, which get the shop in front, if they had none."""
    old, new = (json.loads(each) if isinstance(each, str) else each for each in (before, after))
    return old == new or (new["args"][1:] == old["args"] and new["kwargs"] == old["kwargs"])


# By table and column, whether migrations made the second value of the first on purpose.
CHANGED: dict[tuple[str, str], Callable[[Any, Any], bool]] = {
    ("django_tasks_database_dbtaskresult", "args_kwargs"): is_with_its_shop,
}

# Every stored secret can be read again, and every model's table has the columns that the code asks for.
LOOK = """
import json
from django.apps import apps
from storefront.installations.models import App, Installation
from storefront.kit import clock
rows = {model._meta.label: len(list(model.objects.all())) for model in apps.get_models()}
secrets = [app.secret for app in App.objects.all()]
secrets += [secret for row in Installation.objects.all() for secret in row.signing_secrets(clock.now())]
print(json.dumps({"rows": rows, "secrets": secrets}))
"""


@pytest.fixture(params=RELEASES, scope="module")
def release(request) -> str:
    return request.param


@pytest.fixture(scope="module")
def upgraded(release, tmp_path_factory):
    """The release's rows as they were, and the database after `storefront migrate`, which the tests leave as it is."""
    with database_of(release, tmp_path_factory.mktemp("upgraded")) as database:
        before = database.rows()
        database.environment["SECRET_KEY"] = KEY
        run(database, "migrate", "--verbosity=0")
        yield before, database


def run(database: Database, *arguments: str) -> str:
    result = storefront(*arguments, **database.environment)
    assert result.returncode == 0, f"{STOREFRONT} {arguments}: {result.stderr}"
    return result.stdout


def test_the_kept_database_has_a_row_of_every_table(release, tmp_path):
    with database_of(release, tmp_path) as database:
        empty = [table for table, rows in database.rows().items() if not rows]
    # Marks that are there for the length of a transaction; and what counts changes on SQLite alone.
    assert set(empty) <= {"catalogue_quiet", "catalogue_stockchange", "shops_change"}


def test_every_row_is_found_after_the_upgrade(upgraded):
    before, database = upgraded
    assert missing(before, database.rows()) == []


def test_the_upgraded_schema_is_that_of_a_new_database(upgraded, migrated):
    _, database = upgraded
    new = Database(Path(migrated["STOREFRONT_DATA_DIR"]), migrated.get("DATABASE_URL", ""))
    assert database.schema() ^ new.schema() == set()


def test_the_upgraded_database_can_be_read(upgraded):
    before, database = upgraded
    seen = json.loads(run(database, "shell", "--no-imports", "-c", LOOK))
    assert seen["rows"]["orders.Order"] == len(before["orders_order"]) >= 6
    # Two apps, installed, uninstalled and installed again; the last ones sign with two secrets.
    assert len(seen["secrets"]) >= 2 + 4
    assert all(secret.startswith("whsec_") for secret in seen["secrets"])


def test_a_database_of_the_commit_before_the_baseline_is_adopted(tmp_path):
    with database_of("0.2.0", tmp_path) as database:
        before = applied(database)
        assert before.isdisjoint(BASELINE)
        done = storefront("migrate", **database.environment)
        assert done.returncode == 0
        assert "baseline" not in done.stderr
        # With the earlier rows, processes of that commit go on being ready.
        assert applied(database) >= before | BASELINE


@pytest.mark.parametrize("missing", ["app = 'payments' AND name = '0012_foreign_refunds'", "app = 'stock_alerts'"])
def test_an_older_database_is_refused_and_left_as_it_is(missing, tmp_path):
    with database_of("0.2.0", tmp_path) as database:
        database.run(f"DELETE FROM django_migrations WHERE {missing}")
        before = database.rows(), database.schema()
        done = storefront("migrate", **database.environment)
        assert (done.returncode, done.stderr.count("\n")) == (1, 1)
        assert "git checkout 34f82ce" in done.stderr
        assert (database.rows(), database.schema()) == before


def applied(database: Database) -> set[tuple[str, str]]:
    return {(row["app"], row["name"]) for row in database.fetch("SELECT app, name FROM django_migrations")}


def test_existing_products_are_found_by_the_texts_of_this_release(upgraded):
    before, database = upgraded
    listed = [row for row in before["catalogue_productsearch"].values() if row["listed"]]
    assert listed
    assert database.rows()["catalogue_searchword"]
    # The worker writes them.
    run(database, "shell", "--no-imports", "-c", WRITE_TEXTS)
    # As if every text had been written by this release.
    assert all(shop["texts"] == shop["listed"] == 0 for shop in json.loads(run(database, "reindex")))
    found = json.loads(run(database, "shell", "--no-imports", "-c", SEARCH))
    assert found == {"variants": True, "unknown": 0}


WRITE_TEXTS = """
from storefront.catalogue.awaited_texts import write_overdue
from storefront.kit import clock
while write_overdue(now=clock.now(), limit=10):
    pass
"""
SEARCH = """
import json
from storefront.catalogue.models import Variant
from storefront.kit import clock
from storefront.listing.queries import ProductFilters, product_page, published_products
now = clock.now()
def total(shop, q):
    return product_page(shop, ProductFilters(q=q), page=1, per_page=1, now=now).total
sold = Variant.objects.filter(is_active=True).exclude(sku="").select_related("shop", "product")
public = [row for row in sold if row.product.is_published(now) and not row.product.exclude_from_catalog]
print(json.dumps({
    "variants": bool(public) and all(total(row.shop, row.sku) > 0 for row in public),
    "unknown": total(public[0].shop, "zzyzx"),
}))
"""


def columns_of(table: str, rows: Rows) -> set[tuple]:
    return {tuple(row[column] for column in REBUILT[table]) for row in rows[table].values()}


def missing(before: Rows, after: Rows) -> list[str]:
    """What the upgrade lost: rows, and values of columns that both schemas have, except intended changes."""
    lost = []
    for table, rows in before.items():
        if table in BOOKKEEPING:
            continue
        if table in REBUILT:
            lost += [f"{table} {row} is gone" for row in columns_of(table, before) - columns_of(table, after) if row]
            continue
        for key, row in rows.items():
            now = after.get(table, {}).get(key)
            if now is None:
                lost.append(f"{table} {key} is gone")
                continue
            lost += [
                f"{table} {key} {column}: {value!r} became {now[column]!r}"
                for column, value in row.items()
                if column in now and not CHANGED.get((table, column), eq)(value, now[column])
            ]
    return lost
