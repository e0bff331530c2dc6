import django.db.models.deletion
import django.db.models.expressions
import django.db.models.functions.text
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
            name='OrderCounter',
            fields=[
                ('shop', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, serialize=False, to='shops.shop')),
                ('last_number', models.BigIntegerField(default=1000)),
            ],
        ),
        migrations.CreateModel(
            name='Order',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('return_url', models.CharField(blank=True, help_text='Where the shopper can go after the order.', max_length=2048)),
                ('cancel_url', models.CharField(blank=True, help_text='Where the shopper can go instead of ordering.', max_length=2048)),
                ('client_reference', models.CharField(blank=True, help_text="The integration's own reference.", max_length=200)),
                ('metadata', models.JSONField(blank=True, default=dict, help_text="The integration's own data, texts by name.")),
                ('shop', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='orders', to='shops.shop')),
                ('public_id', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('number', models.BigIntegerField(editable=False)),
                ('status', models.CharField(choices=[('open', 'Open'), ('fulfilled', 'Fulfilled'), ('cancelled', 'Cancelled')], default='open', max_length=10)),
                ('payment_status', models.CharField(choices=[('pending', 'Pending'), ('paid', 'Paid'), ('partially_refunded', 'Partially refunded'), ('refunded', 'Refunded')], default='pending', max_length=20)),
                ('fulfilment_status', models.CharField(choices=[('unfulfilled', 'Not sent'), ('partially_fulfilled', 'Partly sent'), ('fulfilled', 'Sent')], db_default='unfulfilled', default='unfulfilled', help_text='Follows from the lines (orders.sending).', max_length=20)),
                ('customer', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='orders', to='customers.customer')),
                ('placed_by_guest', models.BooleanField(db_default=False, default=False, editable=False, help_text="Whether nobody was signed in. It may be a stranger's, also if its address belongs to a customer.")),
                ('email', models.EmailField(max_length=254, verbose_name='email address')),
                ('phone', models.CharField(blank=True, max_length=40)),
                ('currency', models.CharField(max_length=3)),
                ('subtotal', storefront.kit.money_field.MoneyField(default=Decimal('0.00'))),
                ('discount', storefront.kit.money_field.MoneyField(default=Decimal('0.00'))),
                ('shipping', storefront.kit.money_field.MoneyField(default=Decimal('0.00'))),
                ('tax', storefront.kit.money_field.MoneyField(default=Decimal('0.00'), help_text='Tax added to the prices, or included in them if prices include tax.')),
                ('total', storefront.kit.money_field.MoneyField(default=Decimal('0.00'))),
                ('refunded', storefront.kit.money_field.MoneyField(default=Decimal('0.00'), help_text='Amount that has been refunded.')),
                ('prices_include_tax', models.BooleanField()),
                ('tax_lines', models.JSONField(default=list, help_text='[{"name": "VAT", "percent": "19", "base": "20.00", "amount": "3.80", "treatment": "taxed"}]. Orders from before bases were kept have no base and treatment.')),
                ('vat_id', models.CharField(blank=True, db_default='', default='', help_text='Of the customer, if it was given.', max_length=20, verbose_name='VAT ID')),
                ('vat_check', models.JSONField(help_text='What the authorities said of the VAT ID, and when.', null=True)),
                ('discount_lines', models.JSONField(default=list, help_text='[{"name": "Autumn", "amount": "5.00", "code": "AUTUMN5"}]')),
                ('gift_cards', models.JSONField(db_default=[], default=list, help_text='What gift cards paid: [{"card": 1, "last_four": "K7QM", "amount": "5.00"}]')),
                ('redemption', models.UUIDField(editable=False, help_text='Number under which uses of discounts were counted, until given back.', null=True)),
                ('shipping_method', models.CharField(blank=True, max_length=100)),
                ('delivery_time', models.CharField(blank=True, db_default='', default='', help_text='As the shopper saw it.', max_length=100)),
                ('pickup_place', models.JSONField(help_text='The address to collect the order from, with its opening hours. Null: it is not collected.', null=True)),
                ('shipping_address', models.JSONField(null=True)),
                ('billing_address', models.JSONField()),
                ('payment_method', models.CharField(max_length=40)),
                ('note', models.TextField(blank=True, help_text='Internal note. Shoppers do not see it.')),
                ('shopper_note', models.TextField(blank=True)),
                ('tags', models.JSONField(blank=True, default=list)),
                ('checkout_link', models.UUIDField(editable=False, help_text='Public id of the checkout link that brought items of the order.', null=True)),
                ('placed_at', models.DateTimeField()),
                ('updated_at', models.DateTimeField()),
                ('cancelled_at', models.DateTimeField(blank=True, null=True)),
                ('cancel_reason', models.TextField(blank=True)),
                ('restocked_at', models.DateTimeField(blank=True, help_text="When the order's items were restocked.", null=True)),
                ('erased_at', models.DateTimeField(editable=False, help_text='When the customer was erased from it (`erasing.py`).', null=True)),
            ],
            options={
                'ordering': ['-placed_at', '-id'],
                'indexes': [models.Index(fields=['shop', 'placed_at', 'id'], name='orders_orde_shop_id_0f7eef_idx'), models.Index(fields=['shop', 'status', 'placed_at', 'id'], name='orders_orde_shop_id_82d220_idx'), models.Index(models.F('shop'), django.db.models.functions.text.Lower('email'), models.F('placed_at'), models.F('id'), name='order_email'), models.Index(fields=['shop', 'client_reference', 'placed_at', 'id'], name='order_client_reference'), models.Index(condition=models.Q(('checkout_link__isnull', False)), fields=['shop', 'checkout_link', 'placed_at', 'id'], name='order_checkout_link'), models.Index(fields=['shop', 'updated_at'], name='order_by_change'), models.Index(fields=['shop', 'payment_status', 'placed_at', 'id'], name='order_by_payment'), models.Index(fields=['shop', 'placed_at', 'currency', 'status', 'total', 'id'], name='order_figures')],
                'constraints': [models.UniqueConstraint(fields=('shop', 'number'), name='order_number_once'), models.CheckConstraint(condition=models.Q(('total__gte', 0)), name='order_total_not_negative'), models.CheckConstraint(condition=models.Q(('refunded__gte', 0), ('refunded__lte', models.F('total'))), name='order_refunded_within_total')],
            },
        ),
        migrations.CreateModel(
            name='OrderWord',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('shop', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='shops.shop')),
                ('order', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='words', to='orders.order')),
                ('word', models.CharField(max_length=100)),
            ],
            options={
                'indexes': [models.Index(fields=['shop', 'word', 'order'], name='order_word_found', opclasses=['int8_ops', 'varchar_pattern_ops', 'int8_ops'])],
                'constraints': [models.UniqueConstraint(fields=('order', 'word'), name='order_word_once')],
            },
        ),
        migrations.CreateModel(
            name='OrderMail',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('shop', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='shops.shop')),
                ('order', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='mails', to='orders.order')),
                ('kind', models.CharField(max_length=40)),
                ('email', models.EmailField(max_length=254, verbose_name='email address')),
                ('subject', models.CharField(max_length=255)),
                ('text', models.TextField(blank=True)),
                ('written_by', models.CharField(blank=True, help_text='Who of the staff wrote it.', max_length=254)),
                ('created_at', models.DateTimeField()),
                ('sent_at', models.DateTimeField(null=True)),
                ('failed_at', models.DateTimeField(help_text='When it was given up, after the last try.', null=True)),
            ],
            options={
                'ordering': ['id'],
                'indexes': [models.Index(condition=models.Q(('text', ''), _negated=True), fields=['shop', 'created_at'], name='order_mail_written'), models.Index(condition=models.Q(('failed_at__isnull', False)), fields=['shop', 'failed_at'], name='order_mail_failed')],
            },
        ),
        migrations.CreateModel(
            name='OrderLine',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('shop', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to='shops.shop')),
                ('order', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='lines', to='orders.order')),
                ('product', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='catalogue.product')),
                ('variant', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='catalogue.variant')),
                ('sku', models.CharField(blank=True, max_length=255, verbose_name='SKU')),
                ('name', models.CharField(max_length=1100)),
                ('image', models.CharField(max_length=2048, null=True)),
                ('qty', models.PositiveIntegerField()),
                ('fulfilled_qty', models.PositiveIntegerField(default=0)),
                ('refunded_qty', models.PositiveIntegerField(db_default=0, default=0, help_text='Pieces that were refunded by line.')),
                ('withdrawn_qty', models.PositiveIntegerField(db_default=0, default=0, help_text='Of those, the ones that are not sent any more.')),
                ('closed_qty', models.PositiveIntegerField(db_default=0, default=0, help_text='Other pieces that are not sent any more.')),
                ('restocked_qty', models.PositiveIntegerField(db_default=0, default=0, help_text='Pieces whose stock was put back.')),
                ('unit_price', storefront.kit.money_field.MoneyField(default=Decimal('0.00'))),
                ('line_total', storefront.kit.money_field.MoneyField(default=Decimal('0.00'))),
                ('discount', storefront.kit.money_field.MoneyField(db_default=Decimal('0.00'), default=Decimal('0.00'), help_text="The line's share of the order's discount.")),
                ('tax', storefront.kit.money_field.MoneyField(default=Decimal('0.00'))),
                ('tax_lines', models.JSONField(db_default=[], default=list, help_text='The taxes of the line by rate, as in `Order`.')),
                ('is_digital', models.BooleanField(default=False)),
                ('is_bundle', models.BooleanField(default=False)),
                ('is_damaged', models.BooleanField(default=False)),
                ('requires_shipping', models.BooleanField(default=True)),
                ('bundle_items', models.JSONField(default=list)),
                ('options', models.JSONField(default=list)),
                ('custom_fields', models.JSONField(default=list)),
                ('gift_card', models.JSONField(help_text='Of a gift card, what its buyer chose, as in `CartLine`.', null=True)),
                ('available_from', models.DateTimeField(help_text='Of a pre-order with a date: when it is sent.', null=True)),
                ('stock_taken', models.JSONField(default=list, help_text='[{"stock": "product" | "variant" | "damaged", "id": 1, "qty": 2}]')),
            ],
            options={
                'ordering': ['id'],
                'constraints': [models.CheckConstraint(condition=models.Q(('fulfilled_qty__lte', django.db.models.expressions.CombinedExpression(django.db.models.expressions.CombinedExpression(models.F('qty'), '-', models.F('withdrawn_qty')), '-', models.F('closed_qty')))), name='order_line_fulfilled_within_qty'), models.CheckConstraint(condition=models.Q(('refunded_qty__lte', models.F('qty')), ('withdrawn_qty__lte', models.F('refunded_qty'))), name='order_line_refunded_within_qty'), models.CheckConstraint(condition=models.Q(('restocked_qty__lte', models.F('qty'))), name='order_line_restocked_within_qty')],
            },
        ),
        migrations.CreateModel(
            name='Download',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('shop', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to='shops.shop')),
                ('order', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='downloads', to='orders.order')),
                ('line', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='downloads', to='orders.orderline')),
                ('file', models.ForeignKey(on_delete=django.db.models.deletion.RESTRICT, related_name='+', to='catalogue.storedfile')),
                ('name', models.CharField(max_length=200)),
                ('max_downloads', models.PositiveIntegerField(help_text='0: no limit.')),
                ('expiry_days', models.PositiveIntegerField(help_text='Days from the payment; 0: never.')),
                ('expires_at', models.DateTimeField(null=True)),
                ('used', models.PositiveIntegerField(default=0, help_text='How often it was downloaded.')),
                ('begun_at', models.DateTimeField(help_text='When the latest counted download began.', null=True)),
                ('sent', models.BigIntegerField(default=0, help_text='Bytes that were sent of it since, resumed parts included.')),
            ],
            options={
                'ordering': ['line_id', 'id'],
                'constraints': [models.UniqueConstraint(fields=('line', 'file'), name='download_once'), models.CheckConstraint(condition=models.Q(('max_downloads', 0), ('used__lte', models.F('max_downloads')), _connector='OR'), name='download_within_limit')],
            },
        ),
        migrations.CreateModel(
            name='Fulfilment',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('shop', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to='shops.shop')),
                ('order', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='fulfilments', to='orders.order')),
                ('carrier', models.CharField(blank=True, max_length=100)),
                ('tracking_number', models.CharField(blank=True, max_length=100)),
                ('tracking_url', models.URLField(blank=True, max_length=2048, verbose_name='tracking URL')),
                ('created_at', models.DateTimeField()),
                ('cancelled_at', models.DateTimeField(null=True)),
            ],
            options={
                'ordering': ['id'],
            },
        ),
        migrations.CreateModel(
            name='FulfilmentLine',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('shop', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to='shops.shop')),
                ('fulfilment', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='lines', to='orders.fulfilment')),
                ('line', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='orders.orderline')),
                ('qty', models.PositiveIntegerField()),
            ],
            options={
                'ordering': ['id'],
                'constraints': [models.UniqueConstraint(fields=('fulfilment', 'line'), name='fulfilment_line_once'), models.CheckConstraint(condition=models.Q(('qty__gte', 1)), name='fulfilment_line_qty_positive')],
            },
        ),
    ]
