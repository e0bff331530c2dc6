"""Give lists by status an index of last changes. `migrate` fills the new column when it creates the triggers again: it
writes each row of the table then, so the index is not worth a migration of its own that lets others write."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("catalogue", "0009_count_by_status")]

    operations = [
        migrations.AddField("lastchange", "status", models.CharField(db_default="", max_length=10)),
        migrations.AddIndex(
            "lastchange",
            models.Index(fields=["shop", "status", "-updated_at", "-product"], name="last_change_of_status"),
        ),
    ]
