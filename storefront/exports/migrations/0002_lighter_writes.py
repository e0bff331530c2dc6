import django.db.models.deletion
from django.db import migrations, models

from storefront.kit.schema_changes import RelaxField


class Migration(migrations.Migration):

    dependencies = [
        ('exports', '0001_baseline'),
        ('shops', '0004_lighter_writes'),
    ]

    operations = [
        RelaxField(
            model_name='export',
            name='shop',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, to='shops.shop'),
        ),
    ]
