"""Which tables are the registry; and that deleting one of its rows by replication leaves nothing of a pod behind."""

from django.apps import apps
from django.db import models

from storefront.pods.registry import TABLES
from storefront.pods.registry_triggers import referring
from storefront.server.archive.tables import DEPLOYMENT, SHARED, all_tables, foreign_keys

BEAT = "pods.RegistryBeat"


def test_every_table_without_a_shop_is_of_the_registry_or_says_why_not():
    """tests/server/archive/test_tables.py sees that each of them is in SHARED or DEPLOYMENT."""
    assert {apps.get_model(label)._meta.db_table for label in (*SHARED, BEAT)} == set(TABLES)
    assert all(DEPLOYMENT.values())


def test_rows_of_the_registry_lead_to_nothing_that_a_pod_has_by_itself():
    """Rows that `migrate` makes, such as permissions, have other ids in other databases."""
    for table in all_tables():
        if table._meta.db_table in TABLES:
            assert {field.remote_field.model._meta.db_table for field in foreign_keys(table)} <= set(TABLES)


def test_what_goes_with_an_account_has_nothing_that_belongs_to_it():
    found = list(referring("shops_user"))
    assert ("shops_staffmember", "user_id", models.CASCADE) in found
    assert ("shops_staffinvitation", "invited_by_id", models.SET_NULL) in found
    gone = {table for table, _, on_delete in found if on_delete is not models.SET_NULL}
    for table in all_tables():
        assert not gone & {field.remote_field.model._meta.db_table for field in foreign_keys(table)}, table


def test_an_app_is_kept_by_its_installations_alone():
    assert [*referring("apps_app")] == [("apps_installation", "app_id", models.PROTECT)]
    for table in set(TABLES) - {"shops_user", "apps_app"}:
        assert not [*referring(table)]
