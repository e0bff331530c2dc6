from django.db import migrations, models

from storefront.kit.schema_changes import AddIndexWhileWriting, LeaveRoom


class Migration(migrations.Migration):
    # Each operation can be repeated.
    atomic = False

    dependencies = [
        ('carts', '0002_lighter_writes'),
        ('checkout', '0001_baseline'),
        ('orders', '0002_lighter_writes'),
        ('payments', '0003_lighter_writes'),
        ('pricing', '0002_lighter_writes'),
        ('shops', '0004_lighter_writes'),
    ]

    operations = [
        LeaveRoom(tables=["checkout_checkout"], percent=60),
        AddIndexWhileWriting(
            model_name='checkout',
            index=models.Index(condition=models.Q(('abandoned_at__isnull', True), ('order__isnull', True)), fields=['created_at'], name='checkout_open_by_age'),
        ),
        migrations.RemoveIndex(
            model_name='checkout',
            name='checkout_left_open',
        ),
    ]
