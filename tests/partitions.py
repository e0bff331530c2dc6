"""Divided tables of which the past, too, is in partitions, as in a database that is some months old."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from django.db import connection

from storefront.kit import clock
from storefront.kit.time_partitions import ByTime


def run(*statements: str) -> None:
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


@contextmanager
def made_since(divided: ByTime, days: int) -> Iterator[None]:
    """Partitions of the time since so many days ago, until the block ends. The table must be empty before and after."""
    before, now = divided.partitions()[0], clock.now()
    begin, name = divided.start(now - timedelta(days=days)), f"{divided.table}_before"
    _attach(divided, name, f"{begin:%Y-%m-%d}+00")
    try:
        for day in range(days, 0, -7):
            divided.add_missing(now=now - timedelta(days=day))
        yield
    finally:
        for each in divided.partitions():
            if each.begin and before.end and each.begin < before.end:
                run(f"DROP TABLE {each.name}")
        if name not in [each.name for each in divided.partitions()]:
            run(
                f"CREATE TABLE {name} (LIKE {divided.default} INCLUDING ALL)",
                f"ALTER TABLE {divided.table} ATTACH PARTITION {name} FOR VALUES FROM (MINVALUE) TO ('1970-01-01+00')",
            )
        _attach(divided, name, f"{before.end:%Y-%m-%d}+00")


def _attach(divided: ByTime, name: str, end: str) -> None:
    run(
        f"ALTER TABLE {divided.table} DETACH PARTITION {name}",
        f"ALTER TABLE {divided.table} ATTACH PARTITION {name} FOR VALUES FROM (MINVALUE) TO ('{end}')",
    )
