import django.db.models.deletion
from django.db import migrations, models

from storefront.kit.schema_changes import RelaxField


class Migration(migrations.Migration):

    dependencies = [
        ('content', '0002_redirects'),
        ('shops', '0004_lighter_writes'),
    ]

    operations = [
        RelaxField(
            model_name='menulink',
            name='shop',
            field=models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.CASCADE, related_name='menu_links', to='shops.shop'),
        ),
        RelaxField(
            model_name='missingpath',
            name='shop',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='missing_paths', to='shops.shop'),
        ),
        RelaxField(
            model_name='page',
            name='shop',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='pages', to='shops.shop'),
        ),
        RelaxField(
            model_name='redirect',
            name='shop',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='redirects', to='shops.shop'),
        ),
    ]
