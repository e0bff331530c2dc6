from collections.abc import Callable
from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from unfold.decorators import action, display
from unfold.enums import ActionVariant

from storefront.kit.refusals import Refusal
from storefront.shops.admin_base import (
    EndlessAdmin,
    ReadOnlyAdmin,
    ReadOnlyInline,
    ShopRelatedFilter,
    moment,
    plain_dialog,
)
from storefront.shops.rights import Right
from storefront.webhooks import actions, queries, replaying
from storefront.webhooks.models import Attempt, Delivery, Event, Registration

# Deliveries wait until the secret can be read; none is lost.
CANNOT_SIGN = "On hold: the secret cannot be read"
STATUS_COLOURS = {"pending": "info", "held": "warning", "delivered": "success", "dead": "danger", "cancelled": ""}


class HighVolumeAdmin(EndlessAdmin):
    """An admin of thousands of rows: newest first, searched by the public id, never counted."""

    ordering = ["-id"]
    # Django shows the search box only if there are search fields.
    search_fields = ["topic"]
    search_help_text = "Search by the full webhook-id of an event"
    searched_id = "public_id"

    def get_search_results(self, request: HttpRequest, queryset: QuerySet, search_term: str) -> tuple[QuerySet, bool]:
        if not search_term.strip():
            return queryset, False
        try:
            return queryset.filter(**{self.searched_id: UUID(search_term.strip())}), False
        except ValueError:
            return queryset.none(), False


@admin.register(Event)
class EventAdmin(HighVolumeAdmin):
    empty_text = "What happens in the shop is recorded here once an app is installed."
    rights = {"view": Right.VIEW_EVENTS}
    list_display = ["topic", "happened", "sequence"]
    list_filter = ["topic"]
    fields = readonly_fields = ["public_id", "topic", "happened", "sequence", "data"]

    happened = moment("created_at", "happened")


@admin.register(Registration)
class RegistrationAdmin(ReadOnlyAdmin):
    """The webhooks of the shop's apps. Apps register them; a merchant can test them, and resume those that are
    paused."""

    empty_text = "The addresses at which installed apps receive events are listed here."
    rights = {
        "view": Right.MANAGE_WEBHOOKS,
        "resume": Right.MANAGE_WEBHOOKS,
        "resume_chosen": Right.MANAGE_WEBHOOKS,
        "send_test": Right.MANAGE_WEBHOOKS,
    }
    list_display = ["topic", "app", "address", "state", "registered"]
    list_select_related = ["shop", "installation__app"]
    list_filter = ["is_active"]
    search_fields = ["topic", "address", "installation__app__name"]
    ordering = ["is_active", "installation__app__name", "topic"]
    fields = readonly_fields = ["topic", "app", "address", "state", "reason", "paused", "failing", "registered"]
    actions = ["resume_chosen"]
    actions_detail = ["resume", "send_test"]

    registered = moment("created_at", "registered")
    paused = moment("paused_at", "paused")
    failing = moment("failing_since", "failing since")

    def get_actions_detail(self, request: HttpRequest, object_id: Any) -> list[Any]:
        row, found = self.get_object(request, str(object_id)), super().get_actions_detail(request, object_id)
        is_paused = row is not None and not row.is_active
        return [each for each in found if is_paused or not each.action_name.endswith("resume")]

    @display(description="app", ordering="installation__app__name")
    def app(self, row: Registration) -> str:
        return str(row.installation)

    @display(
        description="status",
        ordering="is_active",
        label={"Active": "success", "Paused": "danger", CANNOT_SIGN: "danger"},
    )
    def state(self, row: Registration) -> str:
        if not row.is_active:
            return "Paused"
        return "Active" if row.installation.can_sign else CANNOT_SIGN

    @display(description="pause reason")
    def reason(self, row: Registration) -> str:
        return row.get_pause_reason_display() or "–"

    @action(
        description="Resume",
        icon="play_arrow",
        variant=ActionVariant.PRIMARY,
        dialog=plain_dialog("Resume this webhook?", "Held deliveries will be sent now.", submit="Resume"),
    )
    def resume(self, request: Any, form: Any, object_id: str) -> HttpResponse:
        row = self.row_or_404(request, object_id)
        actions.resume_webhook(shop=request.shop, registration=row, now=request.now)
        return self.done(request, row, "Webhook resumed. Held deliveries will be sent now.")

    @action(
        description="Send a test",
        icon="science",
        dialog={
            "title": "Send a test delivery?",
            "description": "The app gets a sample event, marked as a test, once. The next page shows the outcome.",
            "form_class": None,
            "form_submit_text": "Send",
        },
    )
    def send_test(self, request: Any, form: Any, object_id: str) -> HttpResponse:
        row = self.row_or_404(request, object_id)
        sent = actions.send_test(
            shop=request.shop, installation_id=row.installation_id, key=str(row.pk), now=request.now
        )
        page: Any = self.admin_site.get_model_admin(Delivery)
        return page.done(request, sent, "Test delivery sent. Reload this page to see the outcome.")

    @admin.action(description="Resume selected webhooks")
    def resume_chosen(self, request: Any, queryset: QuerySet) -> None:
        for row in queryset.filter(is_active=False):
            actions.resume_webhook(shop=request.shop, registration=row, now=request.now)
        self.message_user(request, "Webhook resumed. Held deliveries will be sent now.", messages.SUCCESS)


