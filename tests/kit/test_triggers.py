"""A system check reports missing and changed triggers, and `migrate` creates them again."""

import pytest
from django.core import checks
from django.core.management import call_command
from django.db import DatabaseError, connection

from storefront.catalogue.models import Product
from storefront.catalogue.triggers import TRIGGERS
from storefront.listing import queries
from storefront.listing.queries import ProductFilters
from storefront.server import readiness
from storefront.server.command import Failed
from storefront.shops.audit_triggers import TRIGGERS as AUDIT
from tests.catalogue.factories import make_category, make_product
from tests.shops.factories import NOW

pytestmark = pytest.mark.django_db(transaction=True)
TABLES = {
    "catalogue_product_gone": "catalogue_product",
    "catalogue_search_made": "catalogue_productsearch",
    "shops_audit_kept": "shops_auditentry",
}


@pytest.fixture(autouse=True)
def _restored():
    yield
    for triggers in (TRIGGERS, AUDIT):
        if triggers.missing(connection):
            triggers.restore(connection)


def run(statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)


def drop(name: str) -> None:
    run(f"DROP TRIGGER {name}" + (f" ON {TABLES[name]}" if connection.vendor == "postgresql" else ""))


def problems() -> list[checks.CheckMessage]:
    return checks.run_checks(tags=[checks.Tags.database], databases=["default"])


def total(shop, **filters) -> int:
    return queries.product_page(shop, ProductFilters(**filters), page=1, per_page=9, now=NOW).total


def test_nothing_is_missing():
    assert problems() == []
    readiness.require_migrated_database()


@pytest.mark.parametrize("name", TABLES)
def test_a_missing_trigger_is_named_with_what_to_do(name):
    drop(name)
    (problem,) = problems()
    assert f"trigger {name}" in problem.msg
    assert "storefront migrate" in problem.hint
    with pytest.raises(Failed, match=rf"trigger {name}.*storefront migrate"):
        readiness.require_migrated_database()


@pytest.mark.slow
@pytest.mark.parametrize("name", TABLES)
def test_migrate_creates_missing_triggers(name):
    drop(name)
    call_command("migrate", verbosity=0)
    assert problems() == []


def test_migrate_drops_a_trigger_that_an_earlier_release_had():
    body = "BEGIN SELECT 1; END"
    if connection.vendor == "postgresql":
        run("CREATE FUNCTION catalogue_earlier() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$")
        body = "FOR EACH STATEMENT EXECUTE FUNCTION catalogue_earlier()"
    run(f"CREATE TRIGGER catalogue_earlier AFTER DELETE ON catalogue_product {body}")
    drop("catalogue_product_gone")
    call_command("migrate", verbosity=0)
    with pytest.raises(DatabaseError):
        run("DROP TRIGGER catalogue_earlier" + (" ON catalogue_product" if connection.vendor == "postgresql" else ""))


def test_reports_a_different_trigger_of_the_same_name():
    drop("catalogue_product_gone")
    run(
        "CREATE TRIGGER catalogue_product_gone AFTER DELETE ON catalogue_product "
        + (
            "FOR EACH STATEMENT EXECUTE FUNCTION catalogue_categories_changed()"
            if connection.vendor == "postgresql"
            else "BEGIN SELECT 1; END"
        )
    )
    assert [problem.id for problem in problems()] == ["catalogue.W001"]


@pytest.mark.skipif("connection.vendor != 'postgresql'")
def test_reports_a_disabled_trigger_and_a_different_function():
    run("ALTER TABLE catalogue_product DISABLE TRIGGER catalogue_product_made")
    run(
        "CREATE OR REPLACE FUNCTION catalogue_links_made() RETURNS trigger LANGUAGE plpgsql AS"
        " $$ BEGIN RETURN NULL; END $$"
    )
    assert TRIGGERS.missing(connection) == ["function catalogue_links_made", "trigger catalogue_product_made"]


@pytest.mark.slow
def test_what_was_written_without_triggers_is_counted_and_found_after_migrate(shop, other_shop):
    cups = make_category(shop, "Cups")
    red = make_product(shop, "Red mug", categories=(cups,))
    make_product(other_shop, "Red mug")
    with connection.schema_editor() as editor:
        TRIGGERS.remove(editor)
    Product.objects.filter(pk=red.pk).update(status="draft")
    make_product(shop, "Blue mug", categories=(cups,))
    make_product(shop, "Green mug")
    call_command("migrate", verbosity=0)
    assert (total(shop), total(shop, category="cups"), total(shop, q="mug"), total(shop, q="red")) == (2, 1, 2, 0)
    assert (total(other_shop), total(other_shop, q="red")) == (1, 1)
    Product.objects.filter(pk=red.pk).update(status="active")
    assert (total(shop), total(shop, category="cups"), total(shop, q="red")) == (3, 2, 1)


@pytest.mark.slow
def test_migrate_leaves_existing_triggers_alone(shop, django_assert_num_queries):
    make_product(shop, "Red mug")
    run("UPDATE catalogue_listingtotal SET products = 77")
    call_command("migrate", verbosity=0)
    assert total(shop) == 77
    with django_assert_num_queries(1):
        assert TRIGGERS.missing(connection) == []
