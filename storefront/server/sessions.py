"""Sessions that belong to one place of the deployment (`shops/places.py`). The place is part of the session key, so
that a session is not valid at another place, whatever cookie it is sent in."""

import re
from datetime import timedelta
from typing import Any

from django.contrib.sessions.backends.base import UpdateError
from django.contrib.sessions.backends.db import SessionStore as DatabaseStore
from django.contrib.sessions.middleware import SessionMiddleware
from django.http import HttpRequest

from storefront.kit.database_errors import is_unavailable
from storefront.shops.places import ARRIVALS, SINGLE

# Seconds for which a session is valid that contains nothing but a pending handover to another place.
ON_THE_WAY_SECONDS = 3600
# A session that is valid for longer may be kept for an hour more.
MAX_EXACT_SECONDS = 86_400


_KEY = re.compile(r"([a-z]+-)?[a-z0-9]{8,64}")


class SessionStore(DatabaseStore):
    """Without a place, as in the worker and in tests, it reads any session."""

    def __init__(self, session_key: str | None = None, place: str | None = None) -> None:
        self.place = place
        super().__init__(session_key)

    def save(self, must_create: bool = False) -> None:
        """Save the session. Raises UpdateError if it was deleted meanwhile."""
        try:
            super().save(must_create)
        except UpdateError as error:
            # Django raises this for any error of the database, and would answer 400, also if the database is
            # unavailable.
            if (reason := error.__context__) and is_unavailable(reason):
                # With the driver's error, which shows a read-only server.
                raise reason from reason.__cause__
            raise

    def create_model_instance(self, data: Any) -> Any:
        """The row to store. A session of days ends at a full hour, since each new end is written to every index."""
        row = super().create_model_instance(data)
        if self.get_expiry_age() > MAX_EXACT_SECONDS:
            row.expire_date = row.expire_date.replace(minute=0, second=0, microsecond=0) + timedelta(hours=1)
        return row

    def get_session_cookie_age(self) -> int:
        """Seconds. Short for a session with nothing but a pending handover, since every request without a cookie can
        create one."""
        age = super().get_session_cookie_age()
        return min(age, ON_THE_WAY_SECONDS) if set(self.keys()) == {ARRIVALS} else age

    def _get_new_session_key(self) -> str:
        return self._key_prefix + super()._get_new_session_key()  # type: ignore[misc]

    def _validate_session_key(self, key: Any) -> bool:
        # Cookies may contain anything, also characters that a database refuses.
        if not _KEY.fullmatch(key or ""):
            return False
        prefix, mark, _ = key.rpartition("-")
        is_of_place = self.place is None or prefix + mark == self._key_prefix
        return bool(is_of_place and super()._validate_session_key(key))  # type: ignore[misc]

    @property
    def _key_prefix(self) -> str:
        return "" if self.place in (None, SINGLE) else f"{self.place}-"


class PlaceSessions(SessionMiddleware):
    """Django's session middleware, with sessions of the request's place."""

    def process_request(self, request: HttpRequest) -> None:
        super().process_request(request)
        request.session = SessionStore(request.session.session_key, place=request.place)  # type: ignore[attr-defined]
