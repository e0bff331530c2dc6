"""The nested set: `_lft` and `_rgt` number each shop's category forest on one line, contiguous from 1.

A category's descendants are the rows whose bounds lie between its own. The parent column is the truth; the bounds
are worked out from it after every change.
"""

from collections import defaultdict
from collections.abc import Iterable

from django.db import connections, router, transaction

from storefront.catalogue.models import Category
from storefront.shops.models import Shop

Bounds = tuple[int, int]


def lock(shop: Shop) -> None:
    """Let one transaction at a time change the shop's tree. Call it before reading what the change depends on."""
    # Without the key share that foreign keys take: carts and orders of the shop go on meanwhile. SQLite's writers
    # queue as it is.
    list(Shop.objects.select_for_update(no_key=True).filter(pk=shop.pk).values_list("pk"))


@transaction.atomic(savepoint=False)
def renumber(shop: Shop) -> None:
    """Make the shop's bounds right again, siblings by (sort_order, id); writes only rows that changed.

    Belongs into the transaction of whatever changed the tree.
    """
    lock(shop)
    rows = list(
        Category.objects.filter(shop=shop).order_by("sort_order", "id").values_list("id", "parent_id", "lft", "rgt")
    )
    right = bounds((id, parent) for id, parent, _, _ in rows)
    changed = [(*right[id], id) for id, _, lft, rgt in rows if id in right and right[id] != (lft, rgt)]
    if changed:
        table = Category._meta.db_table
        with connections[router.db_for_write(Category)].cursor() as cursor:
            cursor.executemany(f"UPDATE {table} SET _lft = %s, _rgt = %s WHERE id = %s", changed)  # noqa: S608


def bounds(nodes: Iterable[tuple[int, int | None]]) -> dict[int, Bounds]:
    """The (left, right) of every node, given (id, parent id) with siblings in their order."""
    children: dict[int | None, list[int]] = defaultdict(list)
    for id, parent in nodes:
        children[parent].append(id)
    numbers: dict[int, Bounds] = {}
    left: dict[int, int] = {}
    count = 0
    # A stack of its own, since merchants' trees may be deeper than Python recurses. False: the node closes.
    waiting: list[tuple[int, bool]] = [(id, True) for id in reversed(children[None])]
    while waiting:
        id, opens = waiting.pop()
        count += 1
        if not opens:
            numbers[id] = (left[id], count)
            continue
        left[id] = count
        waiting.append((id, False))
        waiting.extend((child, True) for child in reversed(children[id]))
    return numbers


def is_within(category: Category, ancestor: Category) -> bool:
    """Whether the category is this ancestor or below it, by the parent column; call it under `lock`."""
    seen: set[int] = set()
    at: int | None = category.pk
    parents = dict(Category.objects.filter(shop_id=category.shop_id).values_list("id", "parent_id"))
    while at is not None and at not in seen:
        if at == ancestor.pk:
            return True
        seen.add(at)
        at = parents.get(at)
    return False
