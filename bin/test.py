"""`make test`: the suite on SQLite, on PostgreSQL and in a browser. `make proof`, with `--proof`: what takes
long (markers `slow` and `proof`), such as programs, races, kills, generated calls and walks through every page.

Two steps run at once, since each waits for a part of its time: for programs, for deadlines, for its slowest file. Steps
that cannot run on this machine are skipped, and the summary at the end has the reasons. Arguments are passed to pytest.
"""

import getpass
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from threading import Lock

import node
import psycopg

# No reordering by size: files with few tests are often slow, and would all run at the end.
PARALLEL = ("-n", "2", "--dist", "loadfile", "--no-loadscope-reorder", "--durations=15", "--durations-min=3")
# A machine that others use too stands still at times. A test in which something waited too long is tried once more, and
# named; the time of a test holds for both tries.
WAITED = "TimeoutE|(Read|Connect)Timeout|timed out|did not come true|(Locator|Page) expected"
AGAIN = ("--reruns", "1", "--only-rerun", WAITED, "-rfEsR")
# Tests that need no database, or do not depend on its kind, run only on SQLite.
NOT_ON_POSTGRESQL = (
    *("benchmarks", "clients", "deploy", "docs", "examples", "kit"),
    "checkout/test_handover.py",
    "checkout/test_limits.py",
    "checkout/test_links_attack.py",
    "pictures/test_hostile_hosts.py",
    "product_files/test_import_real_files.py",
    "product_files/test_read_ahead.py",
    "server/test_access_log.py",
    "server/test_admin_rights.py",
    "server/test_api_examples.py",
    "server/test_app_processes.py",
    "server/test_buckets.py",
    "server/test_cli.py",
    "server/test_demo.py",
    "server/test_edge_isolation.py",
    "server/test_edge_memory.py",
    "server/test_gate.py",
    "server/test_modes.py",
    "server/test_pictures_command.py",
    "server/test_products_commands.py",
    "server/test_request_checks.py",
    "server/test_reseal.py",
    "server/test_response.py",
    "server/test_run.py",
    "server/test_serve.py",
    "server/test_settings.py",
    "server/test_token_use_served.py",
    "shops/test_admin_security.py",
    "shops/test_admin_words.py",
    "shops/test_confirmation.py",
    "shops/test_passkeys.py",
    "stripe/test_contract.py",
    "stripe/test_events.py",
    "stripe/test_localstripe.py",
    "stripe/test_paying.py",
    "stripe/test_refunds.py",
    "stripe/test_saved_methods.py",
    "stripe/test_trouble.py",
    "upgrades/test_migration_state.py",
    "upgrades/test_remade_tables.py",
    "website/test_pictures.py",
)
# Many calls with odd values, which PostgreSQL is stricter about. On SQLite they run where there is no PostgreSQL.
RATHER_ON_POSTGRESQL = (
    "audit/test_admin_writes.py",
    "catalogue/test_admin_products.py",
    "server/test_admin_hostile.py",
    "server/test_admin_scope.py",
    "server/test_api_schema.py",
)
# What `make proof` runs, and `make test` leaves out.
LONG = "(slow or proof)"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
AT_ONCE = 2
# How many of a step's failures and second tries the summary repeats, and how much of each.
SHOWN, WIDTH = 8, 150
# Two of apt-get's refuse to run at once.
_installing = Lock()


class Skipped(Exception):
    """This step cannot run on this machine; the text is the reason."""


@dataclass
class Outcome:
    step: str
    word: str
    note: str
    named: Sequence[str] = ()

    @property
    def is_bad(self) -> bool:
        return self.word == "FAILED"


# A step's arguments for pytest, and the URL of its PostgreSQL server.
Run = tuple[tuple[str, ...], str]


def on_sqlite(kind: str, arguments: Sequence[str]) -> Run:
    chosen = arguments or (ignoring(RATHER_ON_POSTGRESQL) if has_postgres() else ())
    return ("-m", f"not browser and {kind}", *PARALLEL, *chosen), ""


def on_postgres(kind: str, arguments: Sequence[str]) -> Run:
    url = postgres_url()
    if kind == LONG and not shutil.which("pgbouncer", path=f"{os.environ['PATH']}:/usr/sbin"):
        # Without PgBouncer, its tests are skipped.
        install("pgbouncer")
    return ("-m", f"not browser and {kind}", *PARALLEL, *(arguments or ignoring(NOT_ON_POSTGRESQL))), url


def in_browser(kind: str, arguments: Sequence[str]) -> Run:
    require_browser()
    return ("-m", f"browser and {kind}", *PARALLEL, *(arguments or ("tests/browser",))), ""


