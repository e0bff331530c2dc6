import django.db.models.deletion
from django.db import migrations, models

from storefront.kit.schema_changes import DropIndexes, LeaveRoom, RelaxField


class Migration(migrations.Migration):

    dependencies = [
        ('carts', '0001_baseline'),
        ('shops', '0004_lighter_writes'),
    ]

    operations = [
        RelaxField(
            model_name='arrival',
            name='shop',
            field=models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.CASCADE, to='shops.shop'),
        ),
        RelaxField(
            model_name='arrival',
            name='target',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='arrivals', to='carts.cart'),
        ),
        RelaxField(
            model_name='cartline',
            name='cart',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='lines', to='carts.cart'),
        ),
        RelaxField(
            model_name='cartline',
            name='shop',
            field=models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.CASCADE, to='shops.shop'),
        ),
        RelaxField(
            model_name='cartorder',
            name='cart',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='orders', to='carts.cart'),
        ),
        RelaxField(
            model_name='cartorder',
            name='shop',
            field=models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.CASCADE, to='shops.shop'),
        ),
        RelaxField(
            model_name='checkoutlink',
            name='shop',
            field=models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.CASCADE, to='shops.shop'),
        ),
        LeaveRoom(tables=["carts_cart"], percent=70),
        DropIndexes(
            names=[
                "carts_cart_token_digest_f30e24c5_like",
            ]
        ),
    ]
