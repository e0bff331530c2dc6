"""`make check`: each rule of docs/reference is cited by code and held by a test, each test of tests/reference names a
rule, and numbers are unique.

    python bin/rules.py             reports problems
    python bin/rules.py R-CART-7    prints a rule, the code that cites it and its tests

A rule is a list item of docs/reference, `- **R-CART-7** ...`. `(for clients)` after its number means that it has
neither code nor test here. A test names its rules with a marker, on itself, its class or its file:
`@pytest.mark.rule("R-CART-7")`, `pytestmark = pytest.mark.rule("R-CART-7")`. Code cites one rule, or a range such as
`R-CAT-20 to R-CAT-25`, in a docstring or comment where it is implemented.
"""

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

PAGES = Path("docs/reference")
CODE = Path("storefront")
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

# Rules that no code of ours implements, and why. Each has a test all the same.
WITHOUT_CODE = {
    "R-CART-19": "It says what carts do not do.",
    "R-CAT-7": "It says what reading does not do.",
}

NUMBER = re.compile(r"\bR-[A-Z]+-\d+\b")
RANGE = re.compile(r"\b(R-[A-Z]+-)(\d+) to \1(\d+)\b")
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
    body = ast.parse(path.read_text()).body
    marks = [
        node.value for node in body if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "pytestmark"
    ]
    yield from _tests_in(body, str(path.relative_to(root)), _rules_of_marks(marks))


def _tests_in(body: list[ast.stmt], place: str, inherited: frozenset[str]) -> Iterator[Test]:
    for node in body:
        if isinstance(node, ast.ClassDef) and node.name.startswith("Test"):
            yield from _tests_in(node.body, f"{place}::{node.name}", inherited | _marked(node))
        elif isinstance(node, ast.FunctionDef) and node.name.startswith("test"):
            yield Test(f"{place}::{node.name}", inherited | _marked(node))


def _marked(node: ast.FunctionDef | ast.ClassDef) -> frozenset[str]:
    return _rules_of_marks(node.decorator_list)


def _rules_of_marks(marks: list[ast.expr]) -> frozenset[str]:
    """The rules that these marks name. The value of `pytestmark` can be a list of marks."""
    single = [each for mark in marks for each in (mark.elts if isinstance(mark, ast.List) else [mark])]
    calls = [each for each in single if isinstance(each, ast.Call) and ast.unparse(each.func) == "pytest.mark.rule"]
    return frozenset(str(word.value) for call in calls for word in call.args if isinstance(word, ast.Constant))


def citations(root: Path) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for folder, patterns in CITING.items():
        for path in sorted(path for pattern in patterns for path in (root / folder).rglob(pattern)):
            for line, text in enumerate(path.read_text().splitlines(), start=1):
                for number in numbers_in(text):
                    found.setdefault(number, []).append(f"{path.relative_to(root)}:{line}")
    return found


def numbers_in(line: str) -> set[str]:
    """The rules that a line cites, with those inside its ranges."""
    inside = {f"{page}{each}" for page, first, last in RANGE.findall(line) for each in range(int(first), int(last) + 1)}
    return inside | set(NUMBER.findall(line))


def problems(reference: Reference) -> Iterator[str]:
    """A sentence for each rule, citation or test that is wrong."""
    places: dict[str, str] = {}
    tested = {number for test in reference.tests for number in test.rules}
    for rule in reference.rules:
        if rule.number in places:
            yield f"{rule.place}: {rule.number} is at {places[rule.number]} already."
        elif not rule.is_for_clients:
            yield from _gaps(reference, rule, tested)
        places.setdefault(rule.number, rule.place)
    for number, cited_at in sorted(reference.citations.items()):
        if number not in places:
            yield f"{cited_at[0]}: {PAGES} has no rule {number}."
    for test in reference.tests:
        if test.place.startswith(f"{REFERENCE_TESTS}/") and not test.rules:
            yield f"{test.place}: names no rule."


def _gaps(reference: Reference, rule: Rule, tested: set[str]) -> Iterator[str]:
    if rule.number not in tested:
        yield f"{rule.place}: {rule.number} has no test; mark the one that holds it."
    cited = cited_by_code(reference, rule.number)
    if not cited and rule.number not in WITHOUT_CODE:
        yield f"{rule.place}: {rule.number} is cited by no code; cite it where it is implemented."
    elif cited and rule.number in WITHOUT_CODE:
        yield f"{cited[0]}: {rule.number} is cited here, so it must not be in WITHOUT_CODE."


def cited_by_code(reference: Reference, number: str) -> list[str]:
    return [place for place in reference.citations.get(number, []) if place.startswith(f"{CODE}/")]


def print_rule(reference: Reference, number: str) -> int:
    rules = [rule for rule in reference.rules if rule.number == number]
    if not rules:
        print(f"{PAGES} has no rule {number}.")
        return 1
    for rule in rules:
        print(f"{rule.place}\n{number}{' (for clients)' if rule.is_for_clients else ''} {rule.text}")
    cited = cited_by_code(reference, number)
    tests = [test.place for test in reference.tests if number in test.rules]
    for title, found in (("Cited by:", cited), ("Held by:", tests)):
        print("\n".join([title, *(f"  {place}" for place in found or ["nothing"])]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
