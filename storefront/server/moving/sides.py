"""The two pods of a move, each with a connection that commits each statement on its own."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import psycopg

from storefront.pods.deployment import Pod
from storefront.server.command import Failed

# A statement of a move that takes longer is ended; comparing a large shop is the longest.
MAX_STATEMENT_SECONDS = 60
_OPTIONS = (
    f"-c statement_timeout={MAX_STATEMENT_SECONDS}s -c lock_timeout=2s -c timezone=UTC -c datestyle=ISO"
    " -c synchronous_commit=on -c idle_in_transaction_session_timeout=60s"
)


@dataclass(frozen=True)
class Side:
    """One pod of the move."""

    pod: Pod
    connection: psycopg.Connection[Any]

    @property
    def number(self) -> int:
        return self.pod.number

    def run(self, statement: Any, parameters: Sequence[Any] | Mapping[str, Any] | None = None) -> int:
        """Execute the statement. Returns the number of its rows."""
        return self.connection.execute(statement, parameters).rowcount

    def rows(self, statement: Any, parameters: Sequence[Any] | None = None) -> list[tuple[Any, ...]]:
        return self.connection.execute(statement, parameters).fetchall()

    def value(self, statement: Any, parameters: Sequence[Any] | None = None) -> Any:
        """The first column of the first row; None without rows."""
        return next((row[0] for row in self.rows(statement, parameters)), None)


@contextmanager
def opened(pod: Pod) -> Iterator[Side]:
    """The pod's database. Raises Failed if it does not answer, or is another pod's."""
    try:
        connection = connect(pod)
    except psycopg.Error as error:
        raise Failed(f"Pod {pod.number} does not answer: {' '.join(str(error).split())}") from None
    with connection:
        side = Side(pod, connection)
        stored = side.value("SELECT number FROM pods_ownpod") or 0
        if stored != pod.number:
            raise Failed(f"The database of pod {pod.number} is that of pod {stored}.")
        yield side


def connect(pod: Pod, options: str = "") -> psycopg.Connection[Any]:
    return psycopg.connect(
        pod.database,
        connect_timeout=5,
        autocommit=True,
        options=f"{_OPTIONS} {options}",
        application_name="storefront moveshop",
        keepalives_idle=2,
        keepalives_interval=1,
        keepalives_count=2,
    )
