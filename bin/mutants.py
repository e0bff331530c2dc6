"""`make mutants`: change the rules on which money, stock and secrets depend, in one place at a time, and see that a
test fails. Says which changes no test notices; fails if these are more than one in twenty.

The changes are drawn from all that these modules allow, as many from each: `SEED=7` draws others, `COUNT=10` fewer.
Each is made in a copy of the working tree, and the tests that TESTS names for the module are run there. A change
without any effect is listed in bin/equivalent_mutants.txt, with the reason.
"""

import argparse
import ast
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib.util import cache_from_source
from itertools import accumulate, zip_longest
from pathlib import Path
from queue import Queue
from random import Random
from tempfile import TemporaryDirectory, TemporaryFile
from threading import Timer
from typing import NamedTuple

# The tests that have to notice a change of each module, those that most probably do first.
TESTS = dict(
    line.split(": ")
    for line in """
carts/rules.py: carts/test_text_size.py carts/test_text_length.py carts/test_adding.py carts/test_custom_price.py \
carts/test_stock.py
catalogue/stock.py: catalogue/test_stock_alone.py catalogue/test_stock_adjustments.py orders/test_stock.py
checkout/link.py: checkout/test_resume.py checkout/test_after_the_order.py checkout/test_attribution.py \
reference/test_checkout_handoff.py
kit/signing.py: kit/test_signing.py
payments/refunds.py: orders/test_refunding.py payments/test_refund_ledger.py payments/test_failed_refunds.py \
payments/test_line_refunds.py gift_cards/test_spending.py
payments/rules.py: payments/test_rules.py payments/test_contradictions.py
pricing/discounts.py: pricing/test_discounts.py pricing/test_totals.py carts/test_discount_codes.py
pricing/eu_vat.py: pricing/test_tax_places.py pricing/test_eu_rates.py
pricing/sharing.py: pricing/test_sharing_out.py
pricing/taxes.py: pricing/test_tax.py pricing/test_tax_identity.py pricing/test_tax_places.py
shops/auth.py: reference/test_public_authentication.py reference/test_app_api.py reference/test_every_call.py
webhooks/claiming.py: webhooks/test_claiming.py webhooks/test_changing.py
webhooks/messages.py: webhooks/test_recording.py webhooks/test_feed.py server/test_api_webhooks.py
webhooks/rules.py: webhooks/test_rules.py
""".strip().splitlines()
)
EQUIVALENT = Path("bin/equivalent_mutants.txt")
MAX_SURVIVING = 0.05
PROCESSES = 2
LISTED = ("git", "ls-files", "-zco", "--exclude-standard")
# A run of tests that takes this many times as long as without a change does not come to an end. Processor time, since
# what a busy machine delays has not failed.
PATIENCE, MIN_SECONDS, MAX_SECONDS = 3, 30, 600
# Until a run that waits without working is ended.
MAX_WAIT = 1200
PAIRS = "Lt LtE, Gt GtE, Eq NotEq, In NotIn, Is IsNot, And Or, Add Sub, Mult FloorDiv"
_NAMES = [(getattr(ast, one), getattr(ast, other)) for one, other in map(str.split, PAIRS.split(", "))]
OPPOSITES: dict[type, type] = dict(_NAMES) | {other: one for one, other in _NAMES} | {ast.Div: ast.Mult}
# Calls that find rows, and whose conditions are left out in turn.
CONDITIONS = ("filter", "exclude", "get", "Q")
LOG = "log."


class Run(NamedTuple):
    """The exit code of a run of tests, the processor time that it took, and the test that failed."""

    code: int
    seconds: float
    failed: str


class Change(NamedTuple):
    path: str
    function: str
    line: int
    start: int
    end: int
    old: str
    new: str

    def __str__(self) -> str:
        """The change without its line, which other changes move."""
        return f"{self.path} {self.function}: {' '.join(self.old.split())} -> {self.new}"


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--count", type=int, default=50)
    given = options.parse_args()
    listed = {line for line in EQUIVALENT.read_text().splitlines() if line.startswith("storefront/")}
    possible = [list(changes(f"storefront/{module}")) for module in TESTS]
    if unknown := listed - {str(each) for found in possible for each in found}:
        print(f"{EQUIVALENT} lists what cannot be changed any more:", *sorted(unknown), sep="\n  ")
        return 1
    random = Random(given.seed)
    shuffled = [random.sample(found, len(found)) for found in possible]
    # The first of each module, then the second of each.
    turns = [each for turn in zip_longest(*shuffled) for each in turn if each and str(each) not in listed]
    chosen = turns[: given.count]
    survivors = [change for change, is_noticed in tried(chosen, given.seed) if not is_noticed]
    print(f"{len(chosen) - len(survivors)} of {len(chosen)} changes were noticed (seed {given.seed}).")
    return int(len(survivors) > MAX_SURVIVING * len(chosen))


def changes(path: str) -> Iterator[Change]:
    """All changes of what the functions of a module do."""
    source = Path(path).read_bytes()
    lines = [0, *accumulate(map(len, source.splitlines(keepends=True)))]
    for function in (each for each in ast.walk(ast.parse(source)) if isinstance(each, ast.FunctionDef)):
        for node, new in (found for statement in function.body for found in changed_nodes(statement)):
            start = lines[node.lineno - 1] + node.col_offset
            end = lines[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)
            yield Change(path, function.name, node.lineno, start, end, source[start:end].decode(), new)


