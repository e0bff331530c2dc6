import django.db.models.deletion
from django.db import migrations, models

from storefront.kit.dividing import DivideByTime
from storefront.kit.schema_changes import RelaxField


class Migration(migrations.Migration):

    # The tables are divided without keeping others from them.
    atomic = False

    dependencies = [("webhooks", "0002_lighter_writes")]

    operations = [
        # No key can lead to a divided table by the id alone.
        RelaxField(
            model_name="delivery",
            name="event",
            field=models.ForeignKey(db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.CASCADE, to="webhooks.event"),
        ),
        RelaxField(
            model_name="attempt",
            name="delivery",
            field=models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="attempts", to="webhooks.delivery"),
        ),
        DivideByTime(table="webhooks_event", column="created_at", interval="month"),
        DivideByTime(table="webhooks_delivery", column="created_at", interval="month"),
        DivideByTime(table="webhooks_attempt", column="started_at", interval="month"),
    ]