class AttemptInline(ReadOnlyInline):
    model = Attempt
    rights = {"view": Right.MANAGE_WEBHOOKS}
    ordering = ["number"]
    fields = readonly_fields = ["number", "made", "duration", "outcome", "answer"]

    made = moment("started_at", "made")

    @display(description="duration")
    def duration(self, row: Attempt) -> str:
        return f"{row.duration_ms} ms"

    @display(description="outcome")
    def outcome(self, row: Attempt) -> str:
        return row.error or str(row.status)

    def get_queryset(self, request: HttpRequest) -> QuerySet:
        return super().get_queryset(request).select_related("shop")


@admin.register(Delivery)
class DeliveryAdmin(HighVolumeAdmin):
    """Deliveries to the shop's apps, with their attempts."""

    empty_text = "Each message to an app is listed here, with whether it arrived."
    rights = {
        "view": Right.MANAGE_WEBHOOKS,
        "replay": Right.MANAGE_WEBHOOKS,
        "replay_chosen": Right.MANAGE_WEBHOOKS,
    }
    list_display = ["subject", "app", "made", "state", "tries", "current_address"]
    list_select_related = ["shop", "installation__app", "registration"]
    list_filter = ["status", "topic", ("installation", ShopRelatedFilter)]
    searched_id = "event__public_id"
    inlines = [AttemptInline]
    fields = readonly_fields = [
        "subject",
        "app",
        "current_address",
        "status",
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
        can_replay = row is not None and row.kind == Delivery.Kind.EVENT
        return super().get_actions_detail(request, object_id) if can_replay else []

    @display(description="topic", ordering="topic")
    def subject(self, row: Delivery) -> str:
        return f"{row.topic} (test)" if row.kind == Delivery.Kind.TEST else row.topic

    @display(description="app", ordering="installation__app__name")
    def app(self, row: Delivery) -> str:
        return str(row.installation)

    @display(description="status", ordering="status", label=STATUS_COLOURS)
    def state(self, row: Delivery) -> tuple[str, str]:
        return row.status, row.get_status_display()

    @display(description="address")
    def current_address(self, row: Delivery) -> str:
        return queries.current_address(row)

    @display(description="next attempt")
    def next_try(self, row: Delivery) -> str:
        due: Callable[[Any, Any], str] = type(self).due
        return due(self, row) if row.status == Delivery.Status.PENDING else "–"

    @action(
        description="Resend",
        icon="replay",
        dialog=plain_dialog(
            "Resend this delivery?",
            "The app gets the same message with the same id, so that it can recognise a repeat.",
            submit="Resend",
        ),
    )
    def replay(self, request: Any, form: Any, object_id: str) -> HttpResponse:
        row = self.row_or_404(request, object_id)
        return self.done(request, replay(row, request.now), "Delivery will be resent.")

    @admin.action(description="Resend selected deliveries")
    def replay_chosen(self, request: Any, queryset: QuerySet) -> None:
        refused = []
        for row in queryset:
            try:
                replay(row, request.now)
            except Refusal as refusal:
                refused.append(f"{row}: {refusal.text}")
        if refused:
            self.message_user(request, f"Not resent: {' '.join(refused)}", messages.WARNING)


def replay(row: Delivery, now: datetime) -> Delivery:
    """Replay a delivery on behalf of its app. Raises the same as `replaying.replay_delivery`."""
    return replaying.replay_delivery(shop=row.shop, installation_id=row.installation_id, delivery_id=row.pk, now=now)
