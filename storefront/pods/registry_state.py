"""How the registry fares: in pod 0 the slots by which other pods read it, in a pod that reads it its age and errors.

All of it is visible to an ordinary user of PostgreSQL.
"""

from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connection

from storefront.kit.dialect import IS_POSTGRESQL
from storefront.pods.models import RegistryBeat
from storefront.pods.registry import SUBSCRIPTION, TABLES, is_joined

_SLOTS = """
    SELECT slot_name, active, wal_status IS NOT DISTINCT FROM 'lost',
        coalesce(pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn), 0)::bigint
    FROM pg_replication_slots
    WHERE database = current_database() AND starts_with(slot_name, %s) ORDER BY slot_name
"""
_READING = """
    SELECT s.subenabled,
        coalesce((SELECT bool_or(pid IS NOT NULL) FROM pg_stat_subscription WHERE subid = s.oid), false),
        (SELECT apply_error_count + sync_error_count FROM pg_stat_get_subscription_stats(s.oid)),
        (SELECT array_agg(relname) FROM pg_subscription_rel JOIN pg_class c ON c.oid = srrelid WHERE srsubid = s.oid)
    FROM pg_subscription s
    WHERE s.subname = %s AND s.subdbid = (SELECT oid FROM pg_database WHERE datname = current_database())
"""


@dataclass(frozen=True)
class Slot:
    """A slot of pod 0, by which one other pod reads. Until it has, PostgreSQL keeps its log: `kept_bytes`. A lost slot
    lacks a part of it, and cannot be read any more."""

    name: str
    is_read: bool
    is_lost: bool
    kept_bytes: int


@dataclass(frozen=True)
class Reading:
    """`age` is in seconds, of the last beat that has arrived; None before the first. `errors` counts how often rows
    could not be written; PostgreSQL tries again every few seconds. `missing`: tables that are not read."""

    is_on: bool
    is_connected: bool
    errors: int
    missing: list[str]
    age: float | None


def slots() -> list[Slot]:
    """The slots of other pods; empty in a deployment with one database, and in any pod but 0."""
    if not IS_POSTGRESQL or settings.POD:
        return []
    with connection.cursor() as cursor:
        cursor.execute(_SLOTS, [f"{SUBSCRIPTION}_"])
        return [Slot(*row) for row in cursor.fetchall()]


def reading(*, now: datetime) -> Reading | None:
    """How this pod reads the registry; None if it has one of its own."""
    if not is_joined(using=DEFAULT_DB_ALIAS):
        return None
    beaten = RegistryBeat.objects.values_list("at", flat=True).first()
    age = max((now - beaten).total_seconds(), 0.0) if beaten else None
    with connection.cursor() as cursor:
        cursor.execute(_READING, [SUBSCRIPTION])
        found = cursor.fetchone()
    if found is None:
        return Reading(False, False, 0, list(TABLES), age)
    is_on, is_connected, errors, tables = found
    return Reading(is_on, is_connected, errors or 0, sorted({*TABLES} - {*(tables or ())}), age)
