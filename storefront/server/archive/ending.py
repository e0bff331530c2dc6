"""Finds out whether a transaction was committed whose connection was lost during the COMMIT.

The server may still be at it when the connection is gone, so a row that is not there yet proves nothing: first the
transaction has to have ended.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.db import DatabaseError, InterfaceError, connection

from storefront.server.archive.dialect import dialect
from storefront.shops.models import Shop

# The longest time for a server that was lost to come back, and to end the transaction.
MAX_UNKNOWN_SECONDS = 60
_PAUSE_SECONDS = 0.25


@dataclass(frozen=True)
class Ending:
    """A transaction that created this shop. `id` is the database's number of it, empty where it has none; `hooks` are
    to be called after its commit."""

    shop: Shop
    id: str
    hooks: tuple[Callable[[], Any], ...]

    @classmethod
    def of_transaction(cls, shop: Shop) -> "Ending":
        """The running transaction."""
        return cls(shop, dialect.transaction_id(), tuple(each[1] for each in connection.run_on_commit))

    def is_committed(self) -> bool | None:
        """Whether the shop is there, asked on a new connection; None if that cannot be found out in
        MAX_UNKNOWN_SECONDS."""
        if connection.in_atomic_block:
            # Only its savepoint was rolled back.
            return False
        deadline = time.monotonic() + MAX_UNKNOWN_SECONDS
        while True:
            try:
                connection.close()
                if dialect.has_ended(self.id):
                    same = Shop.objects.filter(pk=self.shop.pk, domain=self.shop.domain)
                    return same.filter(created_at=self.shop.created_at).exists()
            except (DatabaseError, InterfaceError):
                # Also of a server that took over and does not know the transaction.
                connection.close()
            if time.monotonic() > deadline:
                return None
            time.sleep(_PAUSE_SECONDS)

    def run_hooks(self) -> None:
        """Call the hooks, which Django forgets with the connection."""
        for hook in self.hooks:
            hook()
