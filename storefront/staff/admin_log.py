from collections.abc import Callable
from datetime import UTC, datetime, time, timedelta
from typing import Any

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils.dateparse import parse_date
from django.utils.translation import gettext_lazy as _lazy
from unfold.paginator import InfinitePaginator

from storefront.audit.known_actions import ACTIONS
from storefront.audit.text import action_text, actor_text, changes_table, object_text
from storefront.kit.ids import as_id
from storefront.shops.audit_models import AuditEntry
from storefront.shops.rights import Right
from storefront.staff.admin_base import ReadOnlyAdmin
from storefront.staff.admin_parts import badge, choice_filter, column, moment, names

COLOURS = {"staff": "info", "token": "warning", "app": "warning", "command": "", "customer": "success"}


class ActionFilter(admin.SimpleListFilter):
    title, parameter_name = _lazy("action"), "action"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return sorted(ACTIONS.items(), key=lambda word: str(word[1]))

    def queryset(self, request: HttpRequest, queryset: QuerySet) -> QuerySet:
        return queryset.filter(action=self.value()) if self.value() in ACTIONS else queryset


def within(days: int) -> Callable[[QuerySet, Any], QuerySet]:
    return lambda rows, request: rows.filter(at__gte=request.now - timedelta(days=days))


PERIODS = {
    "1": (_lazy("Last 24 hours"), within(1)),
    "7": (_lazy("Last week"), within(7)),
    "30": (_lazy("Last 30 days"), within(30)),
    "365": (_lazy("Last year"), within(365)),
}


@admin.register(AuditEntry)
class AuditEntryAdmin(ReadOnlyAdmin):
    """The audit log. Nobody can change or delete entries here."""

    menu_title = _lazy("Audit log")
    rights = {"view": Right.VIEW_AUDIT}
    paginator = InfinitePaginator
    actions = None
    list_display = ["when", "by", "kind", "action_shown", "object_shown", "place"]
    list_filter = ["actor_kind", ActionFilter, choice_filter(_lazy("time"), "days", PERIODS)]
    search_fields = ["object_name"]
    search_help_text = _lazy("Search by name, ID, person, or a date such as 2026-11-21")
    ordering = ["-at", "-id"]
    fields = readonly_fields = names(
        "when by kind place action_shown action object_shown changes request_id erased kept_until"
    )

    when = moment("at", _lazy("when"))
    erased = moment("erased_at", _lazy("person erased"))
    by = column(_lazy("by"), actor_text, by="actor_name")
    kind = badge("actor_kind", COLOURS, _lazy("kind"))
    action_shown = column(_lazy("action"), action_text, by="action")
    object_shown = column(_lazy("about"), object_text)
    changes = column(_lazy("before and after"), changes_table)
    kept_until = column(_lazy("kept until"), lambda row: row.keep_until.isoformat())

    def get_search_results(self, request: Any, queryset: QuerySet, search_term: str) -> tuple[QuerySet, bool]:
        text = search_term.strip()
        if not text:
            return queryset, False
        if (day := _day(text)) is not None:
            return queryset.filter(at__gte=day, at__lt=day + timedelta(days=1)), False
        found = Q(object_name__icontains=text) | Q(actor_name__icontains=text)
        number = as_id(text.removeprefix("#"))
        return queryset.filter(found | Q(object_id=number) if number else found), False


def _day(text: str) -> datetime | None:
    try:
        day = parse_date(text)
    except ValueError:
        return None
    return datetime.combine(day, time(), UTC) if day else None
