from django.db import migrations, models


def mark_the_demo(apps, _editor):
    """The shop that `storefront demo` made, which is known by its domain and address."""
    shops = apps.get_model("shops", "Shop").objects
    shops.filter(domain="localhost", email="hello@harbour-lane.example").update(is_demo=True)


class Migration(migrations.Migration):
    dependencies = [("shops", "0015_domains")]

    operations = [
        migrations.AddField(
            model_name="shop",
            name="is_demo",
            field=models.BooleanField(
                db_default=False,
                default=False,
                editable=False,
                help_text="Whether it is for trying out: only then it has the demo's payment method, which takes no money.",
            ),
        ),
        migrations.RunPython(mark_the_demo, migrations.RunPython.noop),
    ]
