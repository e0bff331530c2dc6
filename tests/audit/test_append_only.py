"""The database itself refuses to change or delete an entry, whoever asks."""

from datetime import timedelta

import pytest
from django.db import IntegrityError, connection, transaction

from storefront import audit
from storefront.audit.queries import delete_old_entries
from storefront.kit import clock
from storefront.server.worker.sweeps import SWEEPS
from storefront.shops.models import AuditEntry
from tests.audit.entries import entries


def written(shop, *, days: int = 0, **given) -> AuditEntry:
    about = audit.Object("product", 5, "Mug")
    actor = audit.Actor(audit.Kind.STAFF, 7, "anna@example.com")
    given = {"action": "product.updated", "object": about, "before": {"price": "1.00"}, "actor": actor} | given
    with audit.acting(audit.SYSTEM, place="192.0.2.7"):
        audit.record(shop=shop, now=clock.now() - timedelta(days=days), **given)
    return AuditEntry.objects.latest("id")


CHANGES = {
    "at": "at = '2020-01-01 00:00:00'",
    "keep_until": "keep_until = '2020-01-01'",
    "actor_kind": "actor_kind = 'system'",
    "actor_id": "actor_id = 8",
    "action": "action = 'product.deleted'",
    "object_type": "object_type = 'order'",
    "object_id": "object_id = 6",
    "request_id": "request_id = 'x'",
    "shop_id": "shop_id = shop_id + 1",
    "another name": "actor_name = 'ben@example.com'",
    "another place": "place = '203.0.113.1'",
}


def run(statement: str) -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)


@pytest.mark.parametrize("what", CHANGES)
def test_an_erasure_changes_no_other_column(shop, what):
    written(shop)
    now = "'2026-11-22 00:00:00+00'" if connection.vendor == "postgresql" else "'2026-11-22 00:00:00'"
    with pytest.raises(IntegrityError, match="cannot be changed"):
        run(f"UPDATE shops_auditentry SET {CHANGES[what]}, erased_at = {now}")


@pytest.mark.parametrize(
    "what", ["before = NULL", "actor_name = '[erased]'", "object_name = 'Cup'", "erased_at = NULL"]
)
def test_an_update_that_is_no_erasure_is_refused(shop, what):
    written(shop)
    with pytest.raises(IntegrityError, match="cannot be changed"):
        run(f"UPDATE shops_auditentry SET {what}")


def test_an_entry_cannot_be_deleted_before_it_expires(shop):
    entry = written(shop)
    with pytest.raises(IntegrityError, match="cannot be deleted"), transaction.atomic():
        entry.delete()
    with pytest.raises(IntegrityError, match="cannot be deleted"):
        run("DELETE FROM shops_auditentry")
    with pytest.raises(IntegrityError, match="cannot be"):
        run(
            "TRUNCATE shops_auditentry"
            if connection.vendor == "postgresql"
            else f"INSERT OR REPLACE INTO shops_auditentry SELECT * FROM shops_auditentry WHERE id = {entry.pk}"
        )
    assert AuditEntry.objects.filter(pk=entry.pk).exists()


def test_the_log_of_a_deleted_shop_can_be_deleted(shop, other_shop):
    written(shop)
    pk, others = shop.pk, len(entries(other_shop))
    shop.delete()
    assert AuditEntry.objects.filter(shop=pk).delete()[0] == 2
    assert len(entries(other_shop)) == others


def test_expired_entries_are_deleted(shop, settings):
    settings.AUDIT_DAYS = 30
    old, young = written(shop, days=32), written(shop, days=29)
    (sweep,) = [each for each in SWEEPS if each.name == "old audit entries"]
    assert sweep.run(now=clock.now()) == 1
    left = set(AuditEntry.objects.values_list("pk", flat=True))
    assert old.pk not in left
    assert young.pk in left


def test_a_shorter_retention_applies_to_later_entries_only(shop, settings):
    settings.AUDIT_DAYS = 365
    entry = written(shop, days=32)
    settings.AUDIT_DAYS = 30
    assert delete_old_entries(now=clock.now(), limit=10) == 0
    assert AuditEntry.objects.filter(pk=entry.pk).exists()


def test_a_sweep_deletes_no_more_than_its_limit(shop, settings):
    settings.AUDIT_DAYS = 1
    for _ in range(3):
        written(shop, days=40)
    assert [delete_old_entries(now=clock.now(), limit=2) for _ in range(3)] == [2, 1, 0]
