"""Finds the orders before and after one in the list that it was opened from, with that list's filters, search and
sorting. Each is found by an index from the order's own place, so no list is read, however long it is. The order need
not be in the list any more: one that was fulfilled has left the orders to send."""

from copy import copy
from functools import reduce
from operator import or_
from typing import Any

from django.contrib.admin.views.main import ChangeList
from django.db.models import Q, QuerySet
from django.http import QueryDict

from storefront.orders.models import Order
from storefront.staff.admin_base import NOT_OFFERED

# Names the list's query string in the address of a page that was opened from it. Django writes it.
LIST_VAR = "_changelist_filters"


class _Listed(ChangeList):
    """A list of which no page is read."""

    def get_results(self, request: Any) -> None:
        self.result_list = self.root_queryset.none()


def neighbours(page: Any, request: Any, order: Order) -> tuple[int | None, int | None]:
    """The ids of the orders before and after this one; None at an end. A list that cannot be filtered as the address
    asks for is that of all orders."""
    try:
        rows, ordering = _listed(page, request, request.GET.get(LIST_VAR, ""))
    except NOT_OFFERED:
        rows, ordering = _listed(page, request, "")
    return _first(rows, [_turned(name) for name in ordering], order), _first(rows, ordering, order)


def _listed(page: Any, request: Any, query: str) -> tuple[QuerySet[Order], list[str]]:
    asked = copy(request)
    asked.GET = QueryDict(query)
    own = copy(page)
    own.get_changelist = lambda request, **given: _Listed
    shown = own.get_changelist_instance(asked)
    ordering = shown.get_ordering(asked, shown.root_queryset)
    plain = all(isinstance(name, str) for name in ordering)
    return shown.queryset, [str(name) for name in (ordering if plain else page.ordering)]


def _first(rows: QuerySet[Order], ordering: list[str], order: Order) -> int | None:
    """The first of these rows after the order in this sorting."""
    after, same = [], Q()
    for name in ordering:
        column, beyond = name.removeprefix("-"), "lt" if name.startswith("-") else "gt"
        value = getattr(order, column)
        after.append(same & Q((f"{column}__{beyond}", value)))
        same &= Q((column, value))
        if len(after) == 1:
            # The first column alone bounds what an index has to read.
            rows = rows.filter((f"{column}__{beyond}e", value))
    return rows.filter(reduce(or_, after)).order_by(*ordering).values_list("pk", flat=True).first()


def _turned(name: str) -> str:
    return name.removeprefix("-") if name.startswith("-") else f"-{name}"
