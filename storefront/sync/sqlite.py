"""What the log of changes needs of SQLite. One transaction writes at a time, so ids are in the order of commits, and
positions have no transaction."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from storefront.sync.triggers import Watched

XACT, NOW = "0", "strftime('%Y-%m-%d %H:%M:%f', 'now')"
MONTH_AGO = "strftime('%Y-%m-%d %H:%M:%f', 'now', '-31 days')"
# The end of the log, twice: also as the newest that this can ever have been.
HORIZON = ", ".join(2 * ["0, COALESCE((SELECT seq FROM sqlite_sequence WHERE name = 'sync_change'), 0)"])
# Row values would be sought by the first column only.
AFTER = "c.xact = 0 AND c.id > %(id)s"
BETWEEN = f"{AFTER} AND c.id <= %(last_id)s"


def oldest_running() -> tuple[int, float] | None:
    """None: no transaction can hold up a feed, since one at a time writes."""
    return None


def own_transaction() -> int | None:
    """The transaction that this connection is in. None: no other writes meanwhile."""
    return None


def triggers(watched: "Watched", event: str, name: str) -> Sequence[str]:
    """The statements that create the trigger `name`, which logs these writes."""
    row = "OLD" if event == "delete" else "NEW"
    # The row's columns under the alias that the expressions use.
    columns = sorted({"id", "shop_id", *watched.columns()} - {"c.id"})
    row_values = ", ".join(f"{row}.{column} AS {column}" for column in columns)
    return [
        f"CREATE TRIGGER {name} AFTER {event.upper()} ON {watched.table} BEGIN\n"
        f"  {watched.logged(f'(SELECT {row_values}) r')};\nEND"
    ]
