"""`make test`: the whole suite on SQLite, again on PostgreSQL, then the browser tests.

What cannot run here is skipped, and the closing summary says so with the reason. Arguments are handed to pytest.
"""

import getpass
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psycopg

# In the order in which they stand: files of few tests are often the slow ones, and would all come at the end.
PARALLEL = ("-n", "2", "--dist", "loadfile", "--no-loadscope-reorder")
# What asks no database runs once.
WITHOUT_DATABASE = ("--ignore=tests/kit", "--ignore=tests/benchmarks")
# Verifies our signatures in JavaScript; kept where tests/webhooks/test_signing.py looks for it.
JAVASCRIPT, NODE_MODULES = "standardwebhooks@1.0.0", Path(sys.prefix) / "node"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


class Skipped(Exception):
    """This step cannot run on this machine; the text says why."""


@dataclass
class Outcome:
    step: str
    word: str
    note: str

    @property
    def is_bad(self) -> bool:
        return self.word == "FAILED"


def on_sqlite(arguments: Sequence[str]) -> int:
    return pytest("-m", "not browser", *PARALLEL, *arguments, TEST_POSTGRES_URL="")


def on_postgres(arguments: Sequence[str]) -> int:
    chosen = arguments or WITHOUT_DATABASE
    return pytest("-m", "not browser", *PARALLEL, *chosen, TEST_POSTGRES_URL=postgres_url())


def in_browser(arguments: Sequence[str]) -> int:
    require_browser()
    return pytest("-m", "browser", *PARALLEL, *arguments, TEST_POSTGRES_URL="")


STEPS: dict[str, Callable[[Sequence[str]], int]] = {
    "SQLite": on_sqlite,
    "PostgreSQL": on_postgres,
    "Browser": in_browser,
}


def main(arguments: Sequence[str]) -> int:
    fetch_javascript()
    outcomes = [run(name, step, arguments) for name, step in STEPS.items()]
    print("\n" + "=" * 30 + " make test " + "=" * 30)
    for outcome in outcomes:
        print(f"{outcome.step:<12}{outcome.word:<9}{outcome.note}")
    return int(any(outcome.is_bad for outcome in outcomes))


def run(name: str, step: Callable[[Sequence[str]], int], arguments: Sequence[str]) -> Outcome:
    print(f"\n{'=' * 30} {name} {'=' * 30}", flush=True)
    began = time.monotonic()
    try:
        code = step(arguments)
    except Skipped as reason:
        print(f"SKIPPED: {reason}", flush=True)
        return Outcome(name, "SKIPPED", str(reason))
    took = f"in {time.monotonic() - began:.0f} s"
    return Outcome(name, "passed", took) if code == 0 else Outcome(name, "FAILED", f"pytest exit {code}, {took}")


def pytest(*arguments: str, **environment: str) -> int:
    command = [sys.executable, "-m", "pytest", *arguments]
    environment = dict(os.environ) | environment
    # Tests start programs by the hundred; each would compile all of its modules again.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    return subprocess.run(command, env=environment, check=False).returncode


def fetch_javascript() -> None:
    """The one library of npm's that a test needs, where Node is; the test says so where it is missing."""
    npm = shutil.which("npm")
    if npm and not (NODE_MODULES / "node_modules").exists():
        NODE_MODULES.mkdir(parents=True, exist_ok=True)
        command = [npm, "install", "--no-audit", "--no-fund", "--silent", "--prefix", str(NODE_MODULES), JAVASCRIPT]
        with suppress(subprocess.TimeoutExpired):
            subprocess.run(command, stdin=subprocess.DEVNULL, timeout=120, check=False)


def postgres_url() -> str:
    """A server that answers: the one that TEST_POSTGRES_URL names, else one on this machine."""
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
    if any(map(shutil.which, BROWSERS)):
        return
    if not (os.path.exists("/etc/debian_version") and os.geteuid() == 0):
        raise Skipped("no Chromium was found; install one (on Debian: apt-get install chromium)")
    print("Installing Chromium with apt-get ...", flush=True)
    for command in ("apt-get -qq update", "apt-get -qq -y install chromium"):
        subprocess.run(
            command.split(),
            env=os.environ | {"DEBIAN_FRONTEND": "noninteractive"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            check=False,
        )
    if not any(map(shutil.which, BROWSERS)):
        raise Skipped("no Chromium was found, and apt-get could not install it")


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
