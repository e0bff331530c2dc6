"""`make test`: the suite on SQLite, what can differ there on PostgreSQL, and walks in a browser.

`make proof`, with `--proof`, runs the rest: what takes long (markers `slow` and `proof`), such as programs, races,
kills, generated calls and walks through every page, and on PostgreSQL all that uses a database. With `--part`, as in
`.ci/run`, it is a fifth of the rest and what the changes since the last landing can reach, begun within five minutes.
tests/selection.py has the rules.

The steps run one after the other, each in two processes: two at once took a quarter longer on two cores. Steps that
cannot run on this machine are skipped, and the summary at the end has the reasons. Arguments are passed to pytest.
"""

import getpass
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import node
import psycopg

# No reordering by size: files with few tests are often slow, and would all run at the end.
PARALLEL = ("-n", "2", "--dist", "loadfile", "--no-loadscope-reorder", "--durations=15", "--durations-min=3")
# A machine that others use too stands still at times. A test in which something waited too long is tried once more, and
# named; the time of a test holds for both tries.
WAITED = "TimeoutE|(Read|Connect)Timeout|timed out|did not come true|(Locator|Page) expected"
AGAIN = ("--reruns", "1", "--only-rerun", WAITED, "-rfEsR")
# What `make proof` runs, and `make test` leaves out.
PARTS = 5
LONG, SHORT = "(slow or proof or generated)", "not (slow or proof)"
# How many examples a test with generated ones tries.
MANY_EXAMPLES, FEW_EXAMPLES = "50", "10"
# The fifth of the proof that is next. Whoever lands a change raises it by one, so that five landings run all of it.
TURN = Path(".ci/turn")
# Minutes that each step has for a part.
MINUTES = {"SQLite": 3, "Browser": 1, "PostgreSQL": 1}
# Chromium without its windows takes two thirds of the time. `make proof` drives the whole one.
SHELL = "chromium-headless-shell"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
# Files of walks have a few long tests each, so the two processes take the next test instead of the next file.
WALKS = ("tests/browser", "--dist", "load", "--maxschedchunk=1")
# A line of pytest's summary on tests that `--minutes` skipped.
LATE = re.compile(r"SKIPPED \[(\d+)\] .*no time was left")
# How many of a step's failures and second tries the summary repeats, and how much of each.
SHOWN, WIDTH = 8, 150


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


@dataclass
class Run:
    """What a step runs: an expression of markers, more arguments of pytest, and environment variables."""

    markers: str
    arguments: Sequence[str] = ()
    environment: Mapping[str, str] = field(default_factory=dict)


def on_sqlite(is_proof: bool) -> Run:
    strict = " and not strict" if has_postgres() else ""
    return Run(f"not browser{strict} and {LONG if is_proof else SHORT}")


def on_postgres(is_proof: bool) -> Run:
    url = postgres_url()
    if is_proof and not shutil.which("pgbouncer", path=f"{os.environ['PATH']}:/usr/sbin"):
        # Without PgBouncer, its tests are skipped.
        install("pgbouncer")
    kind = f"({LONG} or not sql)" if is_proof else f"sql and not generated and {SHORT}"
    markers = f"uses_database and not any_database and not browser and {kind}"
    return Run(markers, environment={"TEST_POSTGRES_URL": url})


def in_browser(is_proof: bool) -> Run:
    require_browser(is_proof)
    markers = f"browser and {LONG if is_proof else SHORT}"
    return Run(markers, WALKS, {} if is_proof else {"TEST_BROWSER": SHELL})


STEPS: dict[str, Callable[[bool], Run]] = {
    "SQLite": on_sqlite,
    "Browser": in_browser,
    "PostgreSQL": on_postgres,
}


def main(arguments: Sequence[str]) -> int:
    is_proof, command = "--proof" in arguments, "make proof" if "--proof" in arguments else "make test"
    part = part_of_proof() if "--part" in arguments else ()
    arguments = [*part, *(each for each in arguments if each not in ("--proof", "--part"))]
    if not node.fetch():
        print("Tests with Node are skipped: there is none, or npm could not fetch their tools.")
    outcomes = [run(name, is_proof, arguments) for name in STEPS]
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


def part_of_proof() -> tuple[str, ...]:
    """The options of tests/selection.py: the turn in .ci/turn, and the commit that raised it the time before."""
    turn = int(TURN.read_text())
    asked = subprocess.run(
        ["git", "log", "-2", "--format=%H", "--", str(TURN)], capture_output=True, text=True, check=False
    )
    since = asked.stdout.split()[1:]
    print(f"Part {turn % PARTS + 1} of {PARTS} of the proof, and what changed since {since or 'ever'}.")
    return (f"--part={turn % PARTS}", *(f"--since={commit}" for commit in since))


def by_weight(line: str) -> tuple[int, str]:
    """Failures first: errors often follow from one."""
    return ("FAILED", "ERROR", "RERUN").index(line.split()[0]), line


def run(name: str, is_proof: bool, arguments: Sequence[str]) -> Outcome:
    say(name, "starts")
    started = time.monotonic()
    try:
        step = STEPS[name](is_proof)
        examples = MANY_EXAMPLES if is_proof else FEW_EXAMPLES
        environment = {"TEST_POSTGRES_URL": "", "STOREFRONT_EXAMPLES": examples, **step.environment}
        limit = [f"--minutes={MINUTES[name]}"] if any(each.startswith("--part=") for each in arguments) else []
        arguments = ["-m", step.markers, *PARALLEL, *step.arguments, *limit, *arguments]
        code, named, late = pytest(name, arguments, environment)
    except Skipped as reason:
        say(name, f"SKIPPED: {reason}")
        return Outcome(name, "SKIPPED", str(reason))
    took = f"in {time.monotonic() - started:.0f} s" + (f"; no time was left for {late} tests" if late else "")
    if code == 0:
        return Outcome(name, "passed", took, named)
    return Outcome(name, "FAILED", f"pytest exit {code}, {took}", named)


def pytest(name: str, arguments: Sequence[str], given: dict[str, str]) -> tuple[int, list[str], int]:
    """The exit code, pytest's own line for each test that failed or was tried again, and how many had no time left."""
    environment = os.environ | given
    # Tests start hundreds of programs, and without bytecode each would compile all of its modules again.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    command = [sys.executable, "-m", "pytest", *AGAIN, *arguments]
    named: list[str] = []
    late = 0
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as running:
        for line in running.stdout or ():
            text = line.decode(errors="replace").rstrip()
            say(name, text)
            if text.startswith(("FAILED tests/", "ERROR tests/", "RERUN tests/")):
                named.append(text)
            elif found := LATE.match(text):
                late += int(found[1])
    return running.returncode, named, late


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


def require_browser(is_proof: bool) -> None:
    """Install Chromium where it is missing. Raises Skipped if there is none then."""
    if not is_proof and not shutil.which(SHELL):
        install(SHELL)
    if not any(map(shutil.which, BROWSERS)) and (is_proof or not shutil.which(SHELL)):
        install("chromium")
    if not any(map(shutil.which, (SHELL, *BROWSERS))):
        raise Skipped("no Chromium was found, and none could be installed (on Debian: apt-get install chromium)")


def install(package: str) -> None:
    """Install a Debian package, where this may do so."""
    if not (os.path.exists("/etc/debian_version") and os.geteuid() == 0):
        return
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
