import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('catalogue', '0001_baseline'),
        ('shops', '0001_baseline'),
    ]

    operations = [
        migrations.AddField(
            model_name='shop',
            name='delivery_tax_class',
            field=models.ForeignKey(blank=True, help_text='If delivery has a class of its own. Leave empty for the standard class.', null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='catalogue.taxclass'),
        ),
    ]
