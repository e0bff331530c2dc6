"""Search texts with variants, brands, tags, attributes and stems, and the words for spelling, of existing products."""

from collections import defaultdict

import orjson
from django.db import migrations

from storefront.catalogue.search_texts import search_text

BATCH_ROWS = 2000
COLUMNS = ("name", "sku", "description", "tags", "attributes")
ADD_WORDS = {
    "sqlite": (
        "INSERT OR IGNORE INTO catalogue_searchword (shop_id, word, head, tail)"
        " SELECT %s, e.value, substr(e.value, 1, 2), substr(e.value, -2) FROM json_each(%s) e"
    ),
    "postgresql": (
        "INSERT INTO catalogue_searchword (shop_id, word, head, tail)"
        " SELECT %s, w, left(w, 2), right(w, 2) FROM jsonb_array_elements_text(CAST(%s AS jsonb)) w"
        " ON CONFLICT DO NOTHING"
    ),
}


def write(apps, editor):
    shops = dict(apps.get_model("shops", "Shop").objects.values_list("pk", "language"))
    products = apps.get_model("catalogue", "Product").objects.filter(deleted_at=None).order_by("pk")
    last = 0
    while rows := list(
        products.filter(pk__gt=last).values_list("pk", "shop_id", "brand__name", *COLUMNS)[:BATCH_ROWS]
    ):
        last = rows[-1][0]
        write_batch(apps, editor, rows, shops)


def write_batch(apps, editor, rows, shops):
    search = apps.get_model("catalogue", "ProductSearch")
    variants, words, texts = defaultdict(list), defaultdict(set), []
    found = apps.get_model("catalogue", "Variant").objects.filter(product__in=[row[0] for row in rows], is_active=True)
    for pk, *variant in found.values_list("product_id", "name", "sku", "option_values"):
        variants[pk].append(variant)
    for pk, shop, brand, *values in rows:
        made = search_text(
            language=shops[shop], brand=brand, variants=variants[pk], **dict(zip(COLUMNS, values, strict=True))
        )
        texts.append(search(product_id=pk, shop_id=shop, text=made.text))
        words[shop] |= made.words
    search.objects.bulk_create(texts, update_conflicts=True, unique_fields=["product"], update_fields=["text"])
    with editor.connection.cursor() as cursor:
        for shop, of_shop in words.items():
            cursor.execute(ADD_WORDS[editor.connection.vendor], [shop, orjson.dumps(sorted(of_shop)).decode()])


class Migration(migrations.Migration):
    dependencies = [("catalogue", "0008_search_words"), ("shops", "0008_language")]

    operations = [migrations.RunPython(write, migrations.RunPython.noop)]
