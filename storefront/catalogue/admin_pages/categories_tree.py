"""Choosing categories in their tree."""

from collections.abc import Collection
from typing import Any

from django.forms import CheckboxSelectMultiple
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from storefront.catalogue.models import Category

# Categories that a page shows as a tree; of more, some are searched for.
MAX_SHOWN = 1000


class TreeWidget(CheckboxSelectMultiple):
    """The shop's categories as nested boxes, `rows` being (id, name, lft, rgt) in the tree's order, with a search."""

    template_name = "catalogue/admin/tree.html"

    def __init__(self, rows: list[tuple[int, str, int, int]]) -> None:
        super().__init__()
        self.rows = rows

    def get_context(self, name: str, value: Any, attrs: Any) -> dict[str, Any]:
        chosen = {str(each) for each in value or ()}
        tree = _nested(self.rows, name, chosen) if self.rows else ""
        shown = [label for id, label, *_ in self.rows if str(id) in chosen]
        return {"widget": {"name": name, "attrs": attrs or {}, "tree": tree, "count": len(self.rows), "chosen": shown}}


def tree_rows(shop: Any) -> list[tuple[int, str, int, int]] | None:
    """The shop's categories for the widget; None if they are too many."""
    found = Category.objects.filter(shop=shop).order_by("lft").values_list("pk", "name", "lft", "rgt")
    rows = list(found[: MAX_SHOWN + 1])
    return rows if len(rows) <= MAX_SHOWN else None


def _nested(rows: list[tuple[int, str, int, int]], name: str, chosen: Collection[str]) -> SafeString:
    """The rows of one level as a list, each with the list of those below it."""
    items, start = [], 0
    while start < len(rows):
        id, label, _, rgt = rows[start]
        end = start + 1
        while end < len(rows) and rows[end][2] < rgt:
            end += 1
        box = format_html(
            '<label class="tree__box"><input type="checkbox" name="{}" value="{}"{}> <span>{}</span></label>',
            name,
            id,
            SafeString(" checked" if str(id) in chosen else ""),
            label,
        )
        below = rows[start + 1 : end]
        items.append((box, _nested(below, name, chosen) if below else ""))
        start = end
    return format_html("<ul>{}</ul>", format_html_join("", "<li>{}{}</li>", items))
