"""The command: `python -m tests.faults [--write] [--only WORDS] [--database sqlite|postgresql]`."""

import argparse
import json
import sys
import time
from collections import Counter
from contextlib import nullcontext
from queue import Empty

from tests.faults.customers import Seen, kinds, shopping
from tests.faults.deployment import LOOK, Deployment, deployed
from tests.faults.faults import FAULTS, Fault
from tests.faults.report import Row, Total, report, write

DATABASES = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}
# Seconds without a failure after which all is well; and after which a deployment is given up.
QUIET_SECONDS, PATIENCE_SECONDS = 3, 60


def main() -> int:
    parser = argparse.ArgumentParser(prog="make faults", description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the table into docs/failure.md")
    parser.add_argument("--only", default="", help="faults whose names have these words")
    parser.add_argument("--database", choices=DATABASES, help="only this database")
    given = parser.parse_args()
    rows: list[Row] = []
    totals = []
    for database in [given.database] if given.database else DATABASES:
        say(f"{DATABASES[database]}: preparing")
        with deployed(database) as shop:
            own, total = try_all(shop, DATABASES[database], given.only.lower())
        rows += own
        totals.append(total)
        say(total.sentence())
    text = report(rows, totals)
    sys.stdout.write(f"{text}\n")
    if given.write:
        write(text)
    return 0 if all(total.is_right for total in totals) else 1


def try_all(shop: Deployment, database: str, words: str) -> tuple[list[Row], Total]:
    webhooks: list[tuple[float, str]] = []
    with shopping(shop.url, shop.token, shop.product) as seen:
        rows = [try_one(shop, database, fault, seen, webhooks) for fault in FAULTS if words in fault.what.lower()]
    return rows, settle(shop, database, rows, seen, webhooks)


def try_one(shop: Deployment, database: str, fault: Fault, seen: Seen, webhooks: list[tuple[float, str]]) -> Row:
    row = Row(fault.what, database, skipped=fault.reason(shop))
    if row.skipped:
        say(f"SKIPPED on {database}: {fault.what} ({row.skipped})")
        return row
    with fault.prepared(shop) if fault.prepared else nullcontext():
        wait_until_quiet(seen, time.monotonic(), QUIET_SECONDS / 2)
        row.began = time.monotonic()
        healed = fault.run(shop)
        wait_until_quiet(seen, max(healed, row.began), QUIET_SECONDS)
        row.ended = time.monotonic()
    drain(shop, webhooks)
    failures = [failure for failure in seen.failures if row.began <= failure[0] <= row.ended]
    answers = [row.began, *(at for at in sorted(seen.answers) if row.began <= at <= row.ended)]
    row.failures = kinds(failures)
    row.recovery = max([0.0, *(at - healed for at, _ in failures)])
    row.gap = max(after - before for before, after in zip(answers, [*answers[1:], row.ended], strict=True))
    row.webhooks = sum(row.began <= at <= row.ended for at, _ in webhooks)
    row.orders = sum(row.began <= at <= row.ended for _, at in seen.confirmed.values())
    say(row.line())
    return row


def wait_until_quiet(seen: Seen, since: float, seconds: float) -> None:
    """Wait until shoppers have had answers, and no failure, for so long."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        last = max([since, *(at for at, _ in seen.failures)])
        if time.monotonic() - last > seconds and seen.answers and seen.answers[-1] > last:
            return
        time.sleep(0.1)
    raise AssertionError(f"the shop does not recover within {PATIENCE_SECONDS} s: {kinds(seen.failures[-20:])}")


def settle(shop: Deployment, database: str, rows: list[Row], seen: Seen, webhooks: list[tuple[float, str]]) -> Total:
    """What the database and the receiver have, compared with what shoppers were told."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while (found := shop.shell(LOOK))["waiting"] and time.monotonic() < deadline:
        time.sleep(0.5)
    drain(shop, webhooks)
    stored = {(email, public_id) for email, public_id, _ in found["orders"]}
    counted = Counter(email for email, *_ in found["orders"])
    lost = {email for email, (order, _) in seen.confirmed.items() if (email, order) not in stored}
    doubled = {email for email, number in counted.items() if number > 1}
    doubled |= {email for email, _, pieces in found["orders"] if pieces != 1}
    for row in rows:
        of_row = {email for email, (_, at) in seen.confirmed.items() if row.began <= at <= row.ended}
        row.lost, row.doubled = len(lost & of_row), len(doubled & of_row)
    told = Counter(id for _, id in webhooks)
    events = set(found["events"])
    return Total(
        database,
        orders=len(found["orders"]),
        lost=len(lost),
        doubled=len(doubled),
        events=len(events),
        missing=len(events - told.keys()),
        unknown=len(told.keys() - events),
        repeated=sum(told.values()) - len(told),
    )


def drain(shop: Deployment, webhooks: list[tuple[float, str]]) -> None:
    """Take what the receiver has received: when, and the event's id."""
    while True:
        try:
            came = shop.receiver.received.get_nowait()
        except Empty:
            return
        webhooks.append((came.at, json.loads(came.body)["id"]))


def say(line: str) -> None:
    sys.stderr.write(f"{line}\n")


if __name__ == "__main__":
    sys.exit(main())
