import django.db.models.deletion
from django.db import migrations, models

from storefront.kit.schema_changes import RelaxField


class Migration(migrations.Migration):

    dependencies = [
        ('pricing', '0001_baseline'),
        ('shops', '0004_lighter_writes'),
    ]

    operations = [
        RelaxField(
            model_name='discountcode',
            name='shop',
            field=models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, to='shops.shop'),
        ),
        RelaxField(
            model_name='discountgroup',
            name='discount',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='groups', to='pricing.discount'),
        ),
        RelaxField(
            model_name='discountgroup',
            name='shop',
            field=models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.CASCADE, to='shops.shop'),
        ),
        RelaxField(
            model_name='discounttarget',
            name='shop',
            field=models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.CASCADE, to='shops.shop'),
        ),
        RelaxField(
            model_name='groupprice',
            name='shop',
            field=models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.CASCADE, to='shops.shop'),
        ),
        RelaxField(
            model_name='redemption',
            name='discount',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='redemptions', to='pricing.discount'),
        ),
        RelaxField(
            model_name='redemption',
            name='sale',
            field=models.UUIDField(),
        ),
        RelaxField(
            model_name='redemption',
            name='shop',
            field=models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.CASCADE, to='shops.shop'),
        ),
        RelaxField(
            model_name='shippingrate',
            name='shop',
            field=models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.CASCADE, related_name='shipping_rates', to='shops.shop'),
        ),
        RelaxField(
            model_name='shippingratestep',
            name='shop',
            field=models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.CASCADE, to='shops.shop'),
        ),
    ]
