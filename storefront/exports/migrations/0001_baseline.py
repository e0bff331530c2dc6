import django.db.models.deletion
import storefront.kit.storage
import uuid
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('shops', '0001_baseline'),
    ]

    operations = [
        migrations.CreateModel(
            name='Export',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('shop', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to='shops.shop')),
                ('public_id', models.UUIDField(default=uuid.uuid4, editable=False, help_text="In the file's URL.", unique=True)),
                ('kind', models.CharField(choices=[('products', 'Products'), ('inventory', 'Inventory'), ('orders', 'Orders'), ('customers', 'Customers')], max_length=10)),
                ('members', models.JSONField(help_text='Names of the members of each record; null: those of the list.', null=True)),
                ('since', models.DateTimeField(help_text='Only records that were changed since then.', null=True)),
                ('state', models.CharField(choices=[('waiting', 'Waiting'), ('running', 'Running'), ('done', 'Done'), ('failed', 'Failed')], default='waiting', max_length=10)),
                ('file', models.FileField(blank=True, max_length=500, storage=storefront.kit.storage.private_files, upload_to='exports/')),
                ('rows', models.PositiveIntegerField(default=0, help_text='Lines written so far.')),
                ('size', models.BigIntegerField(default=0, help_text='Of the file, in bytes.')),
                ('next', models.CharField(blank=True, help_text='Cursor that goes on where the file ends.', max_length=400)),
                ('reason', models.CharField(blank=True, help_text='Why it failed.', max_length=255)),
                ('created_at', models.DateTimeField()),
                ('heartbeat_at', models.DateTimeField(help_text='Last sign of life of the worker.', null=True)),
                ('finished_at', models.DateTimeField(null=True)),
            ],
            options={
                'indexes': [models.Index(fields=['shop', 'state'], name='export_of_shop'), models.Index(condition=models.Q(('finished_at__isnull', False)), fields=['finished_at'], name='export_ended'), models.Index(condition=models.Q(('state', 'running')), fields=['heartbeat_at'], name='export_running')],
            },
        ),
    ]
