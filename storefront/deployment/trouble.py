"""What fails in a shop, for its operator: webhooks, deliveries, mails. Hosts instead of addresses, which can contain
secrets, and no receiver of a mail."""

from datetime import datetime
from urllib.parse import urlsplit

from django.utils.html import format_html_join
from django.utils.safestring import mark_safe
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from storefront.deployment.counting import dead_deliveries, failed_mails, failing_webhooks
from storefront.kit.format import format_time
from storefront.shops.models import Shop
from storefront.staff.admin_parts import table

# Rows of each table. The shop's own pages have the others.
MAX_ROWS = 20
NOTHING = _lazy("Nothing.")


def webhooks_table(shop: Shop) -> str:
    rows = failing_webhooks([shop.pk]).select_related("installation__app").order_by("-failing_since", "pk")
    shown = [
        (
            _lines(row.installation.app, row.topic, urlsplit(row.address).hostname),
            _("failing since %(failing_since)s") % {"failing_since": _time(row.failing_since)}
            if row.is_active
            else f"paused {_time(row.paused_at)}",
        )
        for row in rows[:MAX_ROWS]
    ]
    return table(shown, (_("Webhook"), _("State"))) if shown else str(NOTHING)


def deliveries_table(shop: Shop, now: datetime) -> str:
    rows = dead_deliveries([shop.pk], now=now).select_related("installation__app").prefetch_related("attempts")
    shown = []
    for row in rows.defer("sealed_message").order_by("-ended_at", "-pk")[:MAX_ROWS]:
        last = max(row.attempts.all(), key=lambda attempt: attempt.number, default=None)
        reason = str(last.status or last.error) if last else "–"
        what = _lines(row.installation.app, row.topic, urlsplit(row.address).hostname)
        shown.append((_time(row.ended_at), what, reason))
    return table(shown, (_("Given up"), _("Delivery"), _("Last answer"))) if shown else str(NOTHING)


def mails_table(shop: Shop, now: datetime) -> str:
    rows = failed_mails([shop.pk], now=now).order_by("-failed_at").values_list("failed_at", "kind")
    shown = [(_time(at), kind.replace("_", " ")) for at, kind in rows[:MAX_ROWS]]
    return table(shown, (_("Given up"), _("Kind"))) if shown else str(NOTHING)


def _lines(*texts: object) -> str:
    return format_html_join(mark_safe("<br>"), "{}", ((text,) for text in texts if text))


def _time(moment: datetime | None) -> str:
    return format_time(moment, "UTC")