def changed_nodes(node: ast.AST) -> Iterator[tuple[ast.expr | ast.stmt, str]]:
    """(an expression or a statement below this one, other code in its place)"""
    is_telling = isinstance(node, ast.Expr) and (isinstance(node.value, ast.Constant) or LOG in ast.unparse(node))
    # Before Python 3.12, the places of the parts of an f-string are unknown.
    if is_telling or isinstance(node, ast.FunctionDef | ast.arg | ast.JoinedStr):
        return
    if isinstance(node, ast.Expr | ast.Raise | ast.AugAssign):
        yield node, "pass"
    if isinstance(node, ast.expr):
        yield from ((node, f"({ast.unparse(new)})") for new in others(node))
    for name, value in ast.iter_fields(node):
        if name not in ("annotation", "returns"):
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    yield from changed_nodes(child)


def others(node: ast.expr) -> Iterator[ast.expr]:
    """The expression with one thing in it changed."""
    match node:
        case ast.Compare(left, [operator], comparators) if type(operator) in OPPOSITES:
            yield ast.Compare(left, [OPPOSITES[type(operator)]()], comparators)
        case ast.BoolOp(operator, values):
            yield ast.BoolOp(OPPOSITES[type(operator)](), values)
        case ast.BinOp(left, operator, right) if type(operator) in OPPOSITES:
            yield ast.BinOp(left, OPPOSITES[type(operator)](), right)
        case ast.UnaryOp(ast.Not(), operand):
            yield operand
        case ast.IfExp(test, body, orelse):
            yield ast.IfExp(test, orelse, body)
        case ast.Constant(bool() as value):
            yield ast.Constant(not value)
        case ast.Constant(int() as value):
            yield ast.Constant(value + 1)
        case ast.Call(ast.Name("min" | "max" as name) as called, arguments, keywords):
            yield ast.Call(ast.Name({"min": "max", "max": "min"}[name], called.ctx), arguments, keywords)
        case ast.Call(ast.Attribute() | ast.Name() as called, arguments, keywords):
            if ast.unparse(called).rpartition(".")[2] in CONDITIONS:
                for left_out in keywords:
                    yield ast.Call(called, arguments, [each for each in keywords if each is not left_out])


def tried(chosen: list[Change], seed: int) -> Iterator[tuple[Change, bool]]:
    """Each change, and whether a test failed with it."""
    with TemporaryDirectory(prefix="mutants-") as directory, ThreadPoolExecutor(PROCESSES) as threads:
        copies: Queue[Path] = Queue()
        for number in range(PROCESSES):
            copies.put(copy_tree(Path(directory) / str(number)))

        def seconds_of(path: str) -> float:
            run = run_tests(copies, path, seed, MAX_SECONDS)
            if run.code:
                raise SystemExit(f"The tests of {path} fail without any change: {run.failed or run.code}")
            return run.seconds

        def is_noticed(change: Change) -> bool:
            run = run_tests(copies, change.path, seed, max(PATIENCE * seconds[change.path], MIN_SECONDS), change)
            by = f", by {run.failed or 'a run without an end'}" if run.code else ""
            print("noticed " if run.code else "SURVIVED", f"line {change.line} of {change}{by}", flush=True)
            return bool(run.code)

        paths = sorted({change.path for change in chosen})
        seconds = dict(zip(paths, threads.map(seconds_of, paths), strict=True))
        yield from zip(chosen, threads.map(is_noticed, chosen), strict=True)


def copy_tree(to: Path) -> Path:
    for name in filter(None, subprocess.check_output(LISTED, text=True).split("\0")):
        if Path(name).is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(name, to / name)
    return to


def run_tests(copies: "Queue[Path]", path: str, seed: int, seconds: float, change: Change | None = None) -> Run:
    """Run the module's tests in a copy with this change, until one fails."""
    copy = copies.get()
    file = copy / path
    source = file.read_bytes()
    run = Run(0, 0, "")
    try:
        if change:
            write(file, source[: change.start] + change.new.encode() + source[change.end :])
        for tests in TESTS[path.removeprefix("storefront/")].split():
            # Each file by itself: in one run, pytest-django puts those that need no database last.
            of_file = run_file(copy, f"tests/{tests}", seed, seconds)
            run = of_file._replace(seconds=run.seconds + of_file.seconds)
            if run.code:
                break
        return run
    finally:
        write(file, source)
        copies.put(copy)


def run_file(copy: Path, tests: str, seed: int, seconds: float) -> Run:
    """Run these tests for at most so many seconds of processor time."""
    options = ["-qx", "-p", "no:cacheprovider", "-m", "not browser", f"--hypothesis-seed={seed}", tests]
    environment = os.environ | {"PYTHONPATH": str(copy), "TEST_POSTGRES_URL": ""}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    command = ["sh", "-c", f'ulimit -t {round(seconds)}; exec "$@"', "sh", sys.executable, "-m", "pytest", *options]
    with TemporaryFile("w+") as output:
        process = subprocess.Popen(command, cwd=copy, env=environment, stdout=output)
        watch = Timer(MAX_WAIT, process.kill)
        watch.start()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        watch.cancel()
        output.seek(0)
        failed = re.findall(r"^(?:FAILED|ERROR) (\S+)", output.read(), re.MULTILINE)
    return Run(process.returncode, used.ru_utime + used.ru_stime, " ".join(failed))


def write(file: Path, source: bytes) -> None:
    """Write a module, whose compiled file may look as new as it."""
    file.write_bytes(source)
    Path(cache_from_source(str(file))).unlink(missing_ok=True)


if __name__ == "__main__":
    sys.exit(main())
