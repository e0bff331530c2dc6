import django.db.models.deletion
from django.db import migrations, models

from storefront.kit.schema_changes import LeaveRoom, RelaxField


class Migration(migrations.Migration):

    dependencies = [
        ('shops', '0004_lighter_writes'),
        ('webhooks', '0001_baseline'),
    ]

    operations = [
        RelaxField(
            model_name='attempt',
            name='shop',
            field=models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, to='shops.shop'),
        ),
        RelaxField(
            model_name='delivery',
            name='shop',
            field=models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, to='shops.shop'),
        ),
        RelaxField(
            model_name='registration',
            name='shop',
            field=models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, to='shops.shop'),
        ),
        LeaveRoom(tables=["webhooks_event", "webhooks_delivery", "webhooks_feed"], percent=70),
    ]
