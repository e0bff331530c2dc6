"""Time is UTC, read once at the edge, and passed in from there."""

from datetime import UTC, datetime


def now() -> datetime:
    """This moment, aware, in UTC."""
    return datetime.now(UTC)


def timestamp(moment: datetime | None) -> str | None:
    """`2026-11-21T07:30:00.000000Z`: catalogue, extension and script-tag records (contract: Conventions)."""
    return None if moment is None else moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def offset_timestamp(moment: datetime) -> str:
    """`2026-11-21T07:30:00+00:00`: webhook registrations (contract: Conventions)."""
    return moment.astimezone(UTC).isoformat(timespec="seconds")
