"""Sessions of the admin: one row for each browser in which somebody is signed in. The person can list and end them.

Django's session is not enough: a request without a row is asked to sign in. A row ends after two weeks at the latest,
after a day without use, with a new password, and when the person or an owner of the shop ends it.
"""

from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db.models import Q, QuerySet
from django.http import HttpRequest

from storefront.kit import tokens
from storefront.shops.models import StaffSession, User

SEEN_EVERY = timedelta(minutes=5)
IDLE_AFTER = timedelta(days=1)
REMEMBERED = "_staff_session"


def begin_session(
    *, session: Any, user: User, place: str, browser: str, has_second_factor: bool, now: datetime
) -> StaffSession:
    """Create the row of a session in which `user` has just signed in. It counts as confirmed."""
    return StaffSession.objects.create(
        user=user,
        digest=tokens.digest(session.session_key),
        has_second_factor=has_second_factor,
        place=place,
        browser=browser[:300],
        created_at=now,
        seen_at=now,
        confirmed_at=now,
        ends_at=now + timedelta(seconds=settings.SESSION_COOKIE_AGE),
    )


def staff_session_of(request: Any) -> StaffSession | None:
    """The row of the request's session, read once per request; None if nobody is signed in or the session has ended."""
    if not hasattr(request, REMEMBERED):
        setattr(request, REMEMBERED, _read(request))
    return getattr(request, REMEMBERED)


def confirm(row: StaffSession, *, now: datetime, has_second_factor: bool = False) -> None:
    """Record that the person has just confirmed their identity in this session."""
    row.confirmed_at, row.has_second_factor = now, row.has_second_factor or has_second_factor
    changed = {"confirmed_at": row.confirmed_at, "has_second_factor": row.has_second_factor}
    # Changes nothing if the session was ended at this moment.
    StaffSession.objects.filter(pk=row.pk).update(**changed)


def update_session_key(request: HttpRequest, row: StaffSession) -> None:
    """Store the session's new key in the row."""
    row.digest = tokens.digest(request.session.session_key or "")
    StaffSession.objects.filter(pk=row.pk).update(digest=row.digest)


def sessions_of(user: User, *, now: datetime) -> QuerySet[StaffSession]:
    return _live(now).filter(user=user).order_by("-seen_at", "-pk")


def end_sessions(user: User, *, session_id: int | None = None, but: StaffSession | None = None) -> int:
    """Sign the person out of one session by id, or of all except `but`; returns the number of ended sessions."""
    rows = StaffSession.objects.filter(user=user)
    if session_id is not None:
        rows = rows.filter(pk=session_id)
    if but is not None:
        rows = rows.exclude(pk=but.pk)
    return rows.delete()[0]


def delete_ended_sessions(*, now: datetime, limit: int) -> int:
    over = StaffSession.objects.filter(Q(ends_at__lt=now) | Q(seen_at__lt=now - IDLE_AFTER))
    return StaffSession.objects.filter(pk__in=list(over.values_list("pk", flat=True)[:limit])).delete()[0]


def _live(now: datetime) -> QuerySet[StaffSession]:
    return StaffSession.objects.filter(ends_at__gt=now, seen_at__gt=now - IDLE_AFTER)


def _read(request: Any) -> StaffSession | None:
    key = request.session.session_key
    if not key or not request.user.is_authenticated:
        return None
    row = _live(request.now).filter(digest=tokens.digest(key), user=request.user).first()
    if row and row.seen_at + SEEN_EVERY <= request.now:
        row.seen_at = request.now
        StaffSession.objects.filter(pk=row.pk).update(seen_at=row.seen_at)
    return row
