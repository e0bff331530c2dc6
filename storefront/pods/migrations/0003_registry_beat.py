"""When pod 0 last wrote to the registry that other pods read."""
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('pods', '0002_no_index_for_like'),
    ]

    operations = [
        migrations.CreateModel(
            name='RegistryBeat',
            fields=[
                ('id', models.PositiveSmallIntegerField(default=1, primary_key=True, serialize=False)),
                ('at', models.DateTimeField()),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('id', 1)), name='pods_one_beat')],
            },
        ),
    ]
