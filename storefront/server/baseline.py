"""Takes over databases that were migrated before the baseline: version 0.2.0 has one migration a room, and makes the
same tables that commit 34f82ce made in 127 steps."""

from typing import Any

from django.db import transaction
from django.db.migrations.recorder import MigrationRecorder

from storefront.server.command import Failed

# The last migration that each room had in that commit.
BEFORE = {
    ("apps", "0005_merchants_words"),
    ("carts", "0009_money_in_hundredths"),
    ("catalogue", "0024_owed_stock"),
    ("checkout", "0007_vat_ids"),
    ("content", "0003_mail_texts"),
    ("customers", "0005_net_prices"),
    ("documents", "0002_money_in_hundredths"),
    ("exports", "0001_export"),
    ("gift_cards", "0003_money_in_hundredths"),
    ("orders", "0020_placed_by_guest"),
    ("payments", "0012_foreign_refunds"),
    ("pictures", "0003_requests"),
    ("pricing", "0008_money_in_hundredths"),
    ("privacy", "0001_data_requests"),
    ("server", "0001_initial"),
    ("shops", "0016_demo_shops"),
    ("stock_alerts", "0001_stock_alerts"),
    ("sync", "0001_log"),
    ("webhooks", "0005_merchants_words"),
}
BASELINE = {(room, "0001_baseline") for room, _ in BEFORE} | {
    ("catalogue", "0002_search_index"),
    ("shops", "0002_delivery_tax_class"),
}
TOO_OLD = (
    "This database was last migrated by an older version, and nothing was changed. Go through commit 34f82ce first:"
    " git checkout 34f82ce, make setup, storefront migrate. Then come back to this version, and do the same."
)


def adopt_database(connection: Any) -> None:
    """Record the baseline as applied where all migrations of the commit before it are. Raises Failed if some are
    missing. Their rows stay, so that processes of that commit are ready until they are replaced."""
    recorder = MigrationRecorder(connection)
    applied = set(recorder.applied_migrations())
    is_empty = {room for room, _ in applied}.isdisjoint(room for room, _ in BEFORE)
    if is_empty or applied & BASELINE:
        return
    if not applied >= BEFORE:
        raise Failed(TOO_OLD)
    with transaction.atomic(using=connection.alias):
        for room, name in sorted(BASELINE):
            recorder.record_applied(room, name)
