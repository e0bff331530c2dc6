"""Payments and refunds moved to the room `payments`. Their tables stay as they are."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("orders", "0006_by_change"),
        ("payments", "0001_moved"),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[migrations.DeleteModel(name="Refund"), migrations.DeleteModel(name="Payment")]
        )
    ]
