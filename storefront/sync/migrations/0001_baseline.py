import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('catalogue', '0001_baseline'),
        ('customers', '0001_baseline'),
        ('orders', '0001_baseline'),
        ('shops', '0001_baseline'),
    ]

    operations = [
        migrations.CreateModel(
            name='Change',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('shop', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, to='shops.shop')),
                ('kind', models.CharField(choices=[('product', 'Product'), ('order', 'Order'), ('customer', 'Customer')], max_length=10)),
                ('object_id', models.BigIntegerField(help_text='Id of the product, order or customer.')),
                ('variant_id', models.BigIntegerField(help_text="The product's variant that was changed or deleted, if it was one.", null=True)),
                ('xact', models.BigIntegerField(help_text='Number of the transaction on PostgreSQL; 0 on SQLite.')),
                ('at', models.DateTimeField(help_text='When it was written, by the clock of the database.')),
            ],
            options={
                'indexes': [models.Index(fields=['shop', 'kind', 'xact', 'id'], name='change_in_order'), models.Index(fields=['shop', 'kind', 'at', 'object_id'], name='change_by_time')],
            },
        ),
        migrations.CreateModel(
            name='Log',
            fields=[
                ('shop', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, serialize=False, to='shops.shop')),
                ('generation', models.PositiveIntegerField(default=0)),
            ],
        ),
    ]
