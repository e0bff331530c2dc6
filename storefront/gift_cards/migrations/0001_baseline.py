import django.db.models.deletion
import storefront.kit.money_field
from decimal import Decimal
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('shops', '0001_baseline'),
    ]

    operations = [
        migrations.CreateModel(
            name='GiftCard',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('shop', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='gift_cards', to='shops.shop')),
                ('digest', models.CharField(editable=False, help_text='Of the newest code; null before there is one.', max_length=64, null=True)),
                ('last_four', models.CharField(blank=True, editable=False, max_length=4)),
                ('currency', models.CharField(editable=False, max_length=3)),
                ('value', storefront.kit.money_field.MoneyField(default=Decimal('0.00'), help_text='Amount that it was issued with.')),
                ('balance', storefront.kit.money_field.MoneyField(default=Decimal('0.00'), editable=False)),
                ('email', models.EmailField(blank=True, help_text='Where the code is sent. Empty: it is shown once, here.', max_length=254, verbose_name='email address')),
                ('message', models.TextField(blank=True, help_text='Printed in the email.')),
                ('send_at', models.DateTimeField(editable=False, help_text='When the mail is due, until it is queued.', null=True)),
                ('sent_at', models.DateTimeField(editable=False, help_text='When the mail with the code was last sent.', null=True)),
                ('expires_at', models.DateTimeField(blank=True, help_text='Leave empty for a card that does not expire.', null=True)),
                ('disabled_at', models.DateTimeField(editable=False, null=True)),
                ('is_withdrawn', models.BooleanField(db_default=False, default=False, editable=False, help_text='Whether it is disabled because its purchase was taken back, and is enabled if that is undone.')),
                ('order_id', models.BigIntegerField(db_index=True, editable=False, null=True)),
                ('line_id', models.BigIntegerField(editable=False, help_text='The order line that it was sold with.', null=True)),
                ('number', models.PositiveIntegerField(default=1, editable=False, help_text='Which piece of its line it is.')),
                ('created_at', models.DateTimeField(editable=False)),
            ],
            options={
                'ordering': ['-created_at', '-id'],
                'indexes': [models.Index(fields=['shop', 'created_at'], name='gift_card_by_date'), models.Index(condition=models.Q(('send_at__isnull', False)), fields=['send_at'], name='gift_card_to_send')],
                'constraints': [models.CheckConstraint(condition=models.Q(('balance__gte', 0), ('balance__lte', models.F('value'))), name='gift_card_balance'), models.CheckConstraint(condition=models.Q(('value__gt', 0)), name='gift_card_value_positive'), models.CheckConstraint(condition=models.Q(('is_withdrawn', False), ('disabled_at__isnull', False), _connector='OR'), name='gift_card_withdrawn_is_disabled'), models.UniqueConstraint(condition=models.Q(('digest__isnull', False)), fields=('shop', 'digest'), name='gift_card_code_once'), models.UniqueConstraint(condition=models.Q(('line_id__isnull', False)), fields=('line_id', 'number'), name='gift_card_once_a_piece')],
            },
        ),
        migrations.CreateModel(
            name='GiftCardEntry',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('shop', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to='shops.shop')),
                ('card', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='entries', to='gift_cards.giftcard')),
                ('at', models.DateTimeField()),
                ('kind', models.CharField(choices=[('issued', 'Issued'), ('spent', 'Spent'), ('released', 'not spent after all'), ('refunded', 'Refunded'), ('sent', 'Sent'), ('shown', 'code shown'), ('disabled', 'Disabled'), ('enabled', 'Enabled'), ('expiry', 'expiry changed')], max_length=10)),
                ('amount', storefront.kit.money_field.MoneyField(default=Decimal('0.00'), signed=True)),
                ('balance', storefront.kit.money_field.MoneyField(default=Decimal('0.00'), help_text='Balance after it.')),
                ('key', models.UUIDField(null=True)),
                ('payment', models.UUIDField(db_index=True, help_text='Key of the payment that it belongs to.', null=True)),
                ('cart_id', models.BigIntegerField(help_text='The basket, while its payment has no outcome.', null=True)),
                ('detail', models.CharField(blank=True, max_length=255)),
            ],
            options={
                'verbose_name_plural': 'log',
                'ordering': ['id'],
                'indexes': [models.Index(condition=models.Q(('cart_id__isnull', False)), fields=['cart_id'], name='gift_card_entry_of_cart')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('key__isnull', False)), fields=('key', 'kind'), name='gift_card_entry_once')],
            },
        ),
    ]
