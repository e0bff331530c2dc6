from django.db import migrations

from storefront.kit.money_migration import MoneyInHundredths


class Migration(migrations.Migration):
    dependencies = [("documents", "0001_initial")]

    operations = [MoneyInHundredths()]
