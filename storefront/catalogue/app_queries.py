# ruff: noqa: S608, the statements consist of constant expressions and numbers.
"""Reads of the catalogue for installed apps: products of any status that are not deleted."""

from collections.abc import Collection
from datetime import datetime
from functools import partial, reduce
from operator import or_

import orjson
from django.db import connection
from django.db.models import Q

from storefront.catalogue import records
from storefront.catalogue.awaited_texts import words_to_find
from storefront.catalogue.dated import dates
from storefront.catalogue.models import LastChange
from storefront.catalogue.records import Record
from storefront.kit.sql import fetch
from storefront.shops.models import Shop
from storefront.sync.log import as_stored


def product_page(
    shop: Shop,
    *,
    status: str | None,
    q: str,
    updated_since: datetime | None,
    start: int,
    count: int,
    ids: Collection[int] | None = None,
    members: frozenset[str] | None = None,
    now: datetime,
) -> tuple[list[Record], int]:
    """`count` products from index `start` on, most recently changed first, as records of the list or with these
    members; and the total."""
    # Alone, without the products themselves: its index has what these conditions ask.
    found = LastChange.objects.filter(shop=shop)
    if status is not None:
        found = found.filter(status=status)
    if updated_since is not None:
        params = {"shop": shop.pk, "since": as_stored(updated_since), "now": as_stored(now)}
        turned = {id for _, id in fetch(connection, dates.turned(), params)}
        found = found.filter(Q(updated_at__gte=updated_since) | Q(pk__in=turned))
    if ids is not None:
        found = found.filter(pk__in=ids)
    # Without the search index, which holds only the products that the shop lists.
    for word in words_to_find(partial(fetch, connection), shop.pk, q, shop.language):
        found = found.filter(reduce(or_, (Q(product__search__text__contains=text) for text in word.texts)))
    page = list(found.order_by("-updated_at", "-pk").values_list("pk", flat=True)[start : start + count])
    record = records.product() if members is None else records.chosen_product(members, for_apps=True)
    listed = _records(shop, page, record, now)
    return [listed[id] for id in page if id in listed], found.count()


def product_record(
    shop: Shop, product_id: int | None, members: frozenset[str] | None = None, *, now: datetime
) -> Record | None:
    """One product with its categories, variants, options and bundle items, or with these members alone."""
    if product_id is None:
        return None
    record = records.whole_product(for_apps=True)
    if members is not None:
        record = records.chosen_product(members, for_apps=True)
    return _records(shop, [product_id], record, now).get(product_id)


def stored_products(shop: Shop, ids: Collection[int]) -> dict[int, Record]:
    """The single records of these products by id as they are stored, without deleted ones, in one query."""
    return _records(shop, ids, records.stored_product())


def _records(shop: Shop, ids: Collection[int], record: str, now: datetime | None = None) -> dict[int, Record]:
    if not ids:
        return {}
    chosen = ", ".join(str(int(id)) for id in ids)
    statement = (
        f"SELECT p.id, {record} FROM catalogue_product p"
        f" WHERE p.shop_id = %(shop)s AND p.id IN ({chosen}) AND p.deleted_at IS NULL"
    )
    # Reads from the connection of the write, since events contain what was just written.
    params = {"shop": shop.pk, "now": now and as_stored(now)}
    rows = fetch(connection, statement, params, prepared=len(ids) == 1)
    return {id: orjson.loads(records.with_media_urls(shop, text)) for id, text in rows}
