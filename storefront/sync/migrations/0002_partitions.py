from django.db import migrations

from storefront.kit.dividing import DivideByTime


class Migration(migrations.Migration):

    # The table is divided without keeping others from it.
    atomic = False

    dependencies = [("sync", "0001_baseline")]

    operations = [DivideByTime(table="sync_change", column="at", interval="week")]
