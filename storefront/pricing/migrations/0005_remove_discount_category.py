from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("pricing", "0004_discount_targets")]
    operations = [migrations.RemoveField(model_name="discount", name="category")]
