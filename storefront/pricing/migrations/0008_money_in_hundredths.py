from django.db import migrations

from storefront.kit.money_migration import MoneyInHundredths


class Migration(migrations.Migration):
    dependencies = [("pricing", "0007_tax_places")]

    operations = [MoneyInHundredths()]
