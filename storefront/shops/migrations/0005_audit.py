"""The audit log, and the triggers that keep it from being changed."""

import django.db.models.deletion
from django.db import migrations, models

from storefront.shops import audit_triggers


def guard(apps, editor):
    audit_triggers.install(editor)


def unguard(apps, editor):
    audit_triggers.remove(editor)


class Migration(migrations.Migration):

    dependencies = [
        ("shops", "0004_signin"),
    ]

    operations = [
        migrations.CreateModel(
            name='AuditEntry',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField()),
                ('keep_until', models.DateField(help_text='The last day, in UTC, on which the entry cannot be deleted.')),
                ('actor_kind', models.CharField(choices=[('staff', 'Staff'), ('token', 'API token'), ('app', 'App'), ('command', 'Command'), ('customer', 'Customer'), ('worker', 'Worker'), ('system', 'System')], max_length=10)),
                ('actor_id', models.BigIntegerField(help_text='Of a guest and a command, none.', null=True)),
                ('actor_name', models.CharField(blank=True, help_text='As it was then.', max_length=254)),
                ('place', models.CharField(blank=True, help_text='IP address or network; of a command, its machine.', max_length=255)),
                ('request_id', models.CharField(blank=True, help_text="The log's name for the request.", max_length=32)),
                ('action', models.CharField(max_length=60)),
                ('object_type', models.CharField(blank=True, max_length=40)),
                ('object_id', models.BigIntegerField(null=True)),
                ('object_name', models.CharField(blank=True, help_text='As it was then.', max_length=255)),
                ('before', models.JSONField(help_text='Only what changed.', null=True)),
                ('after', models.JSONField(help_text='Only what changed.', null=True)),
                ('erased_at', models.DateTimeField(help_text='When a person was taken out of it.', null=True)),
                ('shop', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='shops.shop')),
            ],
            options={
                'verbose_name_plural': 'audit entries',
                'ordering': ['-at', '-id'],
                'indexes': [models.Index(fields=['shop', 'at', 'id'], name='audit_newest'), models.Index(fields=['shop', 'action', 'at', 'id'], name='audit_of_action'), models.Index(fields=['shop', 'object_type', 'object_id', 'at', 'id'], name='audit_of_object'), models.Index(fields=['shop', 'actor_kind', 'actor_id', 'at', 'id'], name='audit_of_actor'), models.Index(fields=['keep_until'], name='audit_keep_until')],
            },
        ),
        migrations.RunPython(guard, unguard),
    ]
