"""The nested set: `_lft` and `_rgt` number the categories of each shop, without gaps, from 1 (R-CAT-37).

A category's descendants are the rows whose bounds lie between its own. The bounds are derived from the parent column
after every change.
"""

from collections import defaultdict
from collections.abc import Iterable

from django.db import connections, router, transaction

from storefront.catalogue.models import Category
from storefront.shops.models import Shop

Bounds = tuple[int, int]


def lock(shop: Shop) -> None:
    """Let one transaction at a time change the shop's tree. Call it before reading rows that the change depends on."""
    # NO KEY does not conflict with the key share lock of foreign keys, so carts and orders of the shop do not wait.
    # SQLite has one writer at a time anyway.
    list(Shop.objects.select_for_update(no_key=True).filter(pk=shop.pk).values_list("pk"))


@transaction.atomic(savepoint=False)
def renumber(shop: Shop) -> None:
    """Update the shop's bounds, with siblings ordered by (sort_order, id). Writes only rows that change.

    Call it in the transaction that has changed the tree.
    """
    lock(shop)
    rows = list(
        Category.objects.filter(shop=shop).order_by("sort_order", "id").values_list("id", "parent_id", "lft", "rgt")
    )
    correct = bounds((id, parent) for id, parent, _, _ in rows)
    changed = [(*correct[id], id) for id, _, lft, rgt in rows if id in correct and correct[id] != (lft, rgt)]
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
    # A stack instead of recursion, since trees can be deeper than Python's recursion limit. False: the node closes.
    stack: list[tuple[int, bool]] = [(id, True) for id in reversed(children[None])]
    while stack:
        id, opens = stack.pop()
        count += 1
        if not opens:
            numbers[id] = (left[id], count)
            continue
        left[id] = count
        stack.append((id, False))
        stack.extend((child, True) for child in reversed(children[id]))
    return numbers


def is_within(category: Category, ancestor: Category) -> bool:
    """Returns True if the category is this ancestor or one of its descendants, by the parent column. Call it under
    `lock`."""
    seen: set[int] = set()
    at: int | None = category.pk
    parents = dict(Category.objects.filter(shop_id=category.shop_id).values_list("id", "parent_id"))
    while at is not None and at not in seen:
        if at == ancestor.pk:
            return True
        seen.add(at)
        at = parents.get(at)
    return False
