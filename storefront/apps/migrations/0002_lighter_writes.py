import django.db.models.deletion
from django.db import migrations, models

from storefront.kit.schema_changes import DropIndexes, RelaxField


class Migration(migrations.Migration):

    dependencies = [
        ('apps', '0001_baseline'),
        ('shops', '0004_lighter_writes'),
    ]

    operations = [
        RelaxField(
            model_name='allowedscripthost',
            name='installation',
            field=models.ForeignKey(db_index=False, editable=False, help_text="Set for an app's own host; empty if the merchant allowed the host.", null=True, on_delete=django.db.models.deletion.CASCADE, to='apps.installation'),
        ),
        RelaxField(
            model_name='blockedscript',
            name='shop',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, to='shops.shop'),
        ),
        RelaxField(
            model_name='extension',
            name='installation',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='extensions', to='apps.installation'),
        ),
        RelaxField(
            model_name='extension',
            name='shop',
            field=models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, to='shops.shop'),
        ),
        RelaxField(
            model_name='extensioncall',
            name='extension',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='calls', to='apps.extension'),
        ),
        RelaxField(
            model_name='extensioncall',
            name='shop',
            field=models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.CASCADE, to='shops.shop'),
        ),
        RelaxField(
            model_name='installation',
            name='shop',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='installations', to='shops.shop'),
        ),
        RelaxField(
            model_name='scripttag',
            name='installation',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='script_tags', to='apps.installation'),
        ),
        RelaxField(
            model_name='scripttag',
            name='shop',
            field=models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, to='shops.shop'),
        ),
        DropIndexes(
            names=[
                "apps_app_slug_17ee68d8_like",
            ]
        ),
    ]
