from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from storefront.kit.format import format_time
from storefront.shops.rights import Right
from storefront.staff.admin_base import EndlessAdmin, ReadOnlyAdmin, refusals
from storefront.staff.admin_parts import PRIMARY, Moves, asks, badge, chosen_deed, column, deed, moment, names
from storefront.staff.admin_scope import ReadOnlyInline, ShopRelatedFilter
from storefront.webhooks import actions, queries, replaying
from storefront.webhooks.models import Attempt, Delivery, Event, Registration

# Deliveries wait until the secret can be read; none is lost.
CANNOT_SIGN = _lazy("On hold: the secret cannot be read")
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
    search_help_text = _lazy("Search by the full webhook-id of an event")
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
    empty_text = _lazy("Once an app is installed, what happens in the shop is recorded here.")
    rights = {"view": Right.VIEW_EVENTS}
    list_display = ["topic", "happened", "sequence"]
    list_filter = ["topic"]
    fields = readonly_fields = ["public_id", "topic", "happened", "sequence", "data"]

    happened = moment("created_at", _lazy("happened"))


def _state_of(row: Registration) -> tuple[str, str]:
    if not row.is_active:
        return "paused", _("Paused")
    return ("active", _("Active")) if row.installation.can_sign else ("on_hold", str(CANNOT_SIGN))


@admin.register(Registration)
class RegistrationAdmin(ReadOnlyAdmin):
    """The webhooks of the shop's apps. Apps register them; a merchant can test them, and resume those that are
    paused."""

    empty_text = _lazy("The addresses at which installed apps receive events are listed here.")
    rights = {"view": Right.MANAGE_WEBHOOKS}
    list_display = ["topic", "app", "address", "state", "registered"]
    list_select_related = ["shop", "installation__app"]
    list_filter = ["is_active"]
    search_fields = ["topic", "address", "installation__app__name"]
    ordering = ["is_active", "installation__app__name", "topic"]
    fields = readonly_fields = ["topic", "app", "address", "state", "reason", "paused", "failing", "registered"]

    registered = moment("created_at", _lazy("registered"))
    paused = moment("paused_at", _lazy("paused"))
    failing = moment("failing_since", _lazy("failing since"))
    app = column(_lazy("app"), lambda row: str(row.installation), by="installation__app__name")

    state = column(
        _lazy("status"),
        _state_of,
        by="is_active",
        label={"active": "success", "paused": "danger", "on_hold": "danger"},
    )
    reason = column(_lazy("pause reason"), lambda row: row.get_pause_reason_display() or "–")

    @deed(
        _lazy("Resume"), Right.MANAGE_WEBHOOKS, Moves.PERSONAL_DATA, icon="play_arrow", variant=PRIMARY, when=is_paused
    )
    @asks(_lazy("Resume this webhook?"), _lazy("Held deliveries will be sent now."), _lazy("Resume"))
    def resume(self, request: Any, row: Any, form: Any) -> str:
        actions.resume_webhook(shop=request.shop, registration=row, now=request.now)
        return _("Webhook resumed. Held deliveries will be sent now.")

    @deed(_lazy("Send a test"), Right.MANAGE_WEBHOOKS, Moves.NOTHING, icon="science")
    @asks(
        _lazy("Send a test delivery?"),
        _lazy("The app gets a sample event, marked as a test, once. The next page shows the outcome."),
        _lazy("Send"),
    )
    def send_test(self, request: Any, row: Any, form: Any) -> Any:
        sent = actions.send_test(
            shop=request.shop, installation_id=row.installation_id, key=str(row.pk), now=request.now
        )
        page: Any = self.admin_site.get_model_admin(Delivery)
        return page.done(request, sent, _("Test delivery sent. Reload this page to see the outcome."))

    @chosen_deed(_lazy("Resume chosen webhooks"), Right.MANAGE_WEBHOOKS, Moves.PERSONAL_DATA)
    def resume_chosen(self, request: Any, queryset: QuerySet) -> str:
        for row in queryset.filter(is_active=False):
            actions.resume_webhook(shop=request.shop, registration=row, now=request.now)
        return _("Webhook resumed. Held deliveries will be sent now.")


class AttemptInline(ReadOnlyInline):
    model = Attempt
    ordering = ["number"]
    fields = readonly_fields = ["number", "made", "duration", "outcome", "answer"]

    made = moment("started_at", _lazy("made"))
    duration = column(_lazy("duration"), lambda row: f"{row.duration_ms} ms")
    outcome = column(_lazy("outcome"), lambda row: row.error or str(row.status))


@admin.register(Delivery)
class DeliveryAdmin(HighVolumeAdmin):
    """Deliveries to the shop's apps, with their attempts."""

    empty_text = _lazy("Each message to an app is listed here, with whether it arrived.")
    rights = {"view": Right.MANAGE_WEBHOOKS}
    list_display = ["subject", "app", "made", "state", "tries", "current_address"]
    list_select_related = ["shop", "installation__app", "registration"]
    list_filter = ["status", "topic", ("installation", ShopRelatedFilter)]
    searched_id = "event__public_id"
    deferred = ("sealed_message",)
    inlines = [AttemptInline]
    fields = readonly_fields = names("subject app current_address status tries next_try made ended message_id event")

    made = moment("created_at", _lazy("made"))
    ended = moment("ended_at", _lazy("ended"))
    subject = column(
        _lazy("topic"),
        lambda row: _("%(topic)s (test)") % {"topic": row.topic} if row.kind == Delivery.Kind.TEST else row.topic,
        by="topic",
    )
    app = column(_lazy("app"), lambda row: str(row.installation), by="installation__app__name")
    state = badge("status", STATUS_COLOURS, by="status")
    current_address = column(_lazy("address"), queries.current_address)

    next_try = column(
        _lazy("next attempt"),
        lambda row: format_time(row.due_at, row.shop.timezone) if row.status == Delivery.Status.PENDING else "–",
    )

    @deed(_lazy("Resend"), Right.MANAGE_WEBHOOKS, Moves.PERSONAL_DATA, icon="replay", when=is_event)
    @asks(
        _lazy("Resend this delivery?"),
        _lazy("The app gets the same message with the same id, so that it can recognise a repeat."),
        _lazy("Resend"),
    )
    def replay(self, request: Any, row: Any, form: Any) -> Any:
        return self.done(request, replay(row, request.now), _("Delivery will be resent."))

    @chosen_deed(_lazy("Resend chosen deliveries"), Right.MANAGE_WEBHOOKS, Moves.PERSONAL_DATA)
    def replay_chosen(self, request: Any, queryset: QuerySet) -> None:
        if refused := refusals(queryset, lambda row: replay(row, request.now)):
            self.message_user(request, _("Not resent: %(refused)s") % {"refused": " ".join(refused)}, messages.WARNING)


def replay(row: Delivery, now: datetime) -> Delivery:
    """Replay a delivery on behalf of its app. Raises the same as `replaying.replay_delivery`."""
    return replaying.replay_delivery(shop=row.shop, installation_id=row.installation_id, delivery_id=row.pk, now=now)