def ignoring(paths: Sequence[str]) -> tuple[str, ...]:
    return tuple(f"--ignore=tests/{path}" for path in paths)


STEPS: dict[str, Callable[[str, Sequence[str]], Run]] = {
    "SQLite": on_sqlite,
    "PostgreSQL": on_postgres,
    "Browser": in_browser,
}


def main(arguments: Sequence[str]) -> int:
    kind, command = (LONG, "make proof") if "--proof" in arguments else (f"not {LONG}", "make test")
    arguments = [each for each in arguments if each != "--proof"]
    if not node.fetch():
        print("Tests with Node are skipped: there is none, or npm could not fetch their tools.")
    with ThreadPoolExecutor(AT_ONCE) as threads:
        outcomes = list(threads.map(lambda name: run(name, kind, arguments), STEPS))
    print("\n" + "=" * 30 + f" {command} " + "=" * 30)
    for outcome in outcomes:
        print(f"{outcome.step:<12}{outcome.word:<9}{outcome.note}")
    for outcome in outcomes:
        # Once more at the end, where whoever sees only the last lines of a long run finds them.
        for line in sorted(outcome.named, key=by_weight)[:SHOWN]:
            print(f"{outcome.step:<12}{line:.{WIDTH}}")
        if len(outcome.named) > SHOWN:
            print(f"{outcome.step:<12}and {len(outcome.named) - SHOWN} more")
    return int(any(outcome.is_bad for outcome in outcomes))


def by_weight(line: str) -> tuple[int, str]:
    """Failures first: errors often follow from one."""
    return ("FAILED", "ERROR", "RERUN").index(line.split()[0]), line


def run(name: str, kind: str, arguments: Sequence[str]) -> Outcome:
    say(name, "starts")
    started = time.monotonic()
    try:
        code, named = pytest(name, *STEPS[name](kind, arguments))
    except Skipped as reason:
        say(name, f"SKIPPED: {reason}")
        return Outcome(name, "SKIPPED", str(reason))
    took = f"in {time.monotonic() - started:.0f} s"
    if code == 0:
        return Outcome(name, "passed", took, named)
    return Outcome(name, "FAILED", f"pytest exit {code}, {took}", named)


def pytest(name: str, arguments: Sequence[str], url: str) -> tuple[int, list[str]]:
    """The exit code, and pytest's own line for each test that failed or was tried again."""
    environment = os.environ | {"TEST_POSTGRES_URL": url}
    # Tests start hundreds of programs, and without bytecode each would compile all of its modules again.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    command = [sys.executable, "-m", "pytest", *AGAIN, *arguments]
    named: list[str] = []
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as running:
        for line in running.stdout or ():
            text = line.decode(errors="replace").rstrip()
            say(name, text)
            if text.startswith(("FAILED tests/", "ERROR tests/", "RERUN tests/")):
                named.append(text)
    return running.returncode, named


def say(name: str, line: str) -> None:
    """Print a line of a step's output, after the step's name."""
    print(f"{name:<12}{line}\n", end="", flush=True)


def has_postgres() -> bool:
    with suppress(Skipped):
        return bool(postgres_url())
    return False


def postgres_url() -> str:
    """TEST_POSTGRES_URL, or the URL of a running server on this machine. Raises Skipped if there is none."""
    named = os.environ.get("TEST_POSTGRES_URL")
    if named:
        return named
    for user in (getpass.getuser(), "postgres"):
        url = f"postgres://{user}@127.0.0.1:5432/postgres"
        try:
            psycopg.connect(url, connect_timeout=3).close()
        except psycopg.OperationalError:
            continue
        return url
    raise Skipped("no PostgreSQL answers on 127.0.0.1:5432 without a password; name one with TEST_POSTGRES_URL")


def require_browser() -> None:
    if not any(map(shutil.which, BROWSERS)):
        install("chromium")
    if not any(map(shutil.which, BROWSERS)):
        raise Skipped("no Chromium was found, and none could be installed (on Debian: apt-get install chromium)")


def install(package: str) -> None:
    """Install a Debian package, where this may do so."""
    if not (os.path.exists("/etc/debian_version") and os.geteuid() == 0):
        return
    with _installing:
        print(f"Installing {package} with apt-get ...", flush=True)
        for command in ("apt-get -qq update", f"apt-get -qq -y install {package}"):
            subprocess.run(
                command.split(),
                env=os.environ | {"DEBIAN_FRONTEND": "noninteractive"},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                check=False,
            )


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
