"""What browsers tell of scripts that the shop's Content-Security-Policy kept from running.

Anybody can send such a report, so nothing in one is believed: it must be about a page of the shop and a script of some
host, one row counts all that say the same, and of a shop at most so many are kept, those that were told of last.
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

# The two forms in which browsers report: one violation by `report-uri`, a list of them by `report-to`.
ONE, MANY = "application/csp-report", "application/reports+json"
# The largest body that is read, in bytes, and how many of a list are looked at.
LARGEST, MOST_IN_A_LIST = 16 * 1024, 20
# Rows of a shop.
MOST_KEPT = 100
# What the merchant can allow. `-elem` and `-attr` are parts of one, for which nothing else stands in our policy.
DIRECTIVES = {"script-src", "style-src", "connect-src"}
LONGEST = 300


class Unreadable(ValueError):
    """The body is no report."""


@dataclass(frozen=True)
class Violation:
    """What was blocked, by which directive, on which page; both addresses without their query."""

    source: str
    directive: str
    page: str


def read_reports(media_type: str, body: bytes, *, host: str) -> list[Violation]:
    """What a body tells of pages of this host that a merchant could do something about, each once.

    Raises Unreadable.
    """
    try:
        told: Any = orjson.loads(body)
    except orjson.JSONDecodeError:
        raise Unreadable from None
    found = (_violation(members, host) for members in _members(media_type, told))
    return list(dict.fromkeys(violation for violation in found if violation))


def _members(media_type: str, told: Any) -> Iterator[dict[str, Any]]:
    """The members of each violation under the names of `report-to`."""
    if media_type == ONE and isinstance(told, dict) and isinstance(told.get("csp-report"), dict):
        one = told["csp-report"]
        directive = one.get("effective-directive") or one.get("violated-directive")
        page, blocked = one.get("document-uri"), one.get("blocked-uri")
        yield {"documentURL": page, "blockedURL": blocked, "effectiveDirective": directive}
    elif media_type == MANY and isinstance(told, list):
        for report in told[:MOST_IN_A_LIST]:
            if isinstance(report, dict) and report.get("type") == "csp-violation":
                yield report["body"] if isinstance(report.get("body"), dict) else {}
    else:
        raise Unreadable


def _violation(members: dict[str, Any], host: str) -> Violation | None:
    blocked, page = _text(members.get("blockedURL")), _text(members.get("documentURL"))
    directive = _text(members.get("effectiveDirective")).partition(" ")[0].removesuffix("-elem").removesuffix("-attr")
    try:
        # Anything else was inline or of the browser's own, for which there is no host to allow.
        if urlsplit(blocked).scheme not in ("http", "https") or not is_script_host(script_host(blocked)):
            return None
        is_ours = urlsplit(page).scheme in ("http", "https") and urlsplit(page).netloc.lower() == host.lower()
    except ValueError:
        return None
    if directive not in DIRECTIVES or not is_ours:
        return None
    return Violation(without_query(blocked), directive, urlsplit(page).path[:LONGEST] or "/")


def _text(value: Any) -> str:
    """The value where it is text that a database could keep, else none."""
    return value if isinstance(value, str) and value.isprintable() else ""


def without_query(url: str) -> str:
    """The address as a report keeps it."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{script_host(url)}{parts.path}"[:LONGEST]


def record_violations(*, shop: Shop, violations: list[Violation], now: datetime) -> None:
    """Count each where it was counted before, or begin to."""
    for violation in violations:
        if not _count(shop, violation, now):
            _begin(shop, violation, now)


def _count(shop: Shop, violation: Violation, now: datetime) -> bool:
    rows = BlockedScript.objects.filter(shop=shop, source=violation.source, directive=violation.directive)
    return bool(rows.update(times=F("times") + 1, page=violation.page, last_at=now))


@transaction.atomic
def _begin(shop: Shop, violation: Violation, now: datetime) -> None:
    # One at a time, so that neither a row nor its count is lost, and there are never more than so many.
    Shop.objects.select_for_update(no_key=True).filter(pk=shop.pk).values_list("pk").first()
    if _count(shop, violation, now):
        return
    kept = BlockedScript.objects.filter(shop=shop).order_by("-last_at", "-pk").values_list("pk", flat=True)
    BlockedScript.objects.filter(shop=shop, pk__in=list(kept[MOST_KEPT - 1 :])).delete()
    given = {"source": violation.source, "directive": violation.directive, "page": violation.page}
    BlockedScript.objects.create(shop=shop, first_at=now, last_at=now, **given)
