from django.db import migrations

from storefront.kit.money_migration import MoneyInHundredths


class Migration(migrations.Migration):
    dependencies = [("orders", "0018_order_erased")]

    operations = [MoneyInHundredths()]
