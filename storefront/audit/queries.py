"""Reads the audit log for the App API, and deletes entries whose time is over."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django.db import connection

from storefront.kit.clock import timestamp
from storefront.kit.time_partitions import ByTime
from storefront.pods.moves import NOT_MOVING
from storefront.shops.audit_models import AuditEntry
from storefront.shops.models import Shop
from storefront.shops.request import Caller

ENTRIES = ByTime("shops_auditentry", "at", "month")
# Younger partitions are not looked at: most entries are kept for much longer.
MIN_ENTRY_AGE = timedelta(days=62)
# By object type: the scope that a caller needs to see an entry's details. Types that are not listed need none.
NEEDS = {
    "product": "read_products",
    "category": "read_products",
    "import": "read_products",
    "order": "read_orders",
    "customer": "read_customers",
}
# Entries about webhooks, extensions and scripts contain hosts and URLs of the app, so only that app sees their details.
OF_ITS_APP = ("webhook", "extension", "script_tag", "script_host", "blocked_script")
ANOTHER_APP = "another_app"
# Invitations contain e-mail addresses of people, so no app sees their details.
OF_STAFF = ("invitation",)
STAFF = "staff"
# Values that no program gets, whatever its scopes.
_OF_THE_SHOP_ALONE = {"variant_costs"}


# Lookups of the filters by name.
FILTERS = {
    **{name: name for name in ("action", "object_type", "object_id", "actor_kind")},
    "since": "at__gte",
    "until": "at__lt",
}


def audit_page(
    shop: Shop, filters: Mapping[str, Any], *, caller: Caller, start: int, count: int
) -> tuple[list[dict[str, Any]], int]:
    """`count` entries from position `start` on, newest first, as this caller may read them, and the total number.
    `filters` are values by names of FILTERS; None means no filter."""
    wanted = {FILTERS[name]: value for name, value in filters.items() if value is not None}
    found = AuditEntry.objects.filter(shop=shop, **wanted)
    # Two queries, so that rows before a deep page are skipped in the index, and only the page's own rows are read.
    ids = list(found.order_by("-at", "-id").values_list("pk", flat=True)[start : start + count])
    rows = AuditEntry.objects.filter(shop=shop, pk__in=ids).order_by("-at", "-id")
    return [entry_record(row, caller) for row in rows], found.count()


def entry_record(entry: AuditEntry, caller: Caller) -> dict[str, Any]:
    """The entry as JSON for this caller, with details that it may not read withheld."""
    withheld_for = _withheld_for(entry, caller)
    withheld = withheld_for is not None
    return {
        "id": entry.pk,
        "at": timestamp(entry.at),
        "actor": {"kind": entry.actor_kind, "id": entry.actor_id, "name": entry.actor_name or None},
        "place": entry.place or None,
        "action": entry.action,
        "object": {
            "type": entry.object_type or None,
            "id": entry.object_id,
            "name": None if withheld else entry.object_name or None,
        },
        "before": None if withheld else _public_values(entry.before),
        "after": None if withheld else _public_values(entry.after),
        "withheld_for": withheld_for,
        "erased_at": timestamp(entry.erased_at),
        "request_id": entry.request_id or None,
    }


def _withheld_for(entry: AuditEntry, caller: Caller) -> str | None:
    """The reason why the caller may not read the details: the scope it lacks, `ANOTHER_APP` or `STAFF`; None if it
    may."""
    if entry.object_type in OF_STAFF:
        return STAFF
    if entry.object_type in OF_ITS_APP:
        is_own = entry.actor_kind == AuditEntry.Kind.APP and entry.actor_id == caller.installation_id
        return None if is_own else ANOTHER_APP
    needed = NEEDS.get(entry.object_type)
    return needed if needed is not None and needed not in caller.scopes else None


def delete_old_entries(*, now: datetime, limit: int) -> int:
    """Delete at most `limit` entries whose last day has passed, and partitions with only such entries; returns the
    number."""

    def keeps(cursor: Any, partition: str) -> bool:
        # By the database's clock, too, as its trigger allows to delete a row.
        today = "least(%s, (now() AT TIME ZONE 'UTC')::date)"
        cursor.execute(f"SELECT EXISTS (SELECT 1 FROM {partition} WHERE keep_until >= {today})", [now.date()])  # noqa: S608
        return bool(cursor.fetchone()[0])

    dropped = ENTRIES.drop_ended(now=now, age=MIN_ENTRY_AGE, keeps=keeps)
    over: list[int] = []
    for table in ENTRIES.undivided():
        with connection.cursor() as cursor:
            cursor.execute(
                f"SELECT id FROM {table} WHERE keep_until < %s ORDER BY keep_until, id LIMIT %s",  # noqa: S608
                [connection.ops.adapt_datefield_value(now.date()), limit],
            )
            over += [pk for (pk,) in cursor.fetchall()]
    return dropped + AuditEntry.objects.filter(NOT_MOVING, pk__in=over[:limit]).delete()[0]


def _public_values(values: dict[str, Any] | None) -> dict[str, Any] | None:
    if values is None:
        return None
    return {name: value for name, value in values.items() if name not in _OF_THE_SHOP_ALONE}
