import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('catalogue', '0001_baseline'),
        ('shops', '0001_baseline'),
    ]

    operations = [
        migrations.CreateModel(
            name='StockAlert',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('shop', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='stock_alerts', to='shops.shop')),
                ('product', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='stock_alerts', to='catalogue.product')),
                ('variant', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='stock_alerts', to='catalogue.variant')),
                ('email', models.EmailField(max_length=254)),
                ('created_at', models.DateTimeField()),
                ('confirmed_at', models.DateTimeField(help_text='When the owner of the address said that they wait.', null=True)),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('confirmed_at__isnull', False)), fields=['id'], name='stock_alert_waits'), models.Index(fields=['created_at'], name='stock_alert_age')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('variant__isnull', True)), fields=('shop', 'email', 'product'), name='stock_alert_product_once'), models.UniqueConstraint(condition=models.Q(('variant__isnull', False)), fields=('shop', 'email', 'variant'), name='stock_alert_variant_once')],
            },
        ),
    ]
