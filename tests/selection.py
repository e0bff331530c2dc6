"""Where and when a test runs, found by rules instead of lists.

Collected tests get the markers `uses_database` and `sql` by rule: `make test` runs on PostgreSQL what has `sql`, and
`make proof` the rest of what uses a database. A browser test is `proof`, unless it has the marker `walk`, which then
runs at the first of its widths. `generated` tests run on SQLite in both, with few and with many examples. A file
names itself what a rule cannot know: `uses_database`, `any_database` (PostgreSQL never runs it), `strict` (SQLite runs
it only where there is no PostgreSQL).

`--part=TURN --since=COMMIT`, as `.ci/run` asks for, keeps one fifth of the files, and those that the changes since that
commit can reach: a test file that was changed, or that imports or stands beside a module that was. After
`--minutes=N` the tests that are left are skipped, by name.
"""

import re
import subprocess
import time
from collections.abc import Iterable
from functools import cache
from inspect import getsource
from pathlib import Path
from zlib import crc32

import pytest

PARTS = 5
DATABASE_FIXTURES = {"db", "transactional_db", "django_db_setup", "migrated", "deployment", "live_server"}
# Words by which a test's code shows that the two databases can differ: it commits beside others, expects a constraint,
# counts queries, or asks for a list, a search, an order of rows or an import.
DIFFERS = re.compile(
    r"transaction=True|transactional_db|together\(|at_once|Thread|[A-Z]\w*Error\b.*raises|raises\(.*(Integrity|Data"
    r"|Operational)|\bconnections?\b|cursor|queries|trigger|constraint|verify|imported\(|run_import|search"
    r"|sort|feed|/(products|categories|orders|customers|inventory)\?|[?&](q|page|limit|since)="
)


def options(parser: pytest.Parser) -> None:
    parser.addoption("--part", type=int, help="keep this fifth of the test files, 0 to 4, and what --since reaches")
    parser.addoption("--since", default="", help="a commit; without it, every change counts")
    parser.addoption("--minutes", type=float, help="skip the tests that have not begun by then")


def mark(config: pytest.Config, items: Iterable[pytest.Item]) -> None:
    # Reading the code of all tests takes a second of each process.
    asks_for_sql = "sql" in config.getoption("markexpr")
    for item in items:
        if item.get_closest_marker("browser") and not is_walk(item):
            item.add_marker("proof")
        if getattr(getattr(item, "function", None), "is_hypothesis_test", False):
            item.add_marker("generated")
        fixtures = DATABASE_FIXTURES & set(getattr(item, "fixturenames", ()))
        if fixtures or any(map(item.get_closest_marker, ("django_db", "strict", "uses_database"))):
            item.add_marker("uses_database")
            if asks_for_sql and can_differ(item):
                item.add_marker("sql")


def is_walk(item: pytest.Item) -> bool:
    """Returns True for a test with the marker `walk`, at the first of its widths."""
    parameters = getattr(item, "callspec", None)
    return bool(item.get_closest_marker("walk")) and not (parameters and parameters.indices.get("width"))


def can_differ(item: pytest.Item) -> bool:
    """Returns True if the test's code or markers have a word of DIFFERS, or if only PostgreSQL is strict enough."""
    if item.get_closest_marker("strict"):
        return True
    commits = item.get_closest_marker("django_db")
    source = source_of(item.function) if isinstance(item, pytest.Function) else ""
    return bool(commits and commits.kwargs.get("transaction")) or bool(DIFFERS.search(source))


# A test's cases share its source, which takes long to find.
source_of = cache(getsource)


def keep_part(config: pytest.Config, items: list[pytest.Item]) -> None:
    part = config.getoption("--part")
    if part is None:
        return
    changed = changed_since(config.getoption("--since"))
    is_due = {item: crc32(_path(item).encode()) % PARTS == part for item in items}
    reached = [item for item in items if not is_due[item] and reaches(changed, _path(item))]
    kept = [item for item in items if is_due[item]] + reached
    config.hook.pytest_deselected(items=list(set(items) - set(kept)))
    items[:] = kept


def _path(item: pytest.Item) -> str:
    return item.path.relative_to(item.config.rootpath).as_posix()


@cache
def changed_since(commit: str) -> frozenset[str] | None:
    """The paths that differ from that commit. None if there is no such commit, as in a copy without history."""
    asked = subprocess.run(["git", "diff", "--name-only", commit, "--"], capture_output=True, text=True, check=False)
    return frozenset(asked.stdout.split()) if commit and asked.returncode == 0 else None


@cache
def reaches(changed: frozenset[str] | None, test: str) -> bool:
    """Returns True if a changed file is this test, a module that it imports, or of the room that its folder is named
    after."""
    if changed is None or test in changed:
        return True
    room = f"storefront/{Path(test).parts[1]}/"
    if any(path.startswith(room) for path in changed):
        return True
    imported = re.findall(
        r"^(?:from|import) ((?:storefront|tests)[\w.]*)(?: import (.*))?", Path(test).read_text(), re.M
    )
    names = {module for module, _ in imported} | {
        f"{module}.{name.strip()}" for module, all_ in imported for name in all_.split(",")
    }
    return any(path.removesuffix(".py").replace("/", ".") in names for path in changed)


class Deadline:
    """Skips what has not begun after some minutes."""

    def __init__(self, minutes: float) -> None:
        self.ends = time.monotonic() + minutes * 60

    def pytest_runtest_setup(self) -> None:
        if time.monotonic() > self.ends:
            pytest.skip("no time was left for it in this part; `make proof` runs it")
