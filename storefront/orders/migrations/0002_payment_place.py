from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("orders", "0001_initial"),
    ]

    operations = [
        migrations.AddField(
            model_name="payment",
            name="place",
            field=models.CharField(
                blank=True,
                help_text="Digest of where a visitor ordered from, while it waits for its money.",
                max_length=32,
            ),
        ),
        migrations.AddIndex(
            model_name="payment",
            index=models.Index(
                condition=models.Q(status="pending"), fields=["shop", "place"], name="payment_waiting_by_place"
            ),
        ),
    ]
