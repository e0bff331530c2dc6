from django.db import migrations, models

# The upper bits of the number stand for the host, as before; the lower 31 become the installation's.
NUMBER = "((receiver >> 31) << 31) | (installation_id & 2147483647)"


class Migration(migrations.Migration):
    dependencies = [("webhooks", "0001_initial")]

    operations = [
        migrations.AlterField(
            model_name="delivery",
            name="receiver",
            field=models.BigIntegerField(editable=False, help_text="Whose, and which host it goes to, as a number."),
        ),
        migrations.AlterField(
            model_name="registration",
            name="receiver",
            field=models.BigIntegerField(editable=False, help_text="Whose, and which host it leads to, as a number."),
        ),
        migrations.RunSQL(f"UPDATE webhooks_registration SET receiver = {NUMBER}", migrations.RunSQL.noop),
        # Those that have ended are never claimed; one that is replayed takes its registration's number.
        migrations.RunSQL(
            f"UPDATE webhooks_delivery SET receiver = {NUMBER} WHERE status IN ('pending', 'held')",
            migrations.RunSQL.noop,
        ),
    ]
