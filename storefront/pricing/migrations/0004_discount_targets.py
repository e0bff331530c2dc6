from django.db import migrations


def move_categories(apps, schema_editor) -> None:
    """The one category of a discount becomes a target. It keeps meaning that category alone."""
    discounts = apps.get_model("pricing", "Discount").objects.using(schema_editor.connection.alias)
    targets = apps.get_model("pricing", "DiscountTarget").objects.using(schema_editor.connection.alias)
    limited = discounts.filter(category__isnull=False)
    for id, shop_id, category_id in limited.values_list("id", "shop_id", "category_id"):
        targets.create(shop_id=shop_id, discount_id=id, category_id=category_id)
    limited.update(is_limited_to_items=True, includes_subcategories=False)


class Migration(migrations.Migration):
    dependencies = [("pricing", "0003_discount_codes")]
    operations = [migrations.RunPython(move_categories, migrations.RunPython.noop)]
