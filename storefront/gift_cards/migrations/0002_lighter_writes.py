import django.db.models.deletion
from django.db import migrations, models

from storefront.kit.schema_changes import RelaxField


class Migration(migrations.Migration):

    dependencies = [
        ('gift_cards', '0001_baseline'),
        ('shops', '0004_lighter_writes'),
    ]

    operations = [
        RelaxField(
            model_name='giftcard',
            name='shop',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='gift_cards', to='shops.shop'),
        ),
        RelaxField(
            model_name='giftcardentry',
            name='shop',
            field=models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.CASCADE, to='shops.shop'),
        ),
    ]
