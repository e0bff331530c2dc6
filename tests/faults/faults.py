"""The faults. Each breaks something in a running deployment, heals it, and returns when it was healed."""

import os
import signal
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import psycopg

from tests.faults.deployment import Deployment
from tests.server.bouncers import find_program, pooled
from tests.server.programs import wait_until

# Seconds for which a fault that is healed lasts.
LASTS = 4.0
# Seconds for which a restarted database is away.
RESTART_SECONDS = 1.0
# Seconds after which the remains of a killed supervisor are killed, where they hold the port.
ORPHANS_SECONDS = 6


@dataclass(frozen=True)
class Fault:
    """`reason` says why the fault cannot be tried in a deployment; empty if it can. `prepared` is around it."""

    what: str
    run: Callable[[Deployment], float]
    reason: Callable[[Deployment], str] = lambda _shop: ""
    prepared: Callable[[Deployment], Iterator[None]] | None = None


def kill_web_process(shop: Deployment) -> float:
    os.kill(shop.web_processes()[0], signal.SIGKILL)
    return time.monotonic()


def freeze_web_process(shop: Deployment) -> float:
    victim = shop.web_processes()[0]
    os.kill(victim, signal.SIGSTOP)
    time.sleep(LASTS)
    os.kill(victim, signal.SIGCONT)
    return time.monotonic()


def kill_supervisor(shop: Deployment) -> float:
    assert shop.web.process
    old = shop.web.process.pid
    os.kill(old, signal.SIGKILL)
    shop.web.wait()
    killed = time.monotonic()
    with shop.web.log.open("a") as log:
        log.write("--- the supervisor was killed\n")
    while not stays(shop):
        if time.monotonic() > killed + ORPHANS_SECONDS:
            with suppress(ProcessLookupError):
                os.killpg(old, signal.SIGKILL)
    return killed


def stays(shop: Deployment) -> bool:
    """Start the web server, and see whether it still runs and answers after a while."""
    shop.web.start()
    assert shop.web.process
    deadline = time.monotonic() + 15
    while shop.web.process.poll() is None and time.monotonic() < deadline:
        if shop.is_ready() and "Serving on" in shop.web.log.read_text().rpartition("--- the supervisor")[2]:
            time.sleep(1)
            return shop.web.process.poll() is None
        time.sleep(0.1)
    shop.web.kill()
    return False


def restart_web(shop: Deployment) -> float:
    shop.web.send(signal.SIGTERM)
    stopped = time.monotonic()
    shop.web.wait()
    shop.start_web()
    return stopped


def reload_web(shop: Deployment) -> float:
    before = set(shop.web_processes())
    shop.web.send(signal.SIGHUP)
    asked = time.monotonic()
    wait_until(lambda: before.isdisjoint(shop.web_processes()), what="the new processes", seconds=60)
    return asked


def kill_worker(shop: Deployment) -> float:
    shop.workers[0].kill()
    healed = time.monotonic()
    shop.workers[0].start()
    return healed


def kill_all(shop: Deployment) -> float:
    for program in (shop.web, *shop.workers):
        program.kill()
    healed = time.monotonic()
    for worker in shop.workers:
        worker.start()
    shop.start_web()
    return healed


def kill_database(shop: Deployment) -> float:
    assert shop.cluster
    shop.cluster.kill()
    time.sleep(LASTS)
    shop.cluster.start()
    return time.monotonic()


def restart_database(shop: Deployment) -> float:
    assert shop.cluster
    assert shop.cluster.process
    shop.cluster.process.send_signal(signal.SIGINT)
    shop.cluster.process.wait(30)
    shop.cluster.start()
    return time.monotonic()


def restart_database_slowly(shop: Deployment) -> float:
    """As `systemctl restart postgresql` does, which takes a second."""
    assert shop.cluster
    assert shop.cluster.process
    shop.cluster.process.send_signal(signal.SIGINT)
    shop.cluster.process.wait(30)
    time.sleep(RESTART_SECONDS)
    shop.cluster.start()
    return time.monotonic()


@contextmanager
def behind_pgbouncer(shop: Deployment, login_retry: int) -> Iterator[None]:
    """Run the programs behind a PgBouncer that pools transactions, and at the end without it."""
    assert shop.cluster
    before = shop.web.environment
    with pooled(shop.cluster.url, shop.directory, default_pool_size=20, server_login_retry=login_retry) as url:
        direct = {"STOREFRONT_PGBOUNCER": "1", "DATABASE_DIRECT_URL": shop.cluster.url}
        try:
            restart_with(shop, before | direct | {"DATABASE_URL": url})
            yield
        finally:
            restart_with(shop, before)


def no_pgbouncer(shop: Deployment) -> str:
    return only("PostgreSQL")(shop) or ("" if find_program() else "pgbouncer is not installed")


