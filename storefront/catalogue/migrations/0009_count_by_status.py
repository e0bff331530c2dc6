"""Apart from the migration before, which creates a table and so must be one transaction: an index of many products is
created while others write."""

from django.db import migrations, models

from storefront.kit.schema_changes import AddIndexWhileWriting


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("catalogue", "0008_lighter_writes")]

    operations = [
        AddIndexWhileWriting(
            model_name="product",
            index=models.Index(
                condition=models.Q(("deleted_at__isnull", True), ("id__gt", 0)),
                fields=["shop", "status"],
                name="product_of_status",
            ),
        ),
    ]
