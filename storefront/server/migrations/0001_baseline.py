import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('django_tasks_database', '0021_conditional_partial_index_ordering'),
    ]

    operations = [
        migrations.CreateModel(
            name='TaskLease',
            fields=[
                ('task', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, serialize=False, to='django_tasks_database.dbtaskresult')),
                ('worker', models.CharField(max_length=64)),
                ('ends_at', models.DateTimeField()),
            ],
        ),
    ]
