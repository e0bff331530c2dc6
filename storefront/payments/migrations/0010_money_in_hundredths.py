from django.db import migrations

from storefront.kit.money_migration import MoneyInHundredths


class Migration(migrations.Migration):
    dependencies = [("payments", "0009_closed_pieces")]

    operations = [MoneyInHundredths(signed=["paymententry.amount"])]
