"""Measures what an order costs a PostgreSQL database, and fails if it is more than MAX_COSTS: `make bench` runs it.

    python -m benchmarks.order_cost [--quick] [--write]

An order is placed as `benchmarks.orders` does it, in a new database.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import postgres, report
from benchmarks.prepared import FOLDER, clean_environment, storefront

PAGE = Path("docs/scale.md")
BEGIN, END = "<!-- orders: written by make bench -->", "<!-- end of orders -->"
# Orders that are measured.
FULL, QUICK = 100, 20
# Tables of which every update must be HOT, since their rows change with each sale or request.
HOT_TABLES = (
    "catalogue_product",
    "django_session",
    "orders_ordercounter",
    "shops_idempotentanswer",
    "shops_quotause",
    "webhooks_feed",
)
MAX_SECONDS = 900


@dataclass(frozen=True)
class Cost:
    """A member of `benchmarks.orders`' answer, its text, and the most, or the least, that it may be."""

    member: str
    what: str
    most: float | None = None
    least: float | None = None

    def is_met(self, value: float) -> bool:
        return (self.most is None or value <= self.most) and (self.least is None or value >= self.least)

    @property
    def bound(self) -> str:
        if self.most is not None:
            return f"at most {self.most:,g}"
        return f"at least {self.least:,g}" if self.least is not None else ""


# Somewhat above what was measured, so that one more statement or index entry is no alarm, but ten are.
COSTS = (
    Cost("statements", "statements of an order", most=278),
    Cost("commits", "transactions of an order that write", most=31),
    Cost("wal", "bytes of an order in the write-ahead log", most=52_000),
    Cost("wal_of_indexes", "of these for indexes", most=28_000),
    Cost("shop_locks", "key locks of an order on its shop", most=9),
    Cost("hot", "share of HOT updates", least=0.34),
    Cost("not_hot", "updates of an order in hot tables that are not HOT", most=0.1),
    Cost("indexes", "indexes", most=530),
    Cost("repeated", "indexes that repeat another", most=0),
    Cost("shop_keys", "foreign keys to the shop in the database", most=65),
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer orders")
    parser.add_argument("--write", action="store_true", help="put the table into docs/scale.md")
    given = parser.parse_args()
    server = postgres.answering_server()
    if server is None:
        print("No PostgreSQL answers, so the cost of an order is not measured.", file=sys.stderr)
        return 0
    measured = measure(server, QUICK if given.quick else FULL)
    found = values(measured)
    print(table(found))
    if given.write:
        report.write(table(found), BEGIN, END, PAGE)
    exceeded = [cost for cost in COSTS if not cost.is_met(found[cost.member])]
    for cost in exceeded:
        print(f"bench: {cost.what}: {found[cost.member]:,g}, {cost.bound}", file=sys.stderr)
    if found["not_hot"] or measured["repeated_indexes"]:
        print(f"bench: {measured['updates']} {measured['repeated_indexes']}", file=sys.stderr)
    return int(bool(exceeded))


def measure(server: str, orders: int) -> dict[str, Any]:
    """The answer of `benchmarks.orders` in a new database, which is dropped again."""
    name = postgres.database_name(FOLDER, 0)
    postgres.create(server, name)
    try:
        with tempfile.TemporaryDirectory(prefix="storefront-bench-") as directory:
            environment = clean_environment() | {
                "STOREFRONT_DATA_DIR": directory,
                "STOREFRONT_LOG_LEVEL": "warning",
                "DATABASE_URL": postgres.with_name(server, name),
            }
            storefront("migrate", "--verbosity", "0", environment=environment)
            command = [sys.executable, "-W", "ignore", "-m", "benchmarks.orders", str(orders)]
            done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, timeout=MAX_SECONDS, check=True)
            found: dict[str, Any] = json.loads(done.stdout)
            return found
    finally:
        postgres.drop(server, name)


def values(measured: dict[str, Any]) -> dict[str, float]:
    """What COSTS name, by member."""
    not_hot = sum(count - hot for table, (count, hot) in measured["updates"].items() if table in HOT_TABLES)
    derived = {"repeated": len(measured["repeated_indexes"]), "not_hot": not_hot / measured["orders"]}
    return {cost.member: float((measured | derived)[cost.member]) for cost in COSTS}


def table(found: dict[str, float]) -> str:
    """The costs as a Markdown table."""
    lines = ["| What | Measured | Bound | Met |", "| --- | ---: | ---: | --- |"]
    for cost in COSTS:
        value = found[cost.member]
        amount = f"{value:,.2f}" if value % 1 else f"{value:,.0f}"
        lines.append(f"| {cost.what} | {amount} | {cost.bound} | {'yes' if cost.is_met(value) else '**no**'} |")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
