"""How a web process learns of other processes' changes on SQLite."""

import sqlite3
import time
from contextlib import closing
from typing import TYPE_CHECKING

from django.db import connection as current

from storefront.shops import changes

if TYPE_CHECKING:
    from storefront.server.edge.listening import Listener

# Seconds between two checks of the database.
POLL_SECONDS = 0.05


class Source:
    """A read-only connection that checks 20 times a second whether the file was written to, and only then reads which
    shops changed."""

    errors = (sqlite3.Error,)

    def __init__(self) -> None:
        self.path = str(current.settings_dict["NAME"])

    def listen(self, listener: "Listener") -> None:
        """Record changes until the listener is stopped or an error occurs."""
        with closing(sqlite3.connect(f"file:{self.path}?mode=ro", uri=True, isolation_level=None)) as connection:

            def query(sql: str, *params: int) -> list[tuple[int, ...]]:
                return connection.execute(sql, params).fetchall()

            seen = query("PRAGMA data_version")
            last = query("SELECT coalesce(max(number), 0) FROM shops_change")[0][0]
            listener.on_connected()
            while not listener.stopped.wait(POLL_SECONDS):
                listener.heard_at = time.time()
                if seen != (seen := query("PRAGMA data_version")):
                    for shop_id, number in query("SELECT shop_id, number FROM shops_change WHERE number > ?", last):
                        changes.record_change(shop_id)
                        last = max(last, number)
