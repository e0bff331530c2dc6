"""What fails in a shop, for its operator: webhooks, deliveries, mails. Hosts instead of addresses, which can contain
secrets, and no receiver of a mail."""

from datetime import datetime
from urllib.parse import urlsplit

from storefront.deployment.counting import dead_deliveries, failed_mails, failing_webhooks
from storefront.kit.format import format_time
from storefront.shops.models import Shop
from storefront.staff.admin_parts import table

# Rows of each table. The shop's own pages have the others.
MAX_ROWS = 20
NOTHING = "Nothing."


def webhooks_table(shop: Shop) -> str:
    rows = failing_webhooks([shop.pk]).select_related("installation__app").order_by("-failing_since", "pk")
    shown = [
        (
            str(row.installation.app),
            row.topic,
            urlsplit(row.address).hostname or "",
            f"failing since {_time(row.failing_since)}" if row.is_active else f"paused {_time(row.paused_at)}",
        )
        for row in rows[:MAX_ROWS]
    ]
    return table(shown, ("App", "Topic", "Host", "State")) if shown else NOTHING


def deliveries_table(shop: Shop, now: datetime) -> str:
    rows = dead_deliveries([shop.pk], now=now).select_related("installation__app").prefetch_related("attempts")
    shown = []
    for row in rows.defer("sealed_message").order_by("-ended_at", "-pk")[:MAX_ROWS]:
        last = max(row.attempts.all(), key=lambda attempt: attempt.number, default=None)
        reason = str(last.status or last.error) if last else "–"
        host = urlsplit(row.address).hostname or ""
        shown.append((_time(row.ended_at), str(row.installation.app), row.topic, host, reason))
    return table(shown, ("Given up", "App", "Topic", "Host", "Last answer")) if shown else NOTHING


def mails_table(shop: Shop, now: datetime) -> str:
    rows = failed_mails([shop.pk], now=now).order_by("-failed_at").values_list("failed_at", "kind")
    shown = [(_time(at), kind.replace("_", " ")) for at, kind in rows[:MAX_ROWS]]
    return table(shown, ("Given up", "Kind")) if shown else NOTHING


def _time(moment: datetime | None) -> str:
    return format_time(moment, "UTC")
