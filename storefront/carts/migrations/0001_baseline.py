import django.db.models.deletion
import storefront.kit.money_field
import uuid
from decimal import Decimal
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('catalogue', '0001_baseline'),
        ('customers', '0001_baseline'),
        ('shops', '0001_baseline'),
    ]

    operations = [
        migrations.CreateModel(
            name='Cart',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('shop', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='carts', to='shops.shop')),
                ('public_id', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('token_digest', models.CharField(editable=False, help_text='Null for a basket that was started in the shop.', max_length=64, null=True, unique=True)),
                ('customer', models.ForeignKey(blank=True, help_text="Only set for a signed-in shopper's basket.", null=True, on_delete=django.db.models.deletion.CASCADE, to='customers.customer')),
                ('created_at', models.DateTimeField()),
                ('updated_at', models.DateTimeField()),
                ('expires_at', models.DateTimeField(db_index=True)),
                ('ordered_at', models.DateTimeField(editable=False, help_text='When an order was last placed from this cart. Null if none was.', null=True)),
                ('discount_codes', models.JSONField(default=list, help_text='The codes that were entered, in normal form.')),
                ('gift_cards', models.JSONField(db_default=[], default=list, help_text='The ids of the gift cards that were entered.')),
                ('merge_report', models.JSONField(editable=False, help_text='What merging added to this basket and what did not fit, until a page says so.', null=True)),
            ],
            options={
                'constraints': [models.UniqueConstraint(condition=models.Q(('customer__isnull', False)), fields=('shop', 'customer'), name='cart_one_a_customer')],
            },
        ),
        migrations.CreateModel(
            name='CartLine',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('shop', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to='shops.shop')),
                ('cart', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='lines', to='carts.cart')),
                ('key', models.CharField(max_length=80)),
                ('product', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to='catalogue.product')),
                ('variant', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, to='catalogue.variant')),
                ('qty', models.PositiveIntegerField()),
                ('price_snapshot', storefront.kit.money_field.MoneyField(default=Decimal('0.00'))),
                ('name_snapshot', models.CharField(max_length=1100)),
                ('image_snapshot', models.CharField(max_length=2048, null=True)),
                ('is_digital', models.BooleanField(default=False)),
                ('is_bundle', models.BooleanField(default=False)),
                ('bundle_items', models.JSONField(default=list)),
                ('options', models.JSONField(default=list)),
                ('custom_fields', models.JSONField(default=list)),
                ('custom_price', storefront.kit.money_field.MoneyField(null=True)),
                ('is_damaged', models.BooleanField(default=False)),
                ('gift_card', models.JSONField(help_text='Of a gift card, what its buyer chose: recipient_email, message, send_on. Null for other products.', null=True)),
                ('available_from', models.DateTimeField(help_text='Of a pre-order with a date: when it is sent.', null=True)),
                ('created_at', models.DateTimeField()),
            ],
            options={
                'ordering': ['id'],
                'constraints': [models.UniqueConstraint(fields=('cart', 'key'), name='cart_line_key_once'), models.CheckConstraint(condition=models.Q(('qty__gte', 1)), name='cart_line_qty_positive')],
            },
        ),
        migrations.CreateModel(
            name='CheckoutLink',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('return_url', models.CharField(blank=True, help_text='Where the shopper can go after the order.', max_length=2048)),
                ('cancel_url', models.CharField(blank=True, help_text='Where the shopper can go instead of ordering.', max_length=2048)),
                ('client_reference', models.CharField(blank=True, help_text="The integration's own reference.", max_length=200)),
                ('metadata', models.JSONField(blank=True, default=dict, help_text="The integration's own data, texts by name.")),
                ('shop', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to='shops.shop')),
                ('public_id', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('cart', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='links', to='carts.cart')),
                ('created_at', models.DateTimeField()),
                ('expires_at', models.DateTimeField()),
            ],
            options={
                'indexes': [models.Index(fields=['expires_at'], name='checkout_link_expiry')],
            },
        ),
        migrations.CreateModel(
            name='Arrival',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('return_url', models.CharField(blank=True, help_text='Where the shopper can go after the order.', max_length=2048)),
                ('cancel_url', models.CharField(blank=True, help_text='Where the shopper can go instead of ordering.', max_length=2048)),
                ('client_reference', models.CharField(blank=True, help_text="The integration's own reference.", max_length=200)),
                ('metadata', models.JSONField(blank=True, default=dict, help_text="The integration's own data, texts by name.")),
                ('shop', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to='shops.shop')),
                ('source', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='departures', to='carts.cart')),
                ('target', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='arrivals', to='carts.cart')),
                ('checkout_link', models.UUIDField(help_text='Public id of the link. The link itself is deleted sooner.', null=True)),
                ('lines', models.JSONField(default=list)),
                ('missing', models.JSONField(default=list)),
                ('was_merged', models.BooleanField(default=False)),
                ('created_at', models.DateTimeField()),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('target', 'source'), name='arrival_once_a_source')],
            },
        ),
        migrations.CreateModel(
            name='CartOrder',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('shop', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to='shops.shop')),
                ('cart', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='orders', to='carts.cart')),
                ('order_id', models.BigIntegerField()),
                ('number', models.BigIntegerField()),
                ('placed_at', models.DateTimeField()),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('cart', 'order_id'), name='cart_order_once')],
            },
        ),
    ]
