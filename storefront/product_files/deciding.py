"""Uploads that update existing products wait for a person: the worker compares the file with the shop, stores what it
would change, and imports it once somebody has looked at that and confirmed it.

Only one decision counts: each is a conditional UPDATE of the row that waits, so of two at once the second is refused.
The confirmed import compares again. If more rules trip by then than were accepted, it asks again.
"""

from collections.abc import Collection
from datetime import datetime, timedelta

from django.db import transaction
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _lazy

from storefront import audit
from storefront.kit.refusals import Refusal
from storefront.pods.moves import NOT_MOVING
from storefront.product_files import jobs
from storefront.product_files.models import ProductImport
from storefront.product_files.reports import COUNTS
from storefront.shops.models import Shop
from storefront.shops.task_quota import check_tasks

# How long an import waits for a decision, and how many of a shop can, since their files are kept.
UNDECIDED = timedelta(days=3)
MAX_ASKING = 10
EXPIRED = format_lazy(
    _lazy("Nobody confirmed this import within {days} days. Nothing was imported, and the file was deleted."),
    days=UNDECIDED.days,
)
State = ProductImport.State


class AlreadyDecided(Refusal):
    code = "already_decided"
    message = _lazy("Somebody has decided about this import already.")


class NotAccepted(Refusal):
    code = "not_accepted"
    message = _lazy("Nothing was imported. Tick each of the changes that you mean, or do not import the file.")


class TooManyAsking(Refusal):
    code = "too_many_asking"
    message = format_lazy(
        _lazy("{count} imports wait for a decision. Decide about one of them first."), count=MAX_ASKING
    )


def check_asking(shop: Shop) -> None:
    """Raises TooManyAsking if the shop has as many undecided imports as it can."""
    if ProductImport.objects.filter(shop=shop, state=State.ASKING).count() >= MAX_ASKING:
        raise TooManyAsking


def shown_rules(row: ProductImport) -> dict[str, list[str]]:
    """Return the rules that the comparison tripped, each with its sentences."""
    found: dict[str, list[str]] = {}
    for trip in (row.impact or {}).get("trips", ()):
        found.setdefault(trip["rule"], []).append(trip["sentence"])
    return found


@transaction.atomic
def confirm_import(*, shop: Shop, row: ProductImport, accepted: Collection[str], now: datetime) -> None:
    """Import the file that waits. `accepted` are the rules that the person has ticked, which have to be all that were
    shown. Raises NotAccepted, AlreadyDecided and QuotaReached."""
    rules = sorted(shown_rules(row))
    if not set(rules) <= set(accepted):
        raise NotAccepted
    check_tasks(shop=shop)
    counts = dict.fromkeys(COUNTS, 0)
    _leave_asking(shop, row, state=State.WAITING, accepted=rules, reason="", percent=0, problems=[], **counts)
    _record(shop, row, "import.confirmed", {"accepted": rules}, now)
    jobs.run_product_import.enqueue(shop.pk, row.pk, audit.current_place())


@transaction.atomic
def decline_import(*, shop: Shop, row: ProductImport, reason: str = "", now: datetime) -> None:
    """Do not import the file that waits, and delete it. Raises AlreadyDecided."""
    _leave_asking(shop, row, state=State.DECLINED, reason=reason)
    jobs.end_import(row)
    _record(shop, row, "import.declined", {}, now)


def decline_undecided(*, now: datetime, limit: int) -> int:
    """Close imports that nobody decided about in time; returns how many."""
    waiting = ProductImport.objects.filter(NOT_MOVING, state=State.ASKING, heartbeat_at__lt=now - UNDECIDED)
    closed = 0
    for row in waiting.select_related("shop").order_by("id")[:limit]:
        try:
            decline_import(shop=row.shop, row=row, reason=str(EXPIRED), now=now)
        except AlreadyDecided:
            continue
        closed += 1
    return closed


def _leave_asking(shop: Shop, row: ProductImport, **columns: object) -> None:
    asking = ProductImport.objects.filter(shop=shop, pk=row.pk, state=State.ASKING)
    if not asking.update(**columns):
        raise AlreadyDecided


def _record(shop: Shop, row: ProductImport, action: str, after: dict[str, object], now: datetime) -> None:
    about = audit.Object("import", row.pk, row.file_name)
    audit.record(shop=shop, action=action, object=about, after=after or None, now=now)
