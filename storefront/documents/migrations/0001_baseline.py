import django.core.validators
import django.db.models.deletion
import storefront.kit.money_field
from decimal import Decimal
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('orders', '0001_baseline'),
        ('payments', '0001_baseline'),
        ('shops', '0001_baseline'),
    ]

    operations = [
        migrations.CreateModel(
            name='InvoiceSettings',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('shop', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='invoice_settings', to='shops.shop')),
                ('is_on', models.BooleanField(default=False, help_text='For each order, once it is paid. Orders before that get none.', verbose_name='issue invoices')),
                ('legal_name', models.CharField(blank=True, help_text="The seller's full legal name.", max_length=200)),
                ('address', models.TextField(blank=True, help_text="The seller's postal address, on several lines.", validators=[django.core.validators.MaxLengthValidator(500)])),
                ('vat_id', models.CharField(blank=True, max_length=60, verbose_name='VAT ID or tax number')),
                ('registration', models.TextField(blank=True, help_text='Company registration, managing directors and the like.', validators=[django.core.validators.MaxLengthValidator(300)])),
                ('bank', models.TextField(blank=True, help_text='Bank account: name of the bank, IBAN, BIC.', validators=[django.core.validators.MaxLengthValidator(300)])),
                ('footer', models.TextField(blank=True, help_text='A text below the totals, such as terms or thanks.', validators=[django.core.validators.MaxLengthValidator(1000)])),
                ('invoice_prefix', models.CharField(blank=True, default='{year}-', help_text='What invoice numbers begin with. {year} is the year of issue; each year then counts from 1.', max_length=20)),
                ('credit_note_prefix', models.CharField(blank=True, default='CN-{year}-', help_text='What numbers of credit notes begin with. The same as for invoices: both are counted together.', max_length=20)),
            ],
            options={
                'verbose_name': 'invoice settings',
                'verbose_name_plural': 'invoice settings',
                'constraints': [models.CheckConstraint(condition=models.Q(('is_on', False), models.Q(models.Q(('legal_name', ''), _negated=True), models.Q(('address', ''), _negated=True)), _connector='OR'), name='invoice_seller_is_named')],
            },
        ),
        migrations.CreateModel(
            name='NumberSeries',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('shop', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, to='shops.shop')),
                ('prefix', models.CharField(blank=True, help_text='With the year filled in.', max_length=40)),
                ('next_number', models.BigIntegerField(default=1)),
                ('is_used', models.BooleanField(default=False, help_text='Whether a number was given, so that it can only go on.')),
            ],
            options={
                'verbose_name_plural': 'number series',
                'constraints': [models.UniqueConstraint(fields=('shop', 'prefix'), name='number_series_once'), models.CheckConstraint(condition=models.Q(('next_number__gte', 1)), name='number_series_from_one')],
            },
        ),
        migrations.CreateModel(
            name='Document',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('shop', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, to='shops.shop')),
                ('order', models.ForeignKey(on_delete=django.db.models.deletion.RESTRICT, related_name='documents', to='orders.order')),
                ('kind', models.CharField(choices=[('invoice', 'Invoice'), ('credit_note', 'Credit note')], max_length=11)),
                ('number', models.CharField(max_length=60)),
                ('prefix', models.CharField(blank=True, max_length=40)),
                ('position', models.BigIntegerField(help_text='The number without its prefix.')),
                ('revision', models.PositiveSmallIntegerField(default=1, help_text='2: the first corrected invoice of the order.')),
                ('invoice', models.ForeignKey(help_text='What is credited.', null=True, on_delete=django.db.models.deletion.RESTRICT, related_name='credit_notes', to='documents.document')),
                ('refund', models.ForeignKey(null=True, on_delete=django.db.models.deletion.RESTRICT, related_name='credit_notes', to='payments.refund')),
                ('amount', storefront.kit.money_field.MoneyField(default=Decimal('0.00'), help_text='The total of the invoice, or what is credited.')),
                ('currency', models.CharField(max_length=3)),
                ('record', models.JSONField()),
                ('issued_at', models.DateTimeField()),
            ],
            options={
                'verbose_name': 'invoice or credit note',
                'verbose_name_plural': 'invoices and credit notes',
                'ordering': ['id'],
                'indexes': [models.Index(fields=['shop', 'issued_at', 'id'], name='document_by_time')],
                'constraints': [models.UniqueConstraint(fields=('shop', 'prefix', 'position'), name='document_position_once'), models.UniqueConstraint(fields=('shop', 'number'), name='document_number_once'), models.UniqueConstraint(condition=models.Q(('kind', 'invoice')), fields=('order', 'revision'), name='document_invoice_once'), models.CheckConstraint(condition=models.Q(('amount__gt', 0)), name='document_amount_positive'), models.CheckConstraint(condition=models.Q(models.Q(('invoice', None), ('kind', 'invoice')), models.Q(('invoice__isnull', False), ('kind', 'credit_note')), _connector='OR'), name='document_credits_an_invoice')],
            },
        ),
        migrations.CreateModel(
            name='DueOrder',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('shop', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to='shops.shop')),
                ('order', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='documents_due', to='orders.order')),
                ('due_at', models.DateTimeField(db_index=True)),
            ],
        ),
    ]
