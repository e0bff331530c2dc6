"""Each table is known as a shop's or the deployment's, as archived or left out, and so is each column with ids."""

import pytest
from django.db.models import BigIntegerField, BinaryField, FileField, JSONField, TextField, UUIDField

from storefront.server.archive.addresses import ADDRESSED
from storefront.server.archive.contents import JSON_REFERENCES, LEFT_OUT, PLAIN, REFERENCES, archived_tables
from storefront.server.archive.exporting import NAMES_OF_FILES
from storefront.server.archive.reading import FOLDERS
from storefront.server.archive.tables import all_tables, rows_of_shop, shared_rows, shop_tables, unclassified
from storefront.shops.models import User

ARCHIVED = {table._meta.label: table for table in archived_tables()}


def test_every_table_is_a_shops_or_named_as_the_deployments():
    assert unclassified() == []


def test_tables_come_after_those_that_they_require():
    seen = set()
    for table in all_tables():
        required = {f.remote_field.model for f in table._meta.concrete_fields if f.is_relation and not f.null}
        assert {each._meta.concrete_model for each in required} <= {*seen, table}, table
        seen.add(table)


def test_names_are_those_of_tables():
    of_shops = {table._meta.label for table in shop_tables()}
    assert set(LEFT_OUT) <= of_shops
    assert set(REFERENCES) | set(PLAIN) | {label for label, _ in JSON_REFERENCES} | set(NAMES_OF_FILES) <= set(ARCHIVED)


@pytest.mark.parametrize("label", sorted(ARCHIVED))
def test_no_column_with_an_id_is_forgotten(label):
    """A foreign key to a table that is left out can be null; a number or JSON column is known to have no ids; nothing
    but a UUID is unique in the deployment, and nothing is sealed."""
    known = {*PLAIN.get(label, ()), *REFERENCES.get(label, {})} | {c for found, c in JSON_REFERENCES if found == label}
    for field in ARCHIVED[label]._meta.concrete_fields:
        if field.is_relation:
            assert field.null or field.remote_field.model._meta.label in ARCHIVED, field
        elif not field.primary_key:
            assert not isinstance(field, BigIntegerField | JSONField) or field.attname in known, field
            assert not isinstance(field, BinaryField), field
            is_domain = (label, field.attname) == ("shops.Shop", "domain")
            assert not field.unique or isinstance(field, UUIDField) or is_domain, field
        if isinstance(field, FileField) and isinstance(field.upload_to, str):
            assert field.upload_to.split("/")[0] in FOLDERS["pictures"] | FOLDERS["private"], field


def test_no_html_text_is_forgotten():
    """All other texts are plain, so addresses in them lead nowhere."""
    plain = {
        ("catalogue.Category", "meta_description"),
        ("catalogue.Product", "meta_description"),
        ("content.Looks", "address"),
        ("content.Looks", "footer_text"),
        ("content.Looks", "hours"),
        ("content.MailText", "closing"),
        ("content.MailText", "opening"),
        ("customers.Customer", "note"),
        ("gift_cards.GiftCard", "message"),
        ("orders.Order", "cancel_reason"),
        ("orders.Order", "note"),
        ("orders.Order", "shopper_note"),
        ("orders.OrderMail", "text"),
        ("orders.OrderNote", "text"),
        ("payments.Refund", "reason"),
        ("shops.Shop", "manual_payment_instructions"),
    }
    fields = {label: table._meta.concrete_fields for label, table in ARCHIVED.items()}
    texts = {(label, field.attname) for label, each in fields.items() for field in each if type(field) is TextField}
    texts = {each for each in texts if not each[0].startswith("documents.")}
    named = {(label, column) for label, columns in ADDRESSED.items() for column in columns}
    assert texts - plain <= named
    assert named <= {(label, field.attname) for label, each in fields.items() for field in each}


@pytest.mark.slow
def test_a_shops_rows_are_its_own(filled, other_shop):
    for table in shop_tables():
        first, second = (
            set(rows_of_shop(table, each.pk, using="default").values_list("pk", flat=True))
            for each in (filled, other_shop)
        )
        assert not first & second, table
        assert len(first | second) == table._base_manager.count(), table
    assert len([table for table in shop_tables() if table._base_manager.exists()]) > 50
    assert [user.username for user in shared_rows(User, filled.pk, using="default")] == [f"owner-{filled.pk}"]
