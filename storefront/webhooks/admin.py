from collections.abc import Callable
from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from unfold.decorators import action, display
from unfold.enums import ActionVariant
from unfold.paginator import InfinitePaginator

from storefront.kit.refusals import Refusal
from storefront.shops.admin_base import ReadOnlyAdmin, ReadOnlyInline, ShopRelatedFilter, moment
from storefront.webhooks import actions, queries, replaying
from storefront.webhooks.models import Attempt, Delivery, Event, Registration

STATUS_COLOURS = {"pending": "info", "held": "warning", "delivered": "success", "dead": "danger", "cancelled": ""}


class Busy(ReadOnlyAdmin):
    """Rows that come by the thousands: newest first, looked for by the id that went out, and never counted."""

    paginator = InfinitePaginator
    ordering = ["-id"]
    # The box to search in only comes with fields to search.
    search_fields = ["topic"]
    search_help_text = "The webhook-id of an event, whole"
    searched_id = "public_id"

    def get_search_results(self, request: HttpRequest, queryset: QuerySet, search_term: str) -> tuple[QuerySet, bool]:
        if not search_term.strip():
            return queryset, False
        try:
            return queryset.filter(**{self.searched_id: UUID(search_term.strip())}), False
        except ValueError:
            return queryset.none(), False


@admin.register(Event)
class EventAdmin(Busy):
    list_display = ["topic", "happened", "sequence"]
    list_filter = ["topic"]
    fields = readonly_fields = ["public_id", "topic", "happened", "sequence", "data"]

    happened = moment("created_at", "happened")


@admin.register(Registration)
class RegistrationAdmin(ReadOnlyAdmin):
    """Where the shop's apps hear of what. Apps register by themselves; a merchant resumes what was paused."""

    owners_only = True
    list_display = ["topic", "app", "address", "state", "registered"]
    list_select_related = ["shop", "installation__app"]
    list_filter = ["is_active"]
    search_fields = ["topic", "address", "installation__app__name"]
    ordering = ["is_active", "installation__app__name", "topic"]
    fields = readonly_fields = ["topic", "app", "address", "state", "reason", "paused", "failing", "registered"]
    actions = ["resume_chosen"]
    actions_detail = ["resume"]

    registered = moment("created_at", "registered")
    paused = moment("paused_at", "paused")
    failing = moment("failing_since", "failing since")

    def get_actions_detail(self, request: HttpRequest, object_id: Any) -> list[Any]:
        row = self.get_object(request, str(object_id))
        return super().get_actions_detail(request, object_id) if row and not row.is_active else []

    @display(description="app", ordering="installation__app__name")
    def app(self, row: Registration) -> str:
        return str(row.installation)

    @display(description="state", ordering="is_active", label={"Active": "success", "Paused": "danger"})
    def state(self, row: Registration) -> str:
        return "Active" if row.is_active else "Paused"

    @display(description="why it is paused")
    def reason(self, row: Registration) -> str:
        return row.get_pause_reason_display() or "–"

    @action(
        description="Resume",
        icon="play_arrow",
        variant=ActionVariant.PRIMARY,
        dialog={
            "title": "Resume this webhook?",
            "description": "What was held meanwhile is sent now.",
            "form_class": None,
            "form_submit_text": "Resume",
        },
    )
    def resume(self, request: Any, form: Any, object_id: str) -> HttpResponse:
        row = self.row_or_404(request, object_id)
        actions.resume_webhook(shop=request.shop, registration=row, now=request.now)
        return self.done(request, row, "Resumed. What was held meanwhile is sent now.")

    @admin.action(description="Resume the chosen webhooks")
    def resume_chosen(self, request: Any, queryset: QuerySet) -> None:
        for row in queryset.filter(is_active=False):
            actions.resume_webhook(shop=request.shop, registration=row, now=request.now)
            self.log_change(request, row, "Resumed.")
        self.message_user(request, "Resumed. What was held meanwhile is sent now.", messages.SUCCESS)


class AttemptInline(ReadOnlyInline):
    model = Attempt
    ordering = ["number"]
    fields = readonly_fields = ["number", "made", "took", "answered", "answer"]

    made = moment("started_at", "made")

    @display(description="took")
    def took(self, row: Attempt) -> str:
        return f"{row.duration_ms} ms"

    @display(description="outcome")
    def answered(self, row: Attempt) -> str:
        return row.error or str(row.status)

    def get_queryset(self, request: HttpRequest) -> QuerySet:
        return super().get_queryset(request).select_related("shop")


@admin.register(Delivery)
class DeliveryAdmin(Busy):
    """What was sent to the shop's apps, try by try."""

    owners_only = True
    list_display = ["topic", "app", "made", "state", "tries", "where"]
    list_select_related = ["shop", "installation__app", "registration"]
    list_filter = ["status", "topic", ("installation", ShopRelatedFilter)]
    searched_id = "event__public_id"
    inlines = [AttemptInline]
    fields = readonly_fields = [
        "topic",
        "app",
        "where",
        "state",
        "tries",
        "next_try",
        "made",
        "ended",
        "message_id",
        "event",
    ]
    actions = ["replay_chosen"]
    actions_detail = ["replay"]

    made = moment("created_at", "made")
    ended = moment("ended_at", "ended")
    due = moment("due_at")

    def get_queryset(self, request: HttpRequest) -> QuerySet:
        return super().get_queryset(request).defer("sealed_message")

    def get_actions_detail(self, request: HttpRequest, object_id: Any) -> list[Any]:
        row = self.get_object(request, str(object_id))
        fits = row is not None and row.kind == Delivery.Kind.EVENT
        return super().get_actions_detail(request, object_id) if fits else []

    @display(description="app", ordering="installation__app__name")
    def app(self, row: Delivery) -> str:
        return str(row.installation)

    @display(description="state", ordering="status", label=STATUS_COLOURS)
    def state(self, row: Delivery) -> tuple[str, str]:
        return row.status, row.get_status_display()

    @display(description="address")
    def where(self, row: Delivery) -> str:
        return queries.address_of(row)

    @display(description="next try")
    def next_try(self, row: Delivery) -> str:
        shown: Callable[[Any, Any], str] = type(self).due
        return shown(self, row) if row.status == Delivery.Status.PENDING else "–"

    @action(
        description="Send again",
        icon="replay",
        dialog={
            "title": "Send this again?",
            "description": "The app gets the same message under the same id, which tells it that it may have it.",
            "form_class": None,
            "form_submit_text": "Send again",
        },
    )
    def replay(self, request: Any, form: Any, object_id: str) -> HttpResponse:
        row = self.row_or_404(request, object_id)
        try:
            again = replay(row, request.now)
        except Refusal as refusal:
            self.message_user(request, refusal.text, messages.ERROR)
            return self.back_to(request, row)
        return self.done(request, again, "Sent again.")

    @admin.action(description="Send the chosen deliveries again")
    def replay_chosen(self, request: Any, queryset: QuerySet) -> None:
        refused = []
        for row in queryset:
            try:
                self.log_change(request, replay(row, request.now), "Sent again.")
            except Refusal as refusal:
                refused.append(f"{row}: {refusal.text}")
        if refused:
            self.message_user(request, f"Not sent again: {' '.join(refused)}", messages.WARNING)


def replay(row: Delivery, now: datetime) -> Delivery:
    """Raises what `replay_delivery` does."""
    return replaying.replay_delivery(shop=row.shop, installation_id=row.installation_id, delivery_id=row.pk, now=now)
