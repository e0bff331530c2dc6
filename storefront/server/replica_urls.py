"""Reads DATABASE_REPLICA_URLS: the replicas of the PostgreSQL server that take part in reading."""

import re
from typing import Any

from storefront.server.environment import pgbouncer, postgresql, refuse, text, unpooled_postgresql
from storefront.server.waits import READ_ONLY, bounded

NAME = "DATABASE_REPLICA_URLS"
# A URL itself can have commas, between its hosts.
_BETWEEN = re.compile(r"\s*,\s*(?=postgres(?:ql)?://)|\s+")
# Seconds, and milliseconds, after which a replica is given up and the primary asked instead. libpq knows no less.
CONNECT_SECONDS, UNCONFIRMED_MILLISECONDS = 2, 2000


def replicas(primary: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Django's settings for each replica, by alias. Their sessions refuse to write, also after a promotion."""
    urls = [url for url in _BETWEEN.split(text(NAME)) if url]
    if not urls:
        return {}
    if primary["ENGINE"].endswith("sqlite3"):
        refuse(NAME, "nothing, since DATABASE_URL is not a PostgreSQL database's: SQLite has no replicas", secret=True)
    found = {f"replica{number}": _replica(url) for number, url in enumerate(urls, 1)}
    places = [_place(each) for each in (primary, *found.values())]
    if len(set(places)) < len(places):
        refuse(NAME, "URLs of other servers than that of DATABASE_URL, each once", secret=True)
    return found


def _replica(url: str) -> dict[str, Any]:
    deadlines = {"connect_timeout": CONNECT_SECONDS, "tcp_user_timeout": UNCONFIRMED_MILLISECONDS}
    if pgbouncer():
        pooled = postgresql(NAME, deadlines | {"prepare_threshold": None, "options": ""}, url=url)
        return pooled | {"DISABLE_SERVER_SIDE_CURSORS": True, "TEST": {"MIRROR": "default"}}
    found = unpooled_postgresql(NAME, deadlines, url=url)
    found["OPTIONS"] = bounded(found["OPTIONS"], **{READ_ONLY: "on"})
    return found | {"TEST": {"MIRROR": "default"}}


def _place(database: dict[str, Any]) -> tuple[str, ...]:
    return database["HOST"], database["PORT"] or "5432", database["NAME"]
