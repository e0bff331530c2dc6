import django.db.models.deletion
from django.db import migrations, models

from storefront.kit.schema_changes import AddIndexWhileWriting, LeaveRoom, RelaxField


class Migration(migrations.Migration):
    # Each operation can be repeated.
    atomic = False

    dependencies = [
        ('orders', '0002_lighter_writes'),
        ('payments', '0002_replaced_settings'),
        ('shops', '0004_lighter_writes'),
    ]

    operations = [
        LeaveRoom(tables=["orders_payment", "payments_orderdraft"], percent=60),
        RelaxField(
            model_name='payment',
            name='shop',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, to='shops.shop'),
        ),
        RelaxField(
            model_name='paymententry',
            name='shop',
            field=models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.CASCADE, to='shops.shop'),
        ),
        RelaxField(
            model_name='provideraccount',
            name='shop',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, to='shops.shop'),
        ),
        RelaxField(
            model_name='refund',
            name='shop',
            field=models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.CASCADE, to='shops.shop'),
        ),
        RelaxField(
            model_name='refundline',
            name='refund',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='lines', to='payments.refund'),
        ),
        RelaxField(
            model_name='refundline',
            name='shop',
            field=models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.CASCADE, to='shops.shop'),
        ),
        RelaxField(
            model_name='replacedsettings',
            name='shop',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, to='shops.shop'),
        ),
        RelaxField(
            model_name='savedmethod',
            name='shop',
            field=models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, to='shops.shop'),
        ),
        AddIndexWhileWriting(
            model_name='payment',
            index=models.Index(condition=models.Q(('alert', ''), _negated=True), fields=['shop'], name='payment_with_alert'),
        ),
        migrations.RemoveIndex(
            model_name='payment',
            name='payment_alert',
        ),
    ]
