"""The last uses of second factors in a pod that reads the factors from pod 0."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("shops", "0007_audit_partitions"),
    ]

    operations = [
        migrations.CreateModel(
            name="FactorUse",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("kind", models.CharField(help_text="app or passkey", max_length=7)),
                ("factor_id", models.BigIntegerField()),
                ("used", models.BigIntegerField()),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("kind", "factor_id"), name="factor_use_once")],
            },
        ),
    ]
