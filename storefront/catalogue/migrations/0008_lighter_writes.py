import django.db.models.deletion
from django.db import migrations, models

from storefront.kit.schema_changes import LeaveRoom, RelaxField


class Migration(migrations.Migration):

    dependencies = [
        ('catalogue', '0007_undo_imports'),
        ('shops', '0004_lighter_writes'),
    ]

    operations = [
        migrations.CreateModel(
            name='LastChange',
            fields=[
                ('product', models.OneToOneField(db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, primary_key=True, related_name='last_change', serialize=False, to='catalogue.product')),
                ('updated_at', models.DateTimeField()),
            ],
        ),
        migrations.RemoveIndex(
            model_name='product',
            name='product_newest_change',
        ),
        RelaxField(
            model_name='category',
            name='shop',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='categories', to='shops.shop'),
        ),
        RelaxField(
            model_name='columnmapping',
            name='shop',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, to='shops.shop'),
        ),
        RelaxField(
            model_name='digitalfile',
            name='shop',
            field=models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.CASCADE, to='shops.shop'),
        ),
        RelaxField(
            model_name='externalid',
            name='source',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, to='catalogue.importsource'),
        ),
        RelaxField(
            model_name='importsource',
            name='shop',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, to='shops.shop'),
        ),
        RelaxField(
            model_name='productimport',
            name='shop',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, to='shops.shop'),
        ),
        RelaxField(
            model_name='relatedproduct',
            name='product',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='related', to='catalogue.product'),
        ),
        RelaxField(
            model_name='relatedproduct',
            name='shop',
            field=models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.CASCADE, to='shops.shop'),
        ),
        migrations.AddField(
            model_name='lastchange',
            name='shop',
            field=models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, to='shops.shop'),
        ),
        migrations.AddIndex(
            model_name='lastchange',
            index=models.Index(fields=['shop', '-updated_at', '-product'], name='last_change_newest'),
        ),
        LeaveRoom(tables=["catalogue_product", "catalogue_variant"], percent=85),
    ]
