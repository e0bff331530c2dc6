"""`make check`: each rule of docs/reference has a test, each test of tests/reference has a rule, numbers are unique.

    python bin/rules.py             reports problems
    python bin/rules.py R-CART-7    prints a rule, the code that cites it and its tests

A rule is a list item of docs/reference, `- **R-CART-7** ...`. `(for clients)` after its number says that it cannot be
tested here. A test names its rules with a marker, on itself or its class: `@pytest.mark.rule("R-CART-7")`.
"""

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

PAGES = Path("docs/reference")
TESTS = Path("tests")
# Every test in this folder must name a rule.
REFERENCE_TESTS = TESTS / "reference"
CITING = {
    "storefront": ("*.py", "*.html"),
    "tests": ("*.py",),
    "bin": ("*.py",),
    "benchmarks": ("*.py",),
    "docs": ("*.md",),
}

NUMBER = re.compile(r"\bR-[A-Z]+-\d+\b")
RULE = re.compile(r"^- \*\*(R-[A-Z]+-\d+)\*\*( \(for clients\))? (.*(?:\n  .*)*)", re.MULTILINE)


@dataclass(frozen=True)
class Rule:
    number: str
    text: str
    place: str
    is_for_clients: bool


@dataclass(frozen=True)
class Test:
    """A test function. `place` is its pytest id, `path::Class::name`."""

    place: str
    rules: frozenset[str]


@dataclass
class Reference:
    """All rules and tests, and where rules are cited: a list of `path:line` by number."""

    rules: list[Rule]
    tests: list[Test]
    citations: dict[str, list[str]] = field(default_factory=dict)


def main(arguments: list[str]) -> int:
    reference = read(Path())
    if arguments:
        return print_rule(reference, arguments[0])
    found = list(problems(reference))
    for problem in found:
        print(problem)
    return int(bool(found))


def read(root: Path) -> Reference:
    """Read the rules, tests and citations of the project in this folder."""
    rules = [rule for page in sorted((root / PAGES).glob("*.md")) for rule in rules_of(page, root)]
    tests = [test for path in sorted((root / TESTS).rglob("test_*.py")) for test in tests_of(path, root)]
    return Reference(rules, tests, citations(root))


def rules_of(page: Path, root: Path) -> Iterator[Rule]:
    text = page.read_text()
    for match in RULE.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        words = " ".join(match[3].split())
        yield Rule(match[1], words, f"{page.relative_to(root)}:{line}", bool(match[2]))


def tests_of(path: Path, root: Path) -> Iterator[Test]:
    yield from _tests_in(ast.parse(path.read_text()).body, str(path.relative_to(root)), frozenset())


def _tests_in(body: list[ast.stmt], place: str, inherited: frozenset[str]) -> Iterator[Test]:
    for node in body:
        if isinstance(node, ast.ClassDef) and node.name.startswith("Test"):
            yield from _tests_in(node.body, f"{place}::{node.name}", inherited | _marked(node))
        elif isinstance(node, ast.FunctionDef) and node.name.startswith("test"):
            yield Test(f"{place}::{node.name}", inherited | _marked(node))


def _marked(node: ast.FunctionDef | ast.ClassDef) -> frozenset[str]:
    calls = [each for each in node.decorator_list if isinstance(each, ast.Call)]
    marks = [call for call in calls if ast.unparse(call.func) == "pytest.mark.rule"]
    return frozenset(str(word.value) for call in marks for word in call.args if isinstance(word, ast.Constant))


def citations(root: Path) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for folder, patterns in CITING.items():
        for path in sorted(path for pattern in patterns for path in (root / folder).rglob(pattern)):
            for line, text in enumerate(path.read_text().splitlines(), start=1):
                for number in NUMBER.findall(text):
                    found.setdefault(number, []).append(f"{path.relative_to(root)}:{line}")
    return found


def problems(reference: Reference) -> Iterator[str]:
    """A sentence for each rule, citation or test that is wrong."""
    places: dict[str, str] = {}
    tested = {number for test in reference.tests for number in test.rules}
    for rule in reference.rules:
        if rule.number in places:
            yield f"{rule.place}: {rule.number} is at {places[rule.number]} already."
        elif not rule.is_for_clients and rule.number not in tested:
            yield f"{rule.place}: {rule.number} has no test; mark the one that holds it."
        places.setdefault(rule.number, rule.place)
    for number, cited_at in sorted(reference.citations.items()):
        if number not in places:
            yield f"{cited_at[0]}: {PAGES} has no rule {number}."
    for test in reference.tests:
        if test.place.startswith(f"{REFERENCE_TESTS}/") and not test.rules:
            yield f"{test.place}: names no rule."


def print_rule(reference: Reference, number: str) -> int:
    rules = [rule for rule in reference.rules if rule.number == number]
    if not rules:
        print(f"{PAGES} has no rule {number}.")
        return 1
    for rule in rules:
        print(f"{rule.place}\n{number}{' (for clients)' if rule.is_for_clients else ''} {rule.text}")
    cited = [place for place in reference.citations.get(number, []) if place.startswith("storefront/")]
    tests = [test.place for test in reference.tests if number in test.rules]
    for title, found in (("Cited by:", cited), ("Held by:", tests)):
        print("\n".join([title, *(f"  {place}" for place in found or ["nothing"])]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
