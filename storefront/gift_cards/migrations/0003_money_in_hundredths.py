"""Balances that the database computed in binary fractions become what their logs add up to."""

from datetime import timedelta
from decimal import Decimal

from django.conf import settings
from django.db import migrations
from django.utils import timezone

from storefront.kit.money_migration import MoneyInHundredths

BATCH_ROWS = 2000


def repair_balances(apps, editor):
    """Set each balance that differs from the sum of its entries, which are exact, and write it to the audit log."""
    Card = apps.get_model("gift_cards", "GiftCard")
    Audit = apps.get_model("shops", "AuditEntry")
    now = timezone.now()
    with editor.connection.cursor() as cursor:
        # As SQLite has it: Django would round it.
        cursor.execute("SELECT id, balance FROM gift_cards_giftcard ORDER BY id")
        stored = {card: Decimal(str(balance)) for card, balance in cursor.fetchall()}
    for card in Card.objects.order_by("pk").prefetch_related("entries").iterator(chunk_size=BATCH_ROWS):
        logged = sum((entry.amount for entry in card.entries.all()), Decimal("0.00"))
        # A sum that no balance can be is left for `storefront verify` to report.
        if stored[card.pk] == logged or not 0 <= logged <= card.value:
            continue
        Card.objects.filter(pk=card.pk).update(balance=logged)
        Audit.objects.create(
            shop_id=card.shop_id,
            at=now,
            keep_until=(now + timedelta(days=settings.AUDIT_DAYS)).date(),
            actor_kind="system",
            action="gift_card.balance_corrected",
            object_type="gift_card",
            object_id=card.pk,
            object_name=f"…{card.last_four}" if card.last_four else f"Gift card {card.pk}",
            before={"balance": str(stored[card.pk])},
            after={"balance": str(logged)},
        )


class Migration(migrations.Migration):
    dependencies = [("gift_cards", "0002_withdrawn"), ("shops", "0015_domains")]

    operations = [
        migrations.RunPython(repair_balances, migrations.RunPython.noop),
        MoneyInHundredths(signed=["giftcardentry.amount"]),
    ]
