import django.core.validators
import django.db.models.deletion
import django.db.models.functions.text
import uuid
from decimal import Decimal
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('shops', '0001_baseline'),
    ]

    operations = [
        migrations.CreateModel(
            name='CustomerGroup',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('shop', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='customer_groups', to='shops.shop')),
                ('name', models.CharField(max_length=100)),
                ('discount_percent', models.DecimalField(decimal_places=2, default=Decimal('0'), help_text='Discount on every price that has no group price.', max_digits=5, validators=[django.core.validators.MinValueValidator(0), django.core.validators.MaxValueValidator(100)])),
                ('sees_net_prices', models.BooleanField(db_default=False, default=False, help_text='For businesses. Tax is added at the checkout.', verbose_name='sees prices without tax')),
            ],
            options={
                'constraints': [models.UniqueConstraint(models.F('shop'), django.db.models.functions.text.Lower('name'), name='customer_group_name_once'), models.CheckConstraint(condition=models.Q(('discount_percent__gte', 0), ('discount_percent__lte', 100)), name='customer_group_discount_range')],
            },
        ),
        migrations.CreateModel(
            name='Customer',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('shop', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='customers', to='shops.shop')),
                ('email', models.EmailField(help_text='In lowercase.', max_length=254)),
                ('pending_email', models.EmailField(blank=True, help_text='New email address in lowercase. Replaces the current one when the customer confirms it.', max_length=254, null=True)),
                ('password', models.CharField(blank=True, help_text='Password hash; empty if the customer cannot sign in.', max_length=200)),
                ('session_mark', models.UUIDField(default=uuid.uuid4, editable=False, help_text='Stored in sessions and emailed links. A new value ends all of them.')),
                ('name', models.CharField(blank=True, max_length=200)),
                ('phone', models.CharField(blank=True, max_length=40)),
                ('group', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, to='customers.customergroup')),
                ('note', models.TextField(blank=True)),
                ('created_at', models.DateTimeField()),
                ('updated_at', models.DateTimeField()),
            ],
            options={
                'indexes': [models.Index(fields=['shop', 'id'], name='customer_list'), models.Index(fields=['shop', 'updated_at'], name='customer_by_change')],
                'constraints': [models.UniqueConstraint(fields=('shop', 'email'), name='customer_email_once'), models.CheckConstraint(condition=models.Q(('email', django.db.models.functions.text.Lower('email'))), name='customer_email_lower'), models.CheckConstraint(condition=models.Q(('pending_email', None), ('pending_email', django.db.models.functions.text.Lower('pending_email')), _connector='OR'), name='customer_pending_email_lower')],
            },
        ),
        migrations.CreateModel(
            name='Address',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('shop', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to='shops.shop')),
                ('customer', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='addresses', to='customers.customer')),
                ('name', models.CharField(max_length=200)),
                ('company', models.CharField(blank=True, max_length=200)),
                ('line1', models.CharField(max_length=200)),
                ('line2', models.CharField(blank=True, max_length=200)),
                ('postal_code', models.CharField(blank=True, max_length=20)),
                ('city', models.CharField(max_length=100)),
                ('region', models.CharField(blank=True, max_length=100)),
                ('country', models.CharField(max_length=2)),
                ('phone', models.CharField(blank=True, max_length=40)),
                ('is_default', models.BooleanField(default=False, verbose_name='default address')),
            ],
            options={
                'verbose_name_plural': 'addresses',
                'ordering': ['id'],
                'constraints': [models.UniqueConstraint(condition=models.Q(('is_default', True)), fields=('customer',), name='address_one_default_a_customer')],
            },
        ),
    ]
