from django.db import migrations


def delete_duplicates(apps, schema_editor):
    """Keep one of the extensions that an app has registered several times with the same type and callback URL: an
    active one if there is one, of those the first. A page shows its block once, not twice."""
    Extension = apps.get_model("apps", "Extension")
    seen, duplicates = set(), []
    rows = Extension.objects.order_by("-is_active", "pk").values_list("pk", "installation", "type", "callback_url")
    for pk, *key in rows.iterator():
        if tuple(key) in seen:
            duplicates.append(pk)
        seen.add(tuple(key))
    for start in range(0, len(duplicates), 500):
        Extension.objects.filter(pk__in=duplicates[start : start + 500]).delete()


class Migration(migrations.Migration):
    dependencies = [
        ("apps", "0002_plain_words"),
    ]

    operations = [migrations.RunPython(delete_duplicates, migrations.RunPython.noop)]
