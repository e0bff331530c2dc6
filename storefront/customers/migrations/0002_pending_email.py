from django.db import migrations, models
from django.db.models.functions import Lower


class Migration(migrations.Migration):

    dependencies = [
        ("customers", "0001_initial"),
    ]

    operations = [
        migrations.AddField(
            model_name="customer",
            name="pending_email",
            field=models.EmailField(
                blank=True,
                help_text="In lower case; becomes the e-mail address once it is proved to be theirs.",
                max_length=254,
                null=True,
            ),
        ),
        migrations.AddConstraint(
            model_name="customer",
            constraint=models.CheckConstraint(
                condition=models.Q(pending_email=None) | models.Q(pending_email=Lower("pending_email")),
                name="customer_pending_email_lower",
            ),
        ),
    ]
