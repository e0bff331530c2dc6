"""How a web process learns of other processes' changes on PostgreSQL."""

import secrets
import selectors
import time
from typing import TYPE_CHECKING

import psycopg
from django.conf import settings
from django.db import connections

from storefront.kit.direct import direct_copy
from storefront.shops import announcing, changes

if TYPE_CHECKING:
    from storefront.server.edge.listening import Listener

# Seconds between two notifications that the process sends to itself, and in which each must arrive.
BEAT_SECONDS, BEAT_DEADLINE_SECONDS = 10.0, 5.0
# The connection's name in pg_stat_activity.
NAME = "storefront listener"


class Unheard(OSError):
    """Notifications do not arrive."""

    def __init__(self) -> None:
        super().__init__(f"no notification arrived within {BEAT_DEADLINE_SECONDS:.0f} s. {_advice()}")


def _advice() -> str:
    if settings.DATABASE_DIRECT is None:
        return "Behind a PgBouncer that pools transactions, set STOREFRONT_PGBOUNCER and DATABASE_DIRECT_URL."
    return "DATABASE_DIRECT_URL must lead to PostgreSQL itself, and not to PgBouncer."


class Source:
    """A connection that LISTENs. From time to time it must hear a notification of its own process, or it reports that
    it hears nothing."""

    errors = (psycopg.Error,)

    def __init__(self) -> None:
        self.parameters = direct_copy(connections["default"]).get_connection_params()
        self.own_channel = f"storefront_listener_{secrets.token_hex(8)}"

    def listen(self, listener: "Listener") -> None:
        """Record changes until the listener is stopped or an error occurs."""
        # Without keepalives, a connection that the server lost without closing it would stay silent for ever.
        alive = {"application_name": NAME, "keepalives_idle": 5, "keepalives_interval": 2, "keepalives_count": 2}
        with psycopg.connect(**self.parameters | alive, autocommit=True) as connection:
            for channel in (announcing.CHANNEL, self.own_channel):
                connection.execute(f"LISTEN {channel}")
            with selectors.DefaultSelector() as selector:
                selector.register(connection, selectors.EVENT_READ)
                selector.register(listener.stop_receiver, selectors.EVENT_READ)
                # A notification that this process sends to itself shows that others' would arrive.
                is_heard, due = True, time.monotonic()
                while not listener.stopped.is_set():
                    if selector.select(max(0.0, due - time.monotonic())):
                        connection.pgconn.consume_input()
                        listener.heard_at = time.time()
                    if self._record_notifications(connection):
                        is_heard, due = True, time.monotonic() + BEAT_SECONDS
                        if not listener.connected.is_set():
                            listener.on_connected()
                    if time.monotonic() >= due:
                        if not is_heard:
                            raise Unheard
                        announcing.notify(self.own_channel)
                        is_heard, due = False, time.monotonic() + BEAT_DEADLINE_SECONDS

    def _record_notifications(self, connection: psycopg.Connection) -> bool:
        """Record the changes that have arrived. Returns True if the process's own notification is among them."""
        is_heard = False
        while notification := connection.pgconn.notifies():
            if notification.relname == self.own_channel.encode():
                is_heard = True
            # This process recorded its own changes when they were committed.
            elif not announcing.is_own(notification.be_pid):
                changes.record_change(int(notification.extra))
        return is_heard
