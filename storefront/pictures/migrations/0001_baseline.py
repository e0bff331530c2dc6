import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('catalogue', '0001_baseline'),
        ('shops', '0001_baseline'),
    ]

    operations = [
        migrations.CreateModel(
            name='PictureFetch',
            fields=[
                ('media', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='fetch', serialize=False, to='catalogue.media')),
                ('shop', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, to='shops.shop')),
                ('product_import', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='pictures', to='catalogue.productimport')),
                ('host', models.CharField(help_text='Host and port of the address, in lowercase.', max_length=255)),
                ('state', models.CharField(choices=[('waiting', 'Waiting'), ('fetched', 'Fetched'), ('failed', 'Failed')], default='waiting', max_length=7)),
                ('attempts', models.PositiveSmallIntegerField(default=0, help_text='How often a worker has begun to fetch it.')),
                ('due_at', models.DateTimeField()),
                ('lease', models.CharField(max_length=32, null=True)),
                ('reason', models.CharField(blank=True, help_text='Why the last attempt failed.', max_length=300)),
                ('is_announced', models.BooleanField(default=False, help_text='Whether apps were told of the fetched picture.')),
            ],
            options={
                'verbose_name_plural': 'picture fetches',
                'indexes': [models.Index(condition=models.Q(('state', 'waiting')), fields=['shop', 'host', 'due_at'], name='picture_fetch_due'), models.Index(condition=models.Q(('state', 'failed')), fields=['shop', 'media'], name='picture_fetch_failed'), models.Index(condition=models.Q(('product_import__isnull', False)), fields=['product_import', 'state'], name='picture_fetch_import')],
                'constraints': [models.CheckConstraint(condition=models.Q(('state__in', ['waiting', 'fetched', 'failed'])), name='picture_fetch_state')],
            },
        ),
        migrations.CreateModel(
            name='PictureRequest',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('shop', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, to='shops.shop')),
                ('product_import', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='picture_requests', to='catalogue.productimport')),
                ('first_media', models.BigIntegerField()),
                ('last_media', models.BigIntegerField()),
                ('pictures', models.PositiveIntegerField(help_text='How many of them have an address that is fetched.')),
                ('made_at', models.DateTimeField()),
            ],
            options={
                'indexes': [models.Index(fields=['shop', 'last_media'], name='picture_request_media')],
            },
        ),
        migrations.CreateModel(
            name='StoredPicture',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('shop', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, to='shops.shop')),
                ('digest', models.CharField(help_text='SHA-256 of the content, in hexadecimal.', max_length=64)),
                ('file', models.CharField(max_length=500)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('shop', 'digest'), name='stored_picture_once')],
            },
        ),
    ]
