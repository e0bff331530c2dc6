import django.db.models.deletion
import django.db.models.functions.text
import storefront.kit.storage
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('shops', '0001_baseline'),
    ]

    operations = [
        migrations.CreateModel(
            name='DataRequest',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('shop', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to='shops.shop')),
                ('email', models.EmailField(blank=True, max_length=254, verbose_name='email address')),
                ('state', models.CharField(choices=[('open', 'Open'), ('exporting', 'Export is being made'), ('erasing', 'Being erased'), ('erased', 'Erased')], default='open', max_length=10)),
                ('user', models.ForeignKey(editable=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('file', models.FileField(blank=True, max_length=500, storage=storefront.kit.storage.private_files, upload_to='privacy/')),
                ('size', models.BigIntegerField(default=0, help_text='Of the file, in bytes.')),
                ('exported_at', models.DateTimeField(null=True)),
                ('plan', models.JSONField(help_text='While the person is erased: which rows were theirs when that began, by kind.', null=True)),
                ('erased', models.JSONField(default=dict, help_text='How many of each kind were erased.')),
                ('tries', models.PositiveIntegerField(default=0, help_text='How often a payment provider did not answer.')),
                ('reason', models.CharField(blank=True, help_text='Why the last export or erasure ended early.', max_length=1000)),
                ('created_at', models.DateTimeField()),
                ('begun_at', models.DateTimeField(help_text='When the current work began.', null=True)),
                ('heartbeat_at', models.DateTimeField(help_text='Last sign of life of the worker.', null=True)),
                ('erased_at', models.DateTimeField(null=True)),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('state__in', ['exporting', 'erasing'])), fields=['heartbeat_at'], name='data_request_at_work'), models.Index(condition=models.Q(('state', 'erased'), _negated=True), fields=['created_at'], name='data_request_age')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('state', 'erased'), _negated=True), fields=('shop', 'email'), name='data_request_one_open_a_person'), models.CheckConstraint(condition=models.Q(('email', django.db.models.functions.text.Lower('email'))), name='data_request_email_lower'), models.CheckConstraint(condition=models.Q(models.Q(('email', ''), ('state', 'erased')), models.Q(models.Q(('state', 'erased'), _negated=True), models.Q(('email', ''), _negated=True)), _connector='OR'), name='data_request_erased_has_no_email')],
            },
        ),
    ]
