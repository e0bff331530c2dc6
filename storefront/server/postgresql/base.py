from select import POLLIN, poll

from django.db.backends.postgresql import base


class DatabaseWrapper(base.DatabaseWrapper):
    def is_usable(self) -> bool:
        """Asked once a request. Django would send a statement and wait for its answer; but a server that goes away
        closes its end, and that a socket shows by itself. Only one that has something to say is asked."""
        if self.connection is not None and not self.connection.closed:
            socket = poll()
            socket.register(self.connection.fileno(), POLLIN)
            if not socket.poll(0):
                return True
        return super().is_usable()
