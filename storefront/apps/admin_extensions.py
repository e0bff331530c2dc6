"""The blocks that apps show on the shop's pages, as owners of the shop look after them."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.utils.html import format_html
from unfold.decorators import action, display
from unfold.enums import ActionVariant

from storefront.apps import rendering
from storefront.apps.admin_pages import AsksAndShows
from storefront.apps.figures import figures, health, last_call
from storefront.apps.models import Extension
from storefront.kit import clock
from storefront.kit.format import format_count, format_time
from storefront.shops.admin_base import moment

HEALTH = {"Well": "success", "Failing": "warning", "Resting": "danger", "Off": ""}

# A basket such as an app is told of.
SAMPLE: dict[str, Any] = {
    "items": [
        {
            "key": "p1",
            "product_id": 1,
            "variant_id": None,
            "qty": 2,
            "price_snapshot": "12.50",
            "name_snapshot": "Sample mug",
            "image_snapshot": None,
            "is_digital": False,
            "is_bundle": False,
            "bundle_items": [],
            "custom_fields": [],
            "is_damaged": False,
            "line_total": "25.00",
            "options": [],
        }
    ],
    "totals": {
        "subtotal": "25.00",
        "shipping": "0.00",
        "tax": "0.00",
        "discount": "0.00",
        "total": "25.00",
        "item_count": 2,
        "line_count": 1,
    },
}


@admin.register(Extension)
class ExtensionAdmin(AsksAndShows):
    """Apps register and delete their blocks; the merchant can switch one off."""

    owners_only = True
    can_add = can_delete_rows = False
    list_display = ["block", "app", "health_shown", "callback_url"]
    list_select_related = ["shop", "installation__app"]
    search_fields = ["installation__app__name", "callback_url"]
    ordering = ["pk"]
    actions = None
    actions_detail = ["preview"]
    fieldsets: Any = [
        (None, {"fields": ["block", "app", "callback_url", "timeout_ms", "registered", "is_active"]}),
        ("How it fares", {"fields": ["health_shown", "calls", "p50", "p95", "timed_out", "failed"]}),
        ("The last call", {"fields": ["last_outcome", "last_request", "last_answer"]}),
    ]

    registered = moment("created_at", "registered")

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        return [name for _, part in self.fieldsets for name in part["fields"] if name != "is_active"]

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Extension | None:
        """The row with what its page tells of it, read once."""
        row = super().get_object(request, object_id, from_field)
        if row is not None:
            row.figures, row.last = figures(row.shop, row), last_call(row.shop, row)
        return row

    @display(description="block")
    def block(self, row: Extension) -> str:
        return row.get_type_display()

    @display(description="app", ordering="installation__app__name")
    def app(self, row: Extension) -> str:
        return str(row.installation)

    @display(description="state", label=HEALTH)
    def health_shown(self, row: Extension) -> tuple[str, str]:
        state = health(row, clock.now())
        if state == "Resting":
            until = format_time(row.asked_again_at, row.shop.timezone)
            return state, f"Kept failing: not asked until {until}"
        if state == "Failing":
            return state, f"Failed {row.failures_in_a_row} times in a row"
        return state, state

    @display(description="calls in the last week, the last thousand at most")
    def calls(self, row: Any) -> str:
        return format_count(row.figures.calls)

    @display(description="half of them took at most")
    def p50(self, row: Any) -> str:
        return _milliseconds(row.figures.p50)

    @display(description="95 of 100 took at most")
    def p95(self, row: Any) -> str:
        return _milliseconds(row.figures.p95)

    @display(description="timed out")
    def timed_out(self, row: Any) -> str:
        return format_count(row.figures.timed_out)

    @display(description="failed otherwise")
    def failed(self, row: Any) -> str:
        return format_count(row.figures.failed)

    @display(description="outcome")
    def last_outcome(self, row: Any) -> str:
        if row.last is None:
            return "Not asked yet"
        when = format_time(row.last.called_at, row.shop.timezone)
        return f"{when}: {row.last.get_outcome_display()} after {row.last.duration_ms} ms. {row.last.reason}".strip()

    @display(description="request")
    def last_request(self, row: Any) -> str:
        return _as_sent(row.last.request if row.last else "")

    @display(description="answer")
    def last_answer(self, row: Any) -> str:
        return _as_sent(row.last.answer if row.last else "")

    @action(description="Preview", icon="visibility", variant=ActionVariant.PRIMARY)
    def preview(self, request: Any, object_id: str) -> HttpResponse:
        """Ask for the block with a sample basket and show what the page would. It counts as a call like any other, so
        that a block which is well again is shown at once."""
        row = self.row_or_404(request, object_id)
        asked = None
        if request.method == "POST":
            asked = rendering.ask_once(request.shop, row.pk, payload=SAMPLE, now=request.now)
        context = {"title": f"Preview of “{row}”", "row": row, "asked": asked}
        return self.page(request, "apps/admin/preview.html", context)


def _milliseconds(duration: int | None) -> str:
    return "–" if duration is None else f"{format_count(duration)} ms"


def _as_sent(text: str) -> str:
    return format_html('<pre class="whitespace-pre-wrap break-all">{}</pre>', text) if text else "–"
