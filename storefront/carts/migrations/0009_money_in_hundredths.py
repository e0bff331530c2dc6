from django.db import migrations

from storefront.kit.money_migration import MoneyInHundredths


class Migration(migrations.Migration):
    dependencies = [("carts", "0008_preorders")]

    operations = [MoneyInHundredths()]
