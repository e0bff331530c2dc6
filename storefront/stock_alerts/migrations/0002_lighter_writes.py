import django.db.models.deletion
from django.db import migrations, models

from storefront.kit.schema_changes import RelaxField


class Migration(migrations.Migration):

    dependencies = [
        ('shops', '0004_lighter_writes'),
        ('stock_alerts', '0001_baseline'),
    ]

    operations = [
        RelaxField(
            model_name='stockalert',
            name='shop',
            field=models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='stock_alerts', to='shops.shop'),
        ),
    ]
