"""Stock adjustments become the stock ledger, which triggers write from now on. They are created after all migrations,
and then add an opening row to each stock that the ledger does not explain."""

import django.db.models.deletion
from django.db import migrations, models
from django.utils import timezone

KINDS = [
    ('opening', 'Counted when the ledger began'),
    ('created', 'New product'),
    ('sold', 'Sold'),
    ('returned', 'Put back'),
    ('adjusted', 'Adjusted'),
    ('edited', 'Changed in a form'),
    ('imported', 'Imported'),
    ('changed', 'Changed'),
    ('removed', 'Variant removed'),
]


def open_adjusted(apps, editor):
    """Open the ledger of stocks that were adjusted: the sales between their adjustments were not recorded."""
    Adjustment = apps.get_model('catalogue', 'StockAdjustment')
    now = timezone.now()
    owners = Adjustment.objects.order_by().values_list('shop_id', 'product_id', 'variant_id').distinct()
    rows = []
    for shop, product, variant in list(owners):
        model, pk = ('Variant', variant) if variant else ('Product', product)
        stock = apps.get_model('catalogue', model).objects.filter(pk=pk).values_list('stock_qty', flat=True).first()
        last = Adjustment.objects.filter(product=product, variant=variant).order_by('-id').first()
        stock = stock or 0
        rows.append(
            Adjustment(
                shop_id=shop, product_id=product, variant_id=variant, kind='opening', made_at=now,
                delta=stock - last.stock_after, stock_after=stock,
            )
        )
    Adjustment.objects.bulk_create(rows, batch_size=500)


class Migration(migrations.Migration):

    dependencies = [
        ('catalogue', '0011_digital_files'),
    ]

    operations = [
        migrations.AddField(
            model_name='stockadjustment',
            name='kind',
            field=models.CharField(choices=KINDS, db_default='adjusted', max_length=10),
        ),
        migrations.AddField(
            model_name='stockadjustment',
            name='of_damaged',
            field=models.BooleanField(default=False, db_default=False, verbose_name='damaged units'),
        ),
        migrations.AddField(
            model_name='stockadjustment',
            name='reference',
            field=models.CharField(blank=True, default='', db_default='', help_text='What the change belongs to, such as an order.', max_length=100),
        ),
        migrations.AlterField(
            model_name='stockadjustment',
            name='reason',
            field=models.CharField(blank=True, max_length=255),
        ),
        migrations.AlterField(
            model_name='stockadjustment',
            name='stock_after',
            field=models.IntegerField(help_text='Stock after the change.'),
        ),
        migrations.AlterField(
            model_name='stockadjustment',
            name='shop',
            field=models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, to='shops.shop'),
        ),
        migrations.AlterField(
            model_name='stockadjustment',
            name='product',
            field=models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.CASCADE, related_name='adjustments', to='catalogue.product'),
        ),
        migrations.AlterField(
            model_name='stockadjustment',
            name='variant',
            field=models.ForeignKey(db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='adjustments', to='catalogue.variant'),
        ),
        migrations.AlterModelOptions(
            name='stockadjustment',
            options={'ordering': ['-id'], 'verbose_name': 'stock change'},
        ),
        migrations.RunPython(open_adjusted, migrations.RunPython.noop),
    ]
