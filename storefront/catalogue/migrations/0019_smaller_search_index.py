from django.db import migrations

from storefront.catalogue import triggers


def make_anew(apps, editor):
    """Make SQLite's search index anew, without positions."""
    if editor.connection.vendor == "sqlite":
        triggers.drop_search_index(editor)
        triggers.create_search_index(editor)
        editor.execute(f"{triggers.FILL_INDEX} WHERE listed ORDER BY 1")


class Migration(migrations.Migration):
    dependencies = [
        ("catalogue", "0018_fewer_foreign_keys"),
    ]

    operations = [
        migrations.RunPython(make_anew, migrations.RunPython.noop),
    ]
