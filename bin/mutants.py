"""`make mutants`: change the rules on which money, stock and secrets depend, in one place at a time, and see that a test
fails. Says which changes no test notices; fails if these are more than one in twenty.

The changes are drawn from all that these modules allow, as many from each: `SEED=7` draws others, `COUNT=10` fewer. Each
is made in a copy of the working tree, and the tests that TESTS names for the module are run there. A change without any
effect is listed in bin/equivalent_mutants.txt, with the reason.
"""

import argparse
import ast
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib.util import cache_from_source
from pathlib import Path
from queue import Queue
from random import Random
from tempfile import TemporaryDirectory
from typing import NamedTuple

# The tests that have to notice a change of each module, those that most probably do first.
TESTS = {
    "carts/rules.py": "carts/test_text_size.py carts/test_text_length.py carts/test_adding.py carts/test_options.py "
    "carts/test_custom_fields.py carts/test_large_totals.py carts/test_stock.py carts/test_keys.py",
    "catalogue/stock.py": "catalogue/test_stock_alone.py catalogue/test_stock_adjustments.py orders/test_stock.py",
    "checkout/link.py": "checkout/test_resume.py checkout/test_attribution.py reference/test_checkout_handoff.py",
    "kit/signing.py": "kit/test_signing.py",
    "payments/refunds.py": "payments/test_refund_ledger.py payments/test_failed_refunds.py orders/test_refunding.py",
    "payments/rules.py": "payments/test_rules.py payments/test_contradictions.py",
    "pricing/discounts.py": "pricing/test_discounts.py pricing/test_totals.py",
    "pricing/eu_vat.py": "pricing/test_eu_rates.py pricing/test_tax_places.py",
    "pricing/sharing.py": "pricing/test_sharing_out.py",
    "pricing/taxes.py": "pricing/test_tax.py pricing/test_tax_identity.py pricing/test_tax_places.py",
    "shops/auth.py": "reference/test_public_authentication.py apps/test_app_calls.py shops/test_admin_tokens.py",
    "webhooks/claiming.py": "webhooks/test_claiming.py webhooks/test_changing.py webhooks/test_rests.py",
    "webhooks/messages.py": "webhooks/test_recording.py webhooks/test_feed.py server/test_api_webhooks.py",
    "webhooks/rules.py": "webhooks/test_rules.py",
}
EQUIVALENT = Path("bin/equivalent_mutants.txt")
MAX_SURVIVING = 0.05
PROCESSES = 2
# A run of tests that takes this many times as long as without a change has been stopped by it.
PATIENCE, MIN_SECONDS = 3, 30
OPPOSITES = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.Div: ast.Mult,
}
# Calls that find rows, and whose conditions are left out in turn.
CONDITIONS = ("filter", "exclude", "get", "Q")
# Statements that only tell people something.
TELLING = ("log.",)


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
    options.add_argument("--only", default="", help="a part of the modules' paths")
    given = options.parse_args()
    listed = {line for line in EQUIVALENT.read_text().splitlines() if line.startswith("storefront/")}
    possible = {path: list(changes(path)) for path in (f"storefront/{each}" for each in TESTS) if given.only in path}
    if not given.only and (unknown := listed - {str(each) for found in possible.values() for each in found}):
        print(f"{EQUIVALENT} lists what cannot be changed any more:", *sorted(unknown), sep="\n  ")
        return 1
    chosen = drawn(
        {path: [each for each in found if str(each) not in listed] for path, found in possible.items()}, given
    )
    survivors = [change for change, is_killed in tried(chosen, given.seed) if not is_killed]
    print(f"{len(chosen) - len(survivors)} of {len(chosen)} changes were noticed (seed {given.seed}).")
    for each in sorted(survivors):
        print(f"SURVIVED {each.path}:{each.line} in {each.function}: {' '.join(each.old.split())} -> {each.new}")
    return int(len(survivors) > MAX_SURVIVING * len(chosen))


def drawn(possible: dict[str, list[Change]], given: argparse.Namespace) -> list[Change]:
    """As many changes of each module, as far as there are any."""
    random, left = Random(given.seed), {path: list(found) for path, found in possible.items()}
    for found in left.values():
        random.shuffle(found)
    chosen: list[Change] = []
    while len(chosen) < given.count and any(left.values()):
        chosen += [found.pop() for found in left.values() if found]
    return chosen[: given.count]


