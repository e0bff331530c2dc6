"""Admin pages of the blocks that apps show on the shop's pages."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy
from django.utils.translation import ngettext
from unfold.decorators import display

from storefront.apps import rendering
from storefront.apps.call_statistics import call_statistics, health, last_call
from storefront.apps.models import Extension
from storefront.kit import clock
from storefront.kit.format import format_count, format_time
from storefront.shops.rights import Right
from storefront.staff.admin_base import ShopScopedAdmin
from storefront.staff.admin_parts import PRIMARY, Moves, column, deed, layout, moment

HEALTH = {"Healthy": "success", "Failing": "warning", "Suspended": "danger", "Off": ""}
HEALTH_TEXTS = {
    "Healthy": _lazy("Healthy"),
    "Failing": _lazy("Failing"),
    "Suspended": _lazy("Suspended"),
    "Off": _lazy("Off"),
}

# The sample basket that a preview sends to the app.
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
        "tax_included": True,
    },
    "cart": None,
}


def health_of(row: Extension) -> tuple[str, str]:
    """The block's state, and the state in words."""
    state = health(row, clock.now())
    if state == "Suspended":
        until = format_time(row.asked_again_at, row.shop.timezone)
        return state, _("Failed repeatedly: not called until %(until)s") % {"until": until}
    if state == "Failing":
        return state, ngettext(
            "Failed %(count)s times in a row", "Failed %(count)s times in a row", row.failures_in_a_row
        ) % {"count": row.failures_in_a_row}
    return state, str(HEALTH_TEXTS[state])


@admin.register(Extension)
class ExtensionAdmin(ShopScopedAdmin):
    """Apps register and delete their blocks; the merchant can turn a block off."""

    menu_title = _lazy("Blocks")
    empty_text = _lazy(
        "Installed apps can show blocks at the checkout, on product pages and after the order. They are listed here."
    )
    rights = {"view": Right.MANAGE_APPS, "change": Right.MANAGE_APPS}
    moves = Moves.PERSONAL_DATA
    list_display = ["block", "app", "health_shown", "callback_url"]
    list_select_related = ["shop", "installation__app"]
    search_fields = ["installation__app__name", "callback_url"]
    ordering = ["pk"]
    actions = None
    fieldsets: Any = layout(
        "block app callback_url timeout_ms registered is_active",
        "Performance: health_text calls p50 p95 timed_out failed",
        "Last call: last_outcome last_request last_answer",
    )

    readonly_fields = [name for _, options in fieldsets for name in options["fields"] if name != "is_active"]

    registered = moment("created_at", _lazy("registered"))

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Extension | None:
        """The row with its statistics and its last call, read once for all fields."""
        row = super().get_object(request, object_id, from_field)
        if row is not None:
            row.statistics, row.last = call_statistics(row.shop, row), last_call(row.shop, row)
        return row

    block = column(_lazy("block"), lambda row: row.get_type_display())
    app = column(_lazy("app"), lambda row: str(row.installation), by="installation__app__name")

    health_shown = column(_lazy("state"), health_of, label=HEALTH)
    health_text = column(_lazy("state"), lambda row: health_of(row)[1])
    calls = column(_lazy("calls in the last week (up to 1,000)"), lambda row: format_count(row.statistics.calls))
    p50 = column(_lazy("median time"), lambda row: _milliseconds(row.statistics.p50))
    p95 = column(_lazy("95th percentile"), lambda row: _milliseconds(row.statistics.p95))
    timed_out = column(_lazy("timeouts"), lambda row: format_count(row.statistics.timed_out))
    failed = column(_lazy("other failures"), lambda row: format_count(row.statistics.failed))

    @display(description=_lazy("outcome"))
    def last_outcome(self, row: Any) -> str:
        if row.last is None:
            return _("Not called yet")
        when = format_time(row.last.called_at, row.shop.timezone)
        shown = {"when": when, "outcome": row.last.get_outcome_display(), "duration": row.last.duration_ms}
        return f"{_('%(when)s: %(outcome)s after %(duration)s ms.') % shown} {row.last.reason}".strip()

    last_request = column(_lazy("request"), lambda row: _as_sent(row.last.request if row.last else ""))
    last_answer = column(_lazy("response"), lambda row: _as_sent(row.last.answer if row.last else ""))

    @deed(_lazy("Preview"), Right.MANAGE_APPS, Moves.NOTHING, icon="visibility", variant=PRIMARY)
    def preview(self, request: Any, row: Any) -> Any:
        """Fetch the block for a sample basket and show it as the page would. The call is recorded like any other, so a
        success ends a suspension."""
        result = None
        if request.method == "POST":
            result = rendering.preview_block(request.shop, row.pk, payload=SAMPLE, now=request.now)
        return self.page(
            request, "apps/admin/preview.html", title=_("Preview of “%(row)s”") % {"row": row}, row=row, result=result
        )


def _milliseconds(duration: int | None) -> str:
    return "–" if duration is None else f"{format_count(duration)} ms"


def _as_sent(text: str) -> str:
    return format_html('<pre class="whitespace-pre-wrap break-all">{}</pre>', text) if text else "–"
