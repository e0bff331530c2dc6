"""docs/security.md names a test for each measure: it has to exist, and each row has to say something."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "security.md").read_text()
TESTS = sorted(set(re.findall(r"`(tests/[\w/.]+\.py(?:::\w+)?)`", PAGE)))
NUMBERED = re.findall(r"^\| (\d+\.\d+\.\d+) \| (.*?) \| (.*?) \|$", PAGE, re.MULTILINE)
# Requirements of each chapter of ASVS 5.0.0: API, files, authentication, sessions, authorization.
CHAPTERS = {"4": 16, "5": 13, "6": 47, "7": 19, "8": 13}


@pytest.mark.parametrize("named", TESTS)
def test_each_named_test_exists(named):
    path, _, name = named.partition("::")
    assert (ROOT / path).is_file()
    if name:
        functions = [node.name for node in ast.walk(ast.parse((ROOT / path).read_text())) if hasattr(node, "name")]
        assert name in functions


def test_every_requirement_of_the_chapters_has_one_row():
    numbers = [number for number, _, _ in NUMBERED]
    assert len(numbers) == len(set(numbers))
    counted = {chapter: sum(number.startswith(f"{chapter}.") for number in numbers) for chapter in CHAPTERS}
    assert counted == CHAPTERS


@pytest.mark.parametrize(("number", "measure", "test"), NUMBERED)
def test_each_row_has_a_test_or_a_reason(number, measure, test):
    assert test.startswith("`tests/") or measure.startswith(("n/a: ", "open: "))
