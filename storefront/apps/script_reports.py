"""Browsers' reports of scripts that the shop's Content-Security-Policy blocked.

Anybody can send such a report, so none is trusted: it must be about a page of the shop and a script of some host, one
row counts all equal reports, and only the MAX_SOURCES latest rows of a shop are stored.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

import orjson
from django.db import transaction
from django.db.models import F

from storefront.apps.models import BlockedScript
from storefront.apps.rules import is_script_host, script_host
from storefront.shops.models import Shop

# The two media types of reports: one violation (`report-uri`) and a list of violations (`report-to`).
ONE, MANY = "application/csp-report", "application/reports+json"
# Bytes of a body, and reports of a list, that are read.
MAX_REPORT_BYTES, MAX_LISTED = 16 * 1024, 20
# Stored reports of a shop.
MAX_SOURCES = 100
# The directives for which the merchant can allow a host. `-elem` and `-attr` directives count as theirs, since our
# policy does not set them.
DIRECTIVES = {"script-src", "style-src", "connect-src"}
MAX_SOURCE_LENGTH = 300


class Unreadable(ValueError):
    """The body is not a report."""


@dataclass(frozen=True)
class Violation:
    """A blocked source, the directive and the page; both URLs without their query."""

    source: str
    directive: str
    page: str


def read_reports(media_type: str, body: bytes, *, host: str) -> list[Violation]:
    """The violations that a report's body contains, without duplicates: only those on pages of this host whose
    source the merchant could allow.

    Raises Unreadable.
    """
    try:
        report: Any = orjson.loads(body)
    except orjson.JSONDecodeError:
        raise Unreadable from None
    found = (_violation(members, host) for members in _members(media_type, report))
    return list(dict.fromkeys(violation for violation in found if violation))


def _members(media_type: str, report: Any) -> Iterator[dict[str, Any]]:
    """The members of each violation, with the names of `report-to`. Raises Unreadable."""
    if media_type == ONE and isinstance(report, dict) and isinstance(report.get("csp-report"), dict):
        one = report["csp-report"]
        directive = one.get("effective-directive") or one.get("violated-directive")
        page, blocked = one.get("document-uri"), one.get("blocked-uri")
        yield {"documentURL": page, "blockedURL": blocked, "effectiveDirective": directive}
    elif media_type == MANY and isinstance(report, list):
        for each in report[:MAX_LISTED]:
            if isinstance(each, dict) and each.get("type") == "csp-violation":
                yield each["body"] if isinstance(each.get("body"), dict) else {}
    else:
        raise Unreadable


def _violation(members: dict[str, Any], host: str) -> Violation | None:
    blocked, page = _text(members.get("blockedURL")), _text(members.get("documentURL"))
    directive = _text(members.get("effectiveDirective")).partition(" ")[0].removesuffix("-elem").removesuffix("-attr")
    try:
        # Other sources are inline or built into the browser, and have no host to allow.
        if urlsplit(blocked).scheme not in ("http", "https") or not is_script_host(script_host(blocked)):
            return None
        is_ours = urlsplit(page).scheme in ("http", "https") and urlsplit(page).netloc.lower() == host.lower()
    except ValueError:
        return None
    if directive not in DIRECTIVES or not is_ours:
        return None
    return Violation(without_query(blocked), directive, urlsplit(page).path[:MAX_SOURCE_LENGTH] or "/")


def _text(value: Any) -> str:
    """The value if it is printable text, or else an empty one. Databases reject some unprintable characters."""
    return value if isinstance(value, str) and value.isprintable() else ""


def without_query(url: str) -> str:
    """The URL without its query, as stored in a report."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{script_host(url)}{parts.path}"[:MAX_SOURCE_LENGTH]


def record_violations(*, shop: Shop, violations: list[Violation], now: datetime) -> None:
    """Increment the counts of reported violations, and create rows for new ones."""
    for violation in violations:
        if not _increment(shop, violation, now):
            _create(shop, violation, now)


def _increment(shop: Shop, violation: Violation, now: datetime) -> bool:
    rows = BlockedScript.objects.filter(shop=shop, source=violation.source, directive=violation.directive)
    return bool(rows.update(times=F("times") + 1, page=violation.page, last_at=now))


@transaction.atomic
def _create(shop: Shop, violation: Violation, now: datetime) -> None:
    # Locks the shop's row, so that concurrent reports lose no count and cannot exceed MAX_SOURCES.
    Shop.objects.select_for_update(no_key=True).filter(pk=shop.pk).values_list("pk").first()
    if _increment(shop, violation, now):
        return
    latest = BlockedScript.objects.filter(shop=shop).order_by("-last_at", "-pk").values_list("pk", flat=True)
    BlockedScript.objects.filter(shop=shop, pk__in=list(latest[MAX_SOURCES - 1 :])).delete()
    values = {"source": violation.source, "directive": violation.directive, "page": violation.page}
    BlockedScript.objects.create(shop=shop, first_at=now, last_at=now, **values)
