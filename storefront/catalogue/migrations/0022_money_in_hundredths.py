from django.db import migrations

from storefront.kit.money_migration import MoneyInHundredths


class Migration(migrations.Migration):
    dependencies = [("catalogue", "0021_fewer_indexes")]

    operations = [MoneyInHundredths()]
