from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest

from storefront.kit.format import format_time
from storefront.shops.rights import Right
from storefront.staff.admin_base import EndlessAdmin, ReadOnlyAdmin, refusals
from storefront.staff.admin_parts import PRIMARY, Moves, asks, badge, chosen_deed, column, deed, moment, names
from storefront.staff.admin_scope import ReadOnlyInline, ShopRelatedFilter
from storefront.webhooks import actions, queries, replaying
from storefront.webhooks.models import Attempt, Delivery, Event, Registration

# Deliveries wait until the secret can be read; none is lost.
CANNOT_SIGN = "On hold: the secret cannot be read"
STATUS_COLOURS = {"pending": "info", "held": "warning", "delivered": "success", "dead": "danger", "cancelled": ""}


def is_paused(row: Registration) -> bool:
    return not row.is_active


def is_event(row: Delivery) -> bool:
    return row.kind == Delivery.Kind.EVENT


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
    rights = {"view": Right.MANAGE_WEBHOOKS}
    list_display = ["topic", "app", "address", "state", "registered"]
    list_select_related = ["shop", "installation__app"]
    list_filter = ["is_active"]
    search_fields = ["topic", "address", "installation__app__name"]
    ordering = ["is_active", "installation__app__name", "topic"]
    fields = readonly_fields = ["topic", "app", "address", "state", "reason", "paused", "failing", "registered"]

    registered = moment("created_at", "registered")
    paused = moment("paused_at", "paused")
    failing = moment("failing_since", "failing since")
    app = column("app", lambda row: str(row.installation), by="installation__app__name")

    state = column(
        "status",
        lambda row: ("Active" if row.installation.can_sign else CANNOT_SIGN) if row.is_active else "Paused",
        by="is_active",
        label={"Active": "success", "Paused": "danger", CANNOT_SIGN: "danger"},
    )
    reason = column("pause reason", lambda row: row.get_pause_reason_display() or "–")

    @deed("Resume", Right.MANAGE_WEBHOOKS, Moves.PERSONAL_DATA, icon="play_arrow", variant=PRIMARY, when=is_paused)
    @asks("Resume this webhook?", "Held deliveries will be sent now.", "Resume")
    def resume(self, request: Any, row: Any, form: Any) -> str:
        actions.resume_webhook(shop=request.shop, registration=row, now=request.now)
        return "Webhook resumed. Held deliveries will be sent now."

    @deed("Send a test", Right.MANAGE_WEBHOOKS, Moves.NOTHING, icon="science")
    @asks(
        "Send a test delivery?",
        "The app gets a sample event, marked as a test, once. The next page shows the outcome.",
        "Send",
    )
    def send_test(self, request: Any, row: Any, form: Any) -> Any:
        sent = actions.send_test(
            shop=request.shop, installation_id=row.installation_id, key=str(row.pk), now=request.now
        )
        page: Any = self.admin_site.get_model_admin(Delivery)
        return page.done(request, sent, "Test delivery sent. Reload this page to see the outcome.")

    @chosen_deed("Resume selected webhooks", Right.MANAGE_WEBHOOKS, Moves.PERSONAL_DATA)
    def resume_chosen(self, request: Any, queryset: QuerySet) -> str:
        for row in queryset.filter(is_active=False):
            actions.resume_webhook(shop=request.shop, registration=row, now=request.now)
        return "Webhook resumed. Held deliveries will be sent now."


class AttemptInline(ReadOnlyInline):
    model = Attempt
    ordering = ["number"]
    fields = readonly_fields = ["number", "made", "duration", "outcome", "answer"]

    made = moment("started_at", "made")
    duration = column("duration", lambda row: f"{row.duration_ms} ms")
    outcome = column("outcome", lambda row: row.error or str(row.status))


@admin.register(Delivery)
class DeliveryAdmin(HighVolumeAdmin):
    """Deliveries to the shop's apps, with their attempts."""

    empty_text = "Each message to an app is listed here, with whether it arrived."
    rights = {"view": Right.MANAGE_WEBHOOKS}
    list_display = ["subject", "app", "made", "state", "tries", "current_address"]
    list_select_related = ["shop", "installation__app", "registration"]
    list_filter = ["status", "topic", ("installation", ShopRelatedFilter)]
    searched_id = "event__public_id"
    deferred = ("sealed_message",)
    inlines = [AttemptInline]
    fields = readonly_fields = names("subject app current_address status tries next_try made ended message_id event")

    made = moment("created_at", "made")
    ended = moment("ended_at", "ended")
    subject = column(
        "topic", lambda row: f"{row.topic} (test)" if row.kind == Delivery.Kind.TEST else row.topic, by="topic"
    )
    app = column("app", lambda row: str(row.installation), by="installation__app__name")
    state = badge("status", STATUS_COLOURS, by="status")
    current_address = column("address", queries.current_address)

    next_try = column(
        "next attempt",
        lambda row: format_time(row.due_at, row.shop.timezone) if row.status == Delivery.Status.PENDING else "–",
    )

    @deed("Resend", Right.MANAGE_WEBHOOKS, Moves.PERSONAL_DATA, icon="replay", when=is_event)
    @asks(
        "Resend this delivery?",
        "The app gets the same message with the same id, so that it can recognise a repeat.",
        "Resend",
    )
    def replay(self, request: Any, row: Any, form: Any) -> Any:
        return self.done(request, replay(row, request.now), "Delivery will be resent.")

    @chosen_deed("Resend selected deliveries", Right.MANAGE_WEBHOOKS, Moves.PERSONAL_DATA)
    def replay_chosen(self, request: Any, queryset: QuerySet) -> None:
        if refused := refusals(queryset, lambda row: replay(row, request.now)):
            self.message_user(request, f"Not resent: {' '.join(refused)}", messages.WARNING)


def replay(row: Delivery, now: datetime) -> Delivery:
    """Replay a delivery on behalf of its app. Raises the same as `replaying.replay_delivery`."""
    return replaying.replay_delivery(shop=row.shop, installation_id=row.installation_id, delivery_id=row.pk, now=now)
