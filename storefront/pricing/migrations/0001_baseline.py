import django.core.validators
import django.db.models.deletion
import django.db.models.functions.text
import storefront.kit.money_field
import storefront.pricing.delivery_models
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
            name='DeliveryZone',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('shop', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='delivery_zones', to='shops.shop')),
                ('name', models.CharField(help_text='Only staff see it.', max_length=100)),
                ('countries', models.JSONField(blank=True, default=list, help_text='Choose none for all countries that no other zone has.')),
                ('regions', models.JSONField(blank=True, default=list, help_text='As shoppers write them, with other spellings, such as Bavaria, Bayern. Leave empty for the whole country.', verbose_name='only these states or regions')),
                ('postcodes', models.JSONField(blank=True, default=list, help_text='Such as 18565, 25*, 9000-9999. Spaces and capitals do not matter. Leave empty for all.', verbose_name='only these postal codes')),
            ],
            options={
                'constraints': [models.UniqueConstraint(models.F('shop'), django.db.models.functions.text.Lower('name'), name='delivery_zone_name_once')],
            },
        ),
        migrations.CreateModel(
            name='ShippingRate',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('shop', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='shipping_rates', to='shops.shop')),
                ('zone', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='rates', to='pricing.deliveryzone')),
                ('name', models.CharField(help_text='As shoppers see it, such as Parcel.', max_length=100)),
                ('delivery_time', models.CharField(blank=True, db_default='', default='', help_text='Shoppers see it with the name, such as 2 to 3 working days.', max_length=100)),
                ('basis', models.CharField(choices=[('order', 'one price for every order'), ('weight', 'by weight'), ('subtotal', 'by subtotal'), ('count', 'by number of pieces')], db_default='order', default='order', max_length=10, verbose_name='priced')),
                ('price', storefront.kit.money_field.MoneyField(default=Decimal('0.00'), help_text='The price of every order. With a table, the table has the prices.')),
                ('free_from', storefront.kit.money_field.MoneyField(blank=True, help_text='Free for a subtotal of at least this amount. Leave empty if it is never free.', null=True)),
                ('free_with_discount', models.BooleanField(db_default=False, default=False, help_text='Discounts with free delivery cover the rates that have this. If no rate offered to the shopper has it, they cover the cheapest.', verbose_name='included in free delivery')),
                ('minimum_weight', storefront.pricing.delivery_models.QuantityField(decimal_places=3, default=Decimal('0'), max_digits=10)),
                ('maximum_weight', storefront.pricing.delivery_models.QuantityField(blank=True, decimal_places=3, help_text='In the same unit as product weights. Products without a weight count as 0.', max_digits=10, null=True)),
                ('is_media_mail', models.BooleanField(db_default=False, default=False, help_text='Only if all items to send are eligible for media mail.', verbose_name='only for media mail')),
                ('shipping_origin', models.ForeignKey(blank=True, help_text='Only if all items to send come from here. Baskets with items from several origins need a rate without it.', null=True, on_delete=django.db.models.deletion.RESTRICT, to='catalogue.shippingorigin')),
                ('sort_order', models.IntegerField(default=0)),
                ('is_active', models.BooleanField(default=True)),
            ],
            options={
                'ordering': ['sort_order', 'id'],
                'constraints': [models.CheckConstraint(condition=models.Q(('price__gte', 0)), name='shipping_rate_price_not_negative'), models.CheckConstraint(condition=models.Q(('maximum_weight__isnull', True), ('maximum_weight__gte', models.F('minimum_weight')), _connector='OR'), name='shipping_rate_weight_range')],
            },
        ),
        migrations.CreateModel(
            name='ShippingRateStep',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('shop', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to='shops.shop')),
                ('rate', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='steps', to='pricing.shippingrate')),
                ('up_to', storefront.pricing.delivery_models.QuantityField(blank=True, decimal_places=3, help_text='Included. Leave empty for everything above. Without such a row, the rate ends.', max_digits=12, null=True)),
                ('price', storefront.kit.money_field.MoneyField(default=Decimal('0.00'))),
            ],
            options={
                'verbose_name': 'price',
                'ordering': [models.OrderBy(models.F('up_to'), nulls_last=True)],
                'constraints': [models.UniqueConstraint(condition=models.Q(('up_to__isnull', False)), fields=('rate', 'up_to'), name='shipping_rate_step_once'), models.UniqueConstraint(condition=models.Q(('up_to__isnull', True)), fields=('rate',), name='shipping_rate_last_step_once'), models.CheckConstraint(condition=models.Q(('price__gte', 0)), name='shipping_rate_step_price_not_negative')],
            },
        ),
        migrations.CreateModel(
            name='PickupPlace',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('shop', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='pickup_places', to='shops.shop')),
                ('name', models.CharField(help_text='As shoppers see it, such as Shop at the harbour.', max_length=80)),
                ('line1', models.CharField(max_length=200, verbose_name='street and number')),
                ('line2', models.CharField(blank=True, max_length=200, verbose_name='floor, entrance, etc.')),
                ('postal_code', models.CharField(blank=True, max_length=20)),
                ('city', models.CharField(max_length=100, verbose_name='town or city')),
                ('region', models.CharField(blank=True, max_length=100, verbose_name='state or region')),
                ('country', models.CharField(max_length=2)),
                ('hours', models.CharField(blank=True, help_text='Shoppers see it, such as Monday to Friday, 9 to 18.', max_length=200, verbose_name='opening hours')),
                ('ready', models.CharField(blank=True, help_text='Shoppers see it, such as Ready the next working day.', max_length=100, verbose_name='ready')),
                ('price', storefront.kit.money_field.MoneyField(default=Decimal('0.00'), help_text='What collecting costs. 0 if it is free.')),
                ('sort_order', models.IntegerField(default=0)),
                ('is_active', models.BooleanField(default=True)),
            ],
            options={
                'verbose_name': 'pick-up place',
                'ordering': ['sort_order', 'id'],
                'constraints': [models.UniqueConstraint(models.F('shop'), django.db.models.functions.text.Lower('name'), name='pickup_place_name_once'), models.CheckConstraint(condition=models.Q(('price__gte', 0)), name='pickup_place_price_not_negative')],
            },
        ),
        migrations.CreateModel(
            name='GroupPrice',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('shop', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to='shops.shop')),
                ('group', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='prices', to='customers.customergroup')),
                ('product', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='group_prices', to='catalogue.product')),
                ('variant', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='group_prices', to='catalogue.variant')),
                ('price', storefront.kit.money_field.MoneyField(default=Decimal('0.00'))),
            ],
            options={
                'constraints': [models.UniqueConstraint(condition=models.Q(('variant__isnull', True)), fields=('group', 'product'), name='group_price_product_once'), models.UniqueConstraint(condition=models.Q(('variant__isnull', False)), fields=('group', 'variant'), name='group_price_variant_once'), models.CheckConstraint(condition=models.Q(('price__gte', 0)), name='group_price_not_negative')],
            },
        ),
        migrations.CreateModel(
            name='Discount',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('shop', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='discounts', to='shops.shop')),
                ('name', models.CharField(help_text='Shoppers see it in the basket and on the order.', max_length=100)),
                ('kind', models.CharField(choices=[('percent', 'percentage'), ('amount', 'fixed amount'), ('free_delivery', 'free delivery'), ('buy_get', 'buy some, get some for less')], default='percent', max_length=20)),
                ('value', models.DecimalField(decimal_places=2, default=Decimal('0'), help_text='The percentage or the amount. For buy some, get some: the percentage off the cheaper pieces, 100 for free ones. Leave 0 for free delivery.', max_digits=14, validators=[django.core.validators.MinValueValidator(Decimal('0'))])),
                ('buy_qty', models.PositiveIntegerField(blank=True, help_text='Pieces at the full price, such as 2 in: buy 2, get 1 free.', null=True, verbose_name='pieces to buy')),
                ('get_qty', models.PositiveIntegerField(blank=True, help_text='Pieces for less, such as 1 in: buy 2, get 1 free.', null=True, verbose_name='pieces for less')),
                ('needs_code', models.BooleanField(default=False, help_text='Otherwise it applies by itself to every basket that fits.', verbose_name='only with a code')),
                ('is_combinable', models.BooleanField(default=True, help_text='If it cannot be combined with other discounts, shoppers get whatever takes off more.', verbose_name='can be combined')),
                ('minimum_subtotal', storefront.kit.money_field.MoneyField(default=Decimal('0.00'), help_text='Applies to a subtotal of at least this amount. All items in the basket count.')),
                ('is_limited_to_items', models.BooleanField(default=False, help_text='Only for the products, categories and brands listed below.', verbose_name='only for some items')),
                ('includes_subcategories', models.BooleanField(default=True, help_text='Whether a category stands for its subcategories, too.')),
                ('is_limited_to_groups', models.BooleanField(default=False, help_text='Only for signed-in customers of the groups listed below.', verbose_name='only for some customers')),
                ('starts_at', models.DateTimeField(blank=True, null=True)),
                ('ends_at', models.DateTimeField(blank=True, null=True)),
                ('is_active', models.BooleanField(default=True)),
                ('use_limit', models.PositiveIntegerField(blank=True, help_text='How many orders can use it. Leave empty for any number.', null=True, verbose_name='uses in total')),
                ('customer_limit', models.PositiveIntegerField(blank=True, help_text='By account or email address. Leave empty for any number.', null=True, verbose_name='uses per customer')),
                ('uses', models.PositiveIntegerField(default=0, editable=False, help_text='Orders that use it. Counted where it needs a code or has a limit.')),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('value__gte', 0), models.Q(('kind', 'amount'), ('value__lte', 100), _connector='OR')), name='discount_value_range'), models.CheckConstraint(condition=models.Q(models.Q(('kind', 'buy_get'), _negated=True), models.Q(('buy_qty__gte', 1), ('buy_qty__isnull', False), ('get_qty__gte', 1), ('get_qty__isnull', False)), _connector='OR'), name='discount_buy_get_pieces'), models.CheckConstraint(condition=models.Q(('use_limit__isnull', True), ('uses__lte', models.F('use_limit')), _connector='OR'), name='discount_uses_within_limit')],
            },
        ),
        migrations.CreateModel(
            name='DiscountTarget',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('shop', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to='shops.shop')),
                ('discount', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='targets', to='pricing.discount')),
                ('product', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='catalogue.product')),
                ('category', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='catalogue.category')),
                ('brand', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='catalogue.brand')),
            ],
            options={
                'verbose_name': 'item',
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('brand__isnull', True), ('category__isnull', True), ('product__isnull', False)), models.Q(('brand__isnull', True), ('category__isnull', False), ('product__isnull', True)), models.Q(('brand__isnull', False), ('category__isnull', True), ('product__isnull', True)), _connector='OR'), name='discount_target_is_one'), models.UniqueConstraint(condition=models.Q(('product__isnull', False)), fields=('discount', 'product'), name='discount_target_product_once'), models.UniqueConstraint(condition=models.Q(('category__isnull', False)), fields=('discount', 'category'), name='discount_target_category_once'), models.UniqueConstraint(condition=models.Q(('brand__isnull', False)), fields=('discount', 'brand'), name='discount_target_brand_once')],
            },
        ),
        migrations.CreateModel(
            name='DiscountGroup',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('shop', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to='shops.shop')),
                ('discount', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='groups', to='pricing.discount')),
                ('group', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='customers.customergroup')),
            ],
            options={
                'verbose_name': 'customer group',
                'constraints': [models.UniqueConstraint(fields=('discount', 'group'), name='discount_group_once')],
            },
        ),
        migrations.CreateModel(
            name='DiscountCode',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('shop', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to='shops.shop')),
                ('discount', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='codes', to='pricing.discount')),
                ('code', models.CharField(help_text='Letters, digits, hyphens and underscores, in any case.', max_length=40)),
                ('use_limit', models.PositiveIntegerField(blank=True, help_text='How many orders can use this code. Leave empty for any number.', null=True, verbose_name='uses')),
                ('uses', models.PositiveIntegerField(default=0, editable=False, verbose_name='used')),
                ('created_at', models.DateTimeField(editable=False)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('shop', 'code'), name='discount_code_once'), models.CheckConstraint(condition=models.Q(('use_limit__isnull', True), ('uses__lte', models.F('use_limit')), _connector='OR'), name='discount_code_uses_within_limit')],
            },
        ),
        migrations.CreateModel(
            name='Redemption',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('shop', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to='shops.shop')),
                ('discount', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='redemptions', to='pricing.discount')),
                ('code', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='redemptions', to='pricing.discountcode')),
                ('sale', models.UUIDField(db_index=True)),
                ('cart_id', models.BigIntegerField(help_text='The basket, while the sale is not yet an order.', null=True)),
                ('customer', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='customers.customer')),
                ('email_digest', models.CharField(help_text='Digest of the email address of the sale.', max_length=64)),
                ('redeemed_at', models.DateTimeField()),
            ],
            options={
                'indexes': [models.Index(fields=['discount', 'email_digest'], name='redemption_by_email'), models.Index(condition=models.Q(('cart_id__isnull', False)), fields=['cart_id'], name='redemption_held')],
                'constraints': [models.UniqueConstraint(fields=('sale', 'discount'), name='redemption_once_a_sale')],
            },
        ),
        migrations.CreateModel(
            name='TaxRate',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('shop', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='tax_rates', to='shops.shop')),
                ('name', models.CharField(help_text='Shoppers see it, such as VAT.', max_length=60)),
                ('tax_class', models.ForeignKey(blank=True, help_text='Leave empty for the standard class: products without a tax class.', null=True, on_delete=django.db.models.deletion.CASCADE, to='catalogue.taxclass')),
                ('country', models.CharField(max_length=2)),
                ('region', models.CharField(blank=True, help_text='Leave empty for the whole country.', max_length=100, verbose_name='only this state or region')),
                ('postcodes', models.JSONField(blank=True, db_default=[], default=list, help_text='Such as 35*, 38*, 9000-9999. Spaces and capitals do not matter. Leave empty for all.', verbose_name='only these postal codes')),
                ('percent', models.DecimalField(decimal_places=3, max_digits=6, validators=[django.core.validators.MinValueValidator(Decimal('0')), django.core.validators.MaxValueValidator(Decimal('100'))])),
                ('step', models.PositiveSmallIntegerField(db_default=1, default=1, help_text='One rate of each step applies. Where two taxes are due, such as a federal and a regional one, give the second step 2.', validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(9)])),
                ('is_compound', models.BooleanField(db_default=False, default=False, help_text='Charged on the price with the taxes of earlier steps.', verbose_name='on top of earlier steps')),
                ('applies_to_shipping', models.BooleanField(default=True, verbose_name='applies to delivery')),
            ],
            options={
                'constraints': [models.UniqueConstraint(condition=models.Q(('postcodes', []), ('tax_class__isnull', False)), fields=('shop', 'tax_class', 'country', 'region', 'step'), name='tax_rate_class_once'), models.UniqueConstraint(condition=models.Q(('postcodes', []), ('tax_class__isnull', True)), fields=('shop', 'country', 'region', 'step'), name='tax_rate_once'), models.CheckConstraint(condition=models.Q(('percent__gte', 0), ('percent__lte', 100)), name='tax_rate_percent_range'), models.CheckConstraint(condition=models.Q(('step__gte', 1), ('step__lte', 9)), name='tax_rate_step_range')],
            },
        ),
        migrations.CreateModel(
            name='TaxSettings',
            fields=[
            ],
            options={
                'verbose_name': 'tax settings',
                'verbose_name_plural': 'tax settings',
                'proxy': True,
            },
            bases=('shops.shop',),
        ),
    ]
