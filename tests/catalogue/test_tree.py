"""After any sequence of changes, the bounds of the nested set equal those of a simple recursive numbering."""

from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storefront.catalogue import actions, tree
from storefront.catalogue.models import Category
from storefront.kit.refusals import InvalidFields
from tests.catalogue.factories import make_category
from tests.shops.factories import NOW, make_shop

pytestmark = pytest.mark.slow

STEPS = st.lists(
    st.tuples(
        st.sampled_from(["create", "create", "create", "move", "move", "sort", "delete"]),
        st.integers(0, 50),
        st.integers(-1, 50),
        st.integers(-3, 3),
    ),
    max_size=25,
)


def numbered(shop) -> dict[int, tuple[int, int]]:
    """The bounds, computed by a recursive walk of the tree."""
    numbers: dict[int, list[int]] = {}
    count = 0

    def visit(parent: int | None) -> None:
        nonlocal count
        for row in Category.objects.filter(shop=shop, parent=parent).order_by("sort_order", "id"):
            count += 1
            numbers[row.id] = [count]
            visit(row.id)
            count += 1
            numbers[row.id].append(count)

    visit(None)
    return {id: (left, right) for id, (left, right) in numbers.items()}


def stored(shop) -> dict[int, tuple[int, int]]:
    return {id: (left, right) for id, left, right in Category.objects.filter(shop=shop).values_list("id", "lft", "rgt")}


@pytest.mark.rule("R-CAT-37")
@pytest.mark.django_db
@given(steps=STEPS)
def test_bounds_are_correct_after_every_change(steps):
    shop = make_shop(f"{uuid4().hex}.example.com")
    neighbour = make_shop(f"{uuid4().hex}.example.com")
    make_category(neighbour, "Theirs")
    for step in steps:
        run_step(shop, *step)
        assert stored(shop) == numbered(shop)
    assert stored(neighbour) == numbered(neighbour)


def run_step(shop, verb: str, which: int, target: int, order: int) -> None:
    rows = list(Category.objects.filter(shop=shop).order_by("id"))
    parent = rows[target % len(rows)] if rows and target >= 0 else None
    if verb == "create" or not rows:
        actions.create_category(shop=shop, now=NOW, name="Any", parent=parent, sort_order=order)
        return
    row = rows[which % len(rows)]
    try:
        if verb == "move":
            actions.update_category(shop=shop, category=row, now=NOW, parent=parent)
        elif verb == "sort":
            actions.update_category(shop=shop, category=row, now=NOW, sort_order=order)
        else:
            actions.delete_category(shop=shop, category=row, now=NOW)
    except (InvalidFields, actions.CategoryHasChildren):
        pass


def test_only_changed_rows_are_written(shop, django_assert_num_queries):
    make_category(shop, "Kitchen")
    with django_assert_num_queries(2):
        tree.renumber(shop)


def test_a_tree_can_be_deeper_than_the_recursion_limit():
    depth = 5000
    numbers = tree.bounds((id, id - 1 or None) for id in range(1, depth + 1))
    assert numbers[1] == (1, 2 * depth)
    assert numbers[depth] == (depth, depth + 1)
