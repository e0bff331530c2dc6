import django.db.models.deletion
import uuid
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('apps', '0001_baseline'),
        ('shops', '0001_baseline'),
    ]

    operations = [
        migrations.CreateModel(
            name='Event',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('public_id', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('shop', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, to='shops.shop')),
                ('topic', models.CharField(max_length=40)),
                ('data', models.JSONField()),
                ('created_at', models.DateTimeField()),
                ('sequence', models.BigIntegerField(help_text="Position in the shop's event feed, without gaps. Set by the dispatch step after the commit.", null=True)),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('sequence', None)), fields=['shop', 'id'], name='event_undispatched'), models.Index(fields=['shop', 'topic', 'sequence'], name='event_topic_sequence'), models.Index(fields=['shop', '-id'], name='event_newest')],
                'constraints': [models.UniqueConstraint(fields=('shop', 'sequence'), name='event_sequence_once')],
            },
        ),
        migrations.CreateModel(
            name='Feed',
            fields=[
                ('shop', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, serialize=False, to='shops.shop')),
                ('last_sequence', models.BigIntegerField(default=0)),
            ],
        ),
        migrations.CreateModel(
            name='Registration',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('shop', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, to='shops.shop')),
                ('installation', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='registrations', to='apps.installation')),
                ('topic', models.CharField(max_length=40)),
                ('address', models.CharField(max_length=2048)),
                ('receiver', models.BigIntegerField(editable=False, help_text='Number that stands for the installation and the receiving host.')),
                ('is_active', models.BooleanField(default=True)),
                ('failing_since', models.DateTimeField(help_text='When the current series of failed attempts began.', null=True)),
                ('paused_at', models.DateTimeField(help_text='When the webhook was paused, by a 410 response or because it failed for too long.', null=True)),
                ('pause_reason', models.CharField(blank=True, choices=[('failing', 'all deliveries failed for three days'), ('gone', 'the receiver answered 410 Gone')], max_length=10)),
                ('holds', models.BooleanField(default=False, help_text='Whether deliveries may be held until the webhook is resumed.')),
                ('created_at', models.DateTimeField()),
                ('updated_at', models.DateTimeField()),
            ],
            options={
                'verbose_name': 'webhook',
                'indexes': [models.Index(fields=['shop', 'topic'], name='webhooks_re_shop_id_6fb5f9_idx'), models.Index(condition=models.Q(('holds', True), ('is_active', True)), fields=['id'], name='registration_to_release')],
                'constraints': [models.UniqueConstraint(fields=('installation', 'topic'), name='registration_topic_once')],
            },
        ),
        migrations.CreateModel(
            name='Delivery',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('shop', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, to='shops.shop')),
                ('installation', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='deliveries', to='apps.installation')),
                ('kind', models.CharField(choices=[('event', 'Event'), ('install', 'Install'), ('uninstall', 'Uninstall'), ('token', 'Token'), ('test', 'Test')], default='event', max_length=10)),
                ('registration', models.ForeignKey(db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, to='webhooks.registration')),
                ('event', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.CASCADE, to='webhooks.event')),
                ('message_id', models.UUIDField(default=uuid.uuid4, editable=False, help_text='Sent as webhook-id.')),
                ('topic', models.CharField(max_length=40)),
                ('address', models.CharField(help_text="Address when the delivery was created. Later changes of the webhook's address apply.", max_length=2048)),
                ('receiver', models.BigIntegerField(editable=False, help_text='Number that stands for the installation and the receiving host.')),
                ('sealed_message', models.BinaryField(null=True)),
                ('status', models.CharField(choices=[('pending', 'Pending'), ('held', 'held until the webhook is resumed'), ('delivered', 'Delivered'), ('dead', 'Dead'), ('cancelled', 'Cancelled')], default='pending', max_length=10)),
                ('tries', models.PositiveSmallIntegerField(default=0)),
                ('earlier_tries', models.PositiveSmallIntegerField(default=0, help_text='Attempts before the last replay.')),
                ('due_at', models.DateTimeField(help_text='Time of the next attempt. During an attempt, when the lease ends.')),
                ('lease', models.CharField(editable=False, help_text='The worker that is sending it.', max_length=32, null=True)),
                ('created_at', models.DateTimeField()),
                ('ended_at', models.DateTimeField(null=True)),
            ],
            options={
                'verbose_name_plural': 'deliveries',
                'indexes': [models.Index(condition=models.Q(('status', 'pending')), fields=['receiver', 'due_at'], name='delivery_of_receiver'), models.Index(condition=models.Q(('status', 'pending')), fields=['due_at'], name='delivery_due'), models.Index(condition=models.Q(('status__in', ['pending', 'held'])), fields=['registration'], name='delivery_of_registration'), models.Index(fields=['installation', '-id'], name='delivery_newest_of_app'), models.Index(condition=models.Q(('status', 'dead')), fields=['installation', '-id'], name='delivery_dead_of_app'), models.Index(fields=['shop', '-id'], name='delivery_newest')],
                'constraints': [models.UniqueConstraint(fields=('event', 'registration'), name='delivery_once_per_registration')],
            },
        ),
        migrations.CreateModel(
            name='Attempt',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('shop', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, to='shops.shop')),
                ('delivery', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='attempts', to='webhooks.delivery')),
                ('number', models.PositiveSmallIntegerField()),
                ('started_at', models.DateTimeField()),
                ('duration_ms', models.PositiveIntegerField()),
                ('status', models.PositiveSmallIntegerField(help_text='HTTP status of the response.', null=True)),
                ('error', models.CharField(blank=True, help_text='Why there was no response.', max_length=200)),
                ('answer', models.TextField(blank=True, help_text='First KiB of the response.')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('delivery', 'number'), name='attempt_number_once')],
            },
        ),
    ]
