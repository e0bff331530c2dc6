"""Django makes an index for LIKE on each unique text, which no query here uses."""

from django.db import migrations

from storefront.kit.schema_changes import DropIndexes


class Migration(migrations.Migration):
    dependencies = [("server", "0004_worker_heartbeats")]

    operations = [DropIndexes(names=["server_workerheartbeat_id_3f63d3d7_like"])]