def stall_database(shop: Deployment) -> float:
    assert shop.relay
    shop.relay.stall()
    time.sleep(LASTS)
    shop.relay.resume()
    return time.monotonic()


def read_only_database(shop: Deployment) -> float:
    assert shop.cluster
    with psycopg.connect(shop.cluster.url, autocommit=True) as connection:
        for statement in ("ALTER SYSTEM SET default_transaction_read_only = on", "SELECT pg_reload_conf()"):
            connection.execute(statement)
        time.sleep(LASTS)
        connection.execute("SET default_transaction_read_only = off")
        for statement in ("ALTER SYSTEM RESET default_transaction_read_only", "SELECT pg_reload_conf()"):
            connection.execute(statement)
    return time.monotonic()


def hold_write_lock(shop: Deployment) -> float:
    path = Path(shop.environment["STOREFRONT_DATA_DIR"]) / "storefront.sqlite3"
    connection = sqlite3.connect(path, isolation_level=None, timeout=30)
    connection.execute("BEGIN IMMEDIATE")
    time.sleep(LASTS)
    connection.execute("ROLLBACK")
    connection.close()
    return time.monotonic()


def kill_redis(shop: Deployment) -> float:
    assert shop.redis
    shop.redis.kill()
    time.sleep(LASTS)
    shop.redis.start()
    return time.monotonic()


def silence_mail(shop: Deployment) -> float:
    shop.mail.stall()
    time.sleep(2 * LASTS)
    shop.mail.resume()
    return time.monotonic()


def fill_disk(shop: Deployment) -> float:
    filler = shop.directory / "filler"
    with suppress(OSError), filler.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))
    time.sleep(LASTS)
    filler.unlink()
    if shop.cluster and shop.cluster.process and shop.cluster.process.poll() is not None:
        # PostgreSQL stops when it cannot write its log, and recovers at its next start.
        shop.cluster.start()
    return time.monotonic()


def step_clock(shop: Deployment) -> float:
    assert shop.clock
    for step in ("+300", "-300", "+0"):
        shop.clock.write_text(step)
        time.sleep(LASTS)
    return time.monotonic()


@contextmanager
def with_clock(shop: Deployment) -> Iterator[None]:
    """Run the programs with a clock that can be set, and at the end with the machine's."""
    before = shop.web.environment
    try:
        restart_with(shop, before | shop.clock_environment)
        yield
    finally:
        restart_with(shop, before)


def restart_with(shop: Deployment, environment: dict[str, str]) -> None:
    for program in (shop.web, *shop.workers):
        program.send(signal.SIGTERM)
    for program in (shop.web, *shop.workers):
        program.wait()
        program.environment = environment
    shop.start_web()
    for worker in shop.workers:
        worker.start()


def only(database: str) -> Callable[[Deployment], str]:
    is_wanted = {"PostgreSQL": lambda shop: shop.cluster, "SQLite": lambda shop: not shop.cluster}[database]
    return lambda shop: "" if is_wanted(shop) else f"{database} only"


FAULTS = [
    Fault("A web process is killed (1 of 2)", kill_web_process),
    Fault("A web process is frozen for 4 s (1 of 2)", freeze_web_process),
    Fault("The supervisor is killed, and started again", kill_supervisor),
    Fault("The web server is stopped with SIGTERM, and started again", restart_web),
    Fault("The web server is reloaded with SIGHUP", reload_web),
    Fault("A worker is killed (1 of 2)", kill_worker),
    Fault("All programs are killed, and started again", kill_all),
    Fault("The database is killed, and started again after 4 s", kill_database, only("PostgreSQL")),
    Fault("The database is restarted", restart_database, only("PostgreSQL")),
    Fault(
        "The database is restarted behind PgBouncer",
        restart_database_slowly,
        no_pgbouncer,
        partial(behind_pgbouncer, login_retry=1),
    ),
    Fault(
        "The same with PgBouncer's default, `server_login_retry = 15`",
        restart_database_slowly,
        no_pgbouncer,
        partial(behind_pgbouncer, login_retry=15),
    ),
    Fault("The database stalls for 4 s", stall_database, only("PostgreSQL")),
    Fault("The database is read-only for 4 s", read_only_database, only("PostgreSQL")),
    Fault("Another program holds the write lock for 4 s", hold_write_lock, only("SQLite")),
    Fault("Redis is away for 4 s", kill_redis, lambda shop: "" if shop.redis else "redis-server is not installed"),
    Fault("The mail server is silent for 8 s", silence_mail),
    Fault(
        "The disk is full for 4 s",
        fill_disk,
        lambda shop: "" if shop.has_own_disk else "needs root, to mount a small file system",
    ),
    Fault(
        "The clock steps by 5 minutes, forward and back",
        step_clock,
        lambda shop: "" if shop.clock else "libfaketime is not installed",
        with_clock,
    ),
]
