from select import POLLIN, poll

from django.db.backends.postgresql import base


class DatabaseWrapper(base.DatabaseWrapper):
    def is_usable(self) -> bool:
        """Whether the connection still works. Django asks this once a request, with a query. But when the server closes
        a connection, its socket becomes readable, so only then a query is sent."""
        if self.connection is not None and not self.connection.closed:
            socket = poll()
            socket.register(self.connection.fileno(), POLLIN)
            if not socket.poll(0):
                return True
        return super().is_usable()
