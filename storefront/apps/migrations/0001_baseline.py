import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('shops', '0001_baseline'),
    ]

    operations = [
        migrations.CreateModel(
            name='App',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=100)),
                ('slug', models.SlugField(max_length=60, unique=True)),
                ('contact', models.EmailField(blank=True, help_text="Contact email address of the app's developer.", max_length=254)),
                ('description', models.TextField(blank=True, help_text='Shown to merchants before they install the app.')),
                ('install_url', models.CharField(help_text='Install notifications are sent to this URL.', max_length=2048)),
                ('scopes', models.JSONField(default=list, help_text='Scopes that the app asks for.')),
                ('sealed_secret', models.BinaryField()),
                ('is_active', models.BooleanField(default=True, help_text='Whether shops can install the app.')),
                ('created_at', models.DateTimeField()),
                ('updated_at', models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name='Installation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('shop', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='installations', to='shops.shop')),
                ('app', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='installations', to='apps.app')),
                ('scopes', models.JSONField(default=list, help_text="Scopes that the merchant granted. The installation's tokens have the same scopes.")),
                ('requests_per_minute', models.PositiveIntegerField(default=600)),
                ('sealed_secret', models.BinaryField()),
                ('sealed_previous_secret', models.BinaryField(null=True)),
                ('previous_secret_until', models.DateTimeField(editable=False, null=True)),
                ('installed_at', models.DateTimeField()),
                ('uninstalled_at', models.DateTimeField(blank=True, null=True)),
            ],
            options={
                'verbose_name': 'installed app',
                'indexes': [models.Index(fields=['shop', 'installed_at'], name='apps_instal_shop_id_bab3ed_idx')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('uninstalled_at', None)), fields=('shop', 'app'), name='installation_stands_once')],
            },
        ),
        migrations.CreateModel(
            name='Extension',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('shop', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to='shops.shop')),
                ('installation', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='extensions', to='apps.installation')),
                ('type', models.CharField(choices=[('checkout_block', 'Checkout Block'), ('product_block', 'Product Block'), ('confirmation_block', 'Confirmation Block')], max_length=20)),
                ('callback_url', models.CharField(max_length=2048)),
                ('is_active', models.BooleanField(default=True)),
                ('timeout_ms', models.PositiveIntegerField(default=5000, help_text='How long the shop waits for the block, in milliseconds.')),
                ('failures_in_a_row', models.PositiveIntegerField(default=0, editable=False)),
                ('asked_again_at', models.DateTimeField(editable=False, help_text='Not called before this time, after repeated failures.', null=True)),
                ('created_at', models.DateTimeField()),
                ('updated_at', models.DateTimeField()),
            ],
            options={
                'indexes': [models.Index(fields=['shop', 'type'], name='apps_extens_shop_id_93256d_idx')],
                'constraints': [models.CheckConstraint(condition=models.Q(('timeout_ms__gte', 100), ('timeout_ms__lte', 10000)), name='extension_timeout'), models.UniqueConstraint(fields=('installation', 'type', 'callback_url'), name='extension_once')],
            },
        ),
        migrations.CreateModel(
            name='ExtensionCall',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('shop', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to='shops.shop')),
                ('extension', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='calls', to='apps.extension')),
                ('called_at', models.DateTimeField(db_index=True)),
                ('duration_ms', models.PositiveIntegerField()),
                ('outcome', models.CharField(choices=[('shown', 'Shown'), ('timed_out', 'timed out'), ('failed', 'Failed')], max_length=10)),
                ('status', models.PositiveSmallIntegerField(help_text='HTTP status of the response.', null=True)),
                ('reason', models.CharField(blank=True, help_text='Why no block was shown.', max_length=200)),
                ('request', models.TextField(help_text='First KiB of the request.')),
                ('answer', models.TextField(blank=True, help_text='First KiB of the response.')),
            ],
            options={
                'indexes': [models.Index(fields=['extension', 'called_at'], name='apps_extens_extensi_c44ecf_idx')],
            },
        ),
        migrations.CreateModel(
            name='ScriptTag',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('shop', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to='shops.shop')),
                ('installation', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='script_tags', to='apps.installation')),
                ('src', models.CharField(max_length=2048)),
                ('location', models.CharField(choices=[('head', 'Head'), ('body_start', 'Body Start'), ('body_end', 'Body End')], max_length=10)),
                ('is_active', models.BooleanField(default=True)),
                ('created_at', models.DateTimeField()),
                ('updated_at', models.DateTimeField()),
            ],
            options={
                'indexes': [models.Index(fields=['shop'], name='apps_script_shop_id_ab7eaa_idx')],
                'constraints': [models.UniqueConstraint(fields=('installation', 'src', 'location'), name='script_tag_once')],
            },
        ),
        migrations.CreateModel(
            name='AllowedScriptHost',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('shop', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to='shops.shop')),
                ('host', models.CharField(help_text='Such as scripts.example.com, with a port if it is not 443.', max_length=260)),
                ('installation', models.ForeignKey(editable=False, help_text="Set for an app's own host; empty if the merchant allowed the host.", null=True, on_delete=django.db.models.deletion.CASCADE, to='apps.installation')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('installation', 'host'), name='allowed_script_host_of_app_once'), models.UniqueConstraint(condition=models.Q(('installation', None)), fields=('shop', 'host'), name='allowed_script_host_once')],
            },
        ),
        migrations.CreateModel(
            name='BlockedScript',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('shop', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to='shops.shop')),
                ('source', models.CharField(help_text='Without the query string.', max_length=300)),
                ('directive', models.CharField(max_length=40)),
                ('page', models.CharField(help_text='Page where the script was last blocked, without the query string.', max_length=300)),
                ('times', models.PositiveIntegerField(default=1)),
                ('first_at', models.DateTimeField()),
                ('last_at', models.DateTimeField()),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('shop', 'source', 'directive'), name='blocked_script_once')],
            },
        ),
    ]
