"""Sessions of shoppers, who go on with their baskets and checkouts after the move.

A session may name several shops and has no column for one, so each is read. It is copied if it names the shop, and
stays at the source, since it may name others. The gate does not stop sessions; they are copied before the stop, and
what changed since is copied in the stop.
"""

from typing import Any

from django.contrib.sessions.backends.db import SessionStore

from storefront.server.moving.sides import Side

_ALIVE = "FROM django_session WHERE expire_date > now()"
_STORE = """
    INSERT INTO django_session (session_key, session_data, expire_date) VALUES (%s, %s, %s)
    ON CONFLICT (session_key) DO UPDATE SET session_data = excluded.session_data, expire_date = excluded.expire_date
"""


class Sessions:
    """Copies the sessions that name one shop; `copy` may run again, and then copies what has changed."""

    def __init__(self, source: Side, target: Side, shop: int) -> None:
        self.source, self.target, self.shop = source, target, str(shop)
        self.seen: dict[str, str] = {}

    def copy(self) -> int:
        """Returns how many sessions were copied."""
        digests = dict(self.source.rows(f"SELECT session_key, md5(session_data) {_ALIVE}"))
        changed = [key for key, digest in digests.items() if self.seen.get(key) != digest]
        rows = self.source.rows(
            f"SELECT session_key, session_data, expire_date {_ALIVE} AND session_key = ANY(%s)",
            [changed],
        )
        wanted = [row for row in rows if self._names_shop(row[1])]
        there = {
            key: (data, expires)
            for key, data, expires in self.target.rows(
                "SELECT session_key, session_data, expire_date FROM django_session WHERE session_key = ANY(%s)",
                [[key for key, *_ in wanted]],
            )
        }
        wanted = [self._merged(row, *there[row[0]]) if row[0] in there else row for row in wanted]
        with self.target.connection.cursor() as cursor:
            cursor.executemany(_STORE, wanted)
        self.seen = digests
        return len(wanted)

    def _merged(self, row: tuple[Any, ...], present: str, until: Any) -> tuple[Any, ...]:
        """The session as the target, which has it since another shop moved, is to have it. For other shops it can be
        newer there, so it gets nothing but what this shop has stored."""
        key, data, expires = row
        ours, theirs = SessionStore().decode(data), SessionStore().decode(present)
        for name, entry in {**ours, **theirs}.items():
            if isinstance(entry, dict):
                here, there = ({**each.get(name, {})} for each in (ours, theirs))
                there.pop(self.shop, None)
                theirs[name] = there | ({self.shop: here[self.shop]} if self.shop in here else {})
            else:
                theirs.setdefault(name, entry)
        return key, SessionStore().encode(theirs), max(expires, until)

    def _names_shop(self, data: str) -> bool:
        content: dict[str, Any] = SessionStore().decode(data)
        return any(isinstance(entry, dict) and self.shop in entry for entry in content.values())
