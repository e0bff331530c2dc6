"""Search texts are folded and end with markup. The worker writes those of existing products again (`awaited_texts`), and
counts frequent words again. Until then, searches find such a product by what is written alike in both."""

import unicodedata
from datetime import UTC, datetime

from django.db import migrations, models

# Products whose texts are written at once.
BATCH = 1000
LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)
SPANS = """
    SELECT shop_id, min(id), max(id) FROM (
        SELECT shop_id, id, (row_number() OVER (PARTITION BY shop_id ORDER BY id) - 1) / %s AS batch
        FROM catalogue_product WHERE deleted_at IS NULL
    ) p GROUP BY shop_id, batch ORDER BY shop_id, batch
"""


def write_texts_again(apps, editor):
    awaited = apps.get_model("catalogue", "AwaitedTexts")
    with editor.connection.cursor() as cursor:
        cursor.execute(SPANS, [BATCH])
        spans = cursor.fetchall()
    rows = (awaited(shop_id=shop, first_product=first, last_product=last, made_at=LONG_AGO) for shop, first, last in spans)
    awaited.objects.bulk_create(rows, batch_size=BATCH)
    for name in ("FrequentWord", "WordCount"):
        apps.get_model("catalogue", name).objects.all().delete()


def drop_accents_of_ends(apps, editor):
    """The first and the last letters of a word have no accents any more."""
    words = apps.get_model("catalogue", "SearchWord")
    changed = []
    for row in words.objects.iterator(chunk_size=BATCH):
        plain = "".join(map(_plain, row.word))
        if (row.head, row.tail) != (plain[:2], plain[-2:]):
            row.head, row.tail = plain[:2], plain[-2:]
            changed.append(row)
    words.objects.bulk_update(changed, ["head", "tail"], batch_size=BATCH)


def _plain(letter):
    """Latin and Greek letters without their accents, which is nearly what `folding.py` does."""
    base = unicodedata.normalize("NFKD", letter)[0]
    return base if ord(base) < 0x400 else letter


class Migration(migrations.Migration):
    dependencies = [("catalogue", "0002_search_index")]

    operations = [
        migrations.AddField(
            "frequentword",
            "in_markup",
            models.BinaryField(
                null=True,
                help_text=(
                    "The same of those that contain it in markup alone. NULL: counted before texts had markup."
                ),
            ),
        ),
        migrations.RunPython(drop_accents_of_ends),
        migrations.RunPython(write_texts_again),
    ]
