import django.db.models.deletion
import uuid
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('carts', '0001_baseline'),
        ('orders', '0001_baseline'),
        ('payments', '0001_baseline'),
        ('pricing', '0001_baseline'),
        ('shops', '0001_baseline'),
    ]

    operations = [
        migrations.CreateModel(
            name='Checkout',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('shop', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to='shops.shop')),
                ('public_id', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('cart', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='checkouts', to='carts.cart')),
                ('owner', models.UUIDField(editable=False, help_text='Secret of the session that the checkout belongs to. Null for older checkouts.', null=True)),
                ('email', models.EmailField(blank=True, max_length=254)),
                ('phone', models.CharField(blank=True, max_length=40)),
                ('shipping_address', models.JSONField(null=True)),
                ('billing_address', models.JSONField(help_text='Null: the same as the shipping address.', null=True)),
                ('vat_id', models.CharField(blank=True, db_default='', default='', help_text='In normal form, with its country.', max_length=20)),
                ('vat_check', models.JSONField(help_text='What the authorities said of the VAT ID (`pricing.vat_ids`).', null=True)),
                ('shipping_rate', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, to='pricing.shippingrate')),
                ('pickup_place', models.ForeignKey(help_text='Instead of a shipping address.', null=True, on_delete=django.db.models.deletion.SET_NULL, to='pricing.pickupplace')),
                ('payment_method', models.CharField(blank=True, max_length=40)),
                ('shopper_note', models.TextField(blank=True)),
                ('draft', models.ForeignKey(help_text='Of the last press of pay.', null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='checkouts', to='payments.orderdraft')),
                ('order', models.OneToOneField(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='checkout', to='orders.order')),
                ('created_at', models.DateTimeField()),
                ('updated_at', models.DateTimeField()),
                ('abandoned_at', models.DateTimeField(editable=False, help_text='When the checkout was found to be abandoned. It is reported once.', null=True)),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('abandoned_at__isnull', True), ('order__isnull', True)), fields=['updated_at'], name='checkout_left_open')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('order__isnull', True)), fields=('cart', 'owner'), name='checkout_one_open_a_session')],
            },
        ),
    ]
