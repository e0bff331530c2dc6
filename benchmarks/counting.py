"""Counts the frequent words of the large shops in the database of DATABASE_URL, as the worker does.

python -m benchmarks.counting
"""

import os

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "storefront.server.settings")
django.setup()

from storefront.kit import clock  # noqa: E402, needs Django set up
from storefront.listing.frequent_words import count_words, is_large  # noqa: E402
from storefront.shops.models import Shop  # noqa: E402

for shop in filter(is_large, Shop.objects.all()):
    count_words(shop, now=clock.now(), rest=0)