def changes(path: str) -> Iterator[Change]:
    """All changes of what the functions of a module do."""
    source = Path(path).read_bytes()
    lines = [0]
    for line in source.splitlines(keepends=True):
        lines.append(lines[-1] + len(line))
    for function in (each for each in ast.walk(ast.parse(source)) if isinstance(each, ast.FunctionDef)):
        for node, new in (found for statement in function.body for found in changed_nodes(statement)):
            start, end = lines[node.lineno - 1] + node.col_offset, lines[node.end_lineno - 1] + node.end_col_offset
            yield Change(path, function.name, node.lineno, start, end, source[start:end].decode(), new)


def changed_nodes(node: ast.AST) -> Iterator[tuple[ast.expr | ast.stmt, str]]:
    """(an expression or a statement below this one, other code in its place)"""
    if isinstance(node, ast.FunctionDef | ast.arg) or (isinstance(node, ast.Expr) and is_telling(node)):
        return
    if isinstance(node, ast.Expr | ast.Raise | ast.AugAssign):
        yield node, "pass"
    for new in others(node):
        assert isinstance(node, ast.expr)
        yield node, f"({ast.unparse(new)})"
    for name, value in ast.iter_fields(node):
        if name not in ("annotation", "returns"):
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    yield from changed_nodes(child)


def is_telling(node: ast.Expr) -> bool:
    return isinstance(node.value, ast.Constant) or ast.unparse(node).startswith(TELLING)


def others(node: ast.AST) -> Iterator[ast.expr]:
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
        paths = sorted({change.path for change in chosen})
        seconds = dict(zip(paths, threads.map(lambda path: time_of(path, copies, seed), paths), strict=True))
        yield from zip(chosen, threads.map(lambda each: is_noticed(each, copies, seed, seconds), chosen), strict=True)


def copy_tree(to: Path) -> Path:
    listed = subprocess.run(["git", "ls-files", "-zco", "--exclude-standard"], capture_output=True, check=True).stdout
    for name in listed.decode().split("\0"):
        if name and Path(name).is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(name, to / name)
    return to


def time_of(path: str, copies: "Queue[Path]", seed: int) -> float:
    """How long the module's tests take as it is. They have to pass."""
    copy, began = copies.get(), time.monotonic()
    code = run_tests(copy, path, seed, 600)
    copies.put(copy)
    if code:
        raise SystemExit(f"The tests of {path} fail without any change (exit code {code}).")
    return time.monotonic() - began


def is_noticed(change: Change, copies: "Queue[Path]", seed: int, seconds: dict[str, float]) -> bool:
    copy = copies.get()
    file = copy / change.path
    source = file.read_bytes()
    try:
        write(file, source[: change.start] + change.new.encode() + source[change.end :])
        code = run_tests(copy, change.path, seed, max(PATIENCE * seconds[change.path], MIN_SECONDS))
    finally:
        write(file, source)
        copies.put(copy)
    print(f"{'noticed ' if code else 'SURVIVED'} line {change.line}, {change}", flush=True)
    return bool(code)


def write(file: Path, source: bytes) -> None:
    """Write a module, whose compiled file may look as new as it."""
    file.write_bytes(source)
    Path(cache_from_source(str(file))).unlink(missing_ok=True)


def run_tests(copy: Path, path: str, seed: int, timeout: float) -> int:
    """The exit code of the module's tests in this copy; that of a kill where they take too long."""
    tests = [f"tests/{each}" for each in TESTS[path.removeprefix("storefront/")].split()]
    chosen = ["-qx", "-p", "no:cacheprovider", "-m", "not browser", f"--hypothesis-seed={seed}", *tests]
    environment = os.environ | {"PYTHONPATH": str(copy), "TEST_POSTGRES_URL": ""}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "start_new_session": True}
    process = subprocess.Popen([sys.executable, "-m", "pytest", *chosen], cwd=copy, env=environment, **quiet)
    try:
        return process.wait(timeout)
    except subprocess.TimeoutExpired:
        return signal.SIGKILL
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


if __name__ == "__main__":
    sys.exit(main())
