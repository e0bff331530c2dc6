"""The search index, the triggers that keep it and the totals, and both filled from what stands."""

from django.db import migrations

from storefront.catalogue import triggers


def forwards(apps, editor):
    triggers.create_search_index(editor)
    triggers.fill(editor)
    triggers.install(editor)


def backwards(apps, editor):
    triggers.remove(editor)
    triggers.drop_search_index(editor)


class Migration(migrations.Migration):
    dependencies = [('catalogue', '0001_initial')]

    operations = [migrations.RunPython(forwards, backwards)]
