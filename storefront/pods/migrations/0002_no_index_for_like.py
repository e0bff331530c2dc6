"""Django makes an index for LIKE on each unique text, which no query here uses."""

from django.db import migrations

from storefront.kit.schema_changes import DropIndexes


class Migration(migrations.Migration):
    dependencies = [("pods", "0001_pods")]

    operations = [DropIndexes(names=["pods_hostelsewhere_host_4c772038_like"])]
