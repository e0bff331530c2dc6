"""Stores the words of the orders that there are, as `orders/words.py` does for new ones."""

import unicodedata

from django.db import migrations

BATCH_ROWS = 1000


def keep_words(apps, schema_editor):
    orders, words = apps.get_model("orders", "Order").objects, apps.get_model("orders", "OrderWord").objects
    last = 0
    while batch := list(orders.filter(pk__gt=last).order_by("pk").prefetch_related("lines")[:BATCH_ROWS]):
        words.bulk_create(
            words.model(shop_id=order.shop_id, order_id=order.pk, word=word)
            for order in batch
            for word in sorted(words_of(order))
        )
        last = batch[-1].pk


def words_of(order):
    texts = [order.email, *(line.sku for line in order.lines.all())]
    for address in (order.billing_address, order.shipping_address):
        texts += [(address or {}).get(name) or "" for name in ("name", "company")]
    return {word for text in texts for part in text.split() if (word := kept(part))}


def kept(text):
    letters = unicodedata.normalize("NFKD", text.casefold())
    plain = "".join(letter for letter in letters if not unicodedata.combining(letter) and letter != "\0")
    return plain.strip(" ,;.#\"'()")[:100]


class Migration(migrations.Migration):
    dependencies = [("orders", "0016_desk")]

    operations = [migrations.RunPython(keep_words, migrations.RunPython.noop, elidable=True)]
