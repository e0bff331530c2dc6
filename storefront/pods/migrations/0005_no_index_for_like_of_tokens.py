"""Django makes an index for LIKE on each unique text, which no query here uses."""

from django.db import migrations

from storefront.kit.schema_changes import DropIndexes


class Migration(migrations.Migration):
    dependencies = [("pods", "0004_moves_of_shops")]

    operations = [DropIndexes(names=["pods_tokenelsewhere_digest_2e14e7a1_like"])]
