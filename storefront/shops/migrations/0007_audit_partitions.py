from django.db import migrations

from storefront.kit.dividing import DivideByTime


class Migration(migrations.Migration):

    # The table is divided without keeping others from it.
    atomic = False

    dependencies = [("shops", "0006_written_positions")]

    operations = [DivideByTime(table="shops_auditentry", column="at", interval="month")]
