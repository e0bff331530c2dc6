"""Time is UTC, read once at the edge, and passed in from there."""

from datetime import UTC, datetime


def now() -> datetime:
    """This moment, aware, in UTC."""
    return datetime.now(UTC)


def timestamp(moment: datetime | None) -> str | None:
    """`2026-11-21T07:30:00.000000Z`: the form of times in all records except webhooks (R-CALL-4)."""
    return None if moment is None else moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def offset_timestamp(moment: datetime) -> str:
    """`2026-11-21T07:30:00+00:00`: the form of times in webhook registrations (R-CALL-5)."""
    return moment.astimezone(UTC).isoformat(timespec="seconds")
