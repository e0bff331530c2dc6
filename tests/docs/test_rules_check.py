"""bin/rules.py compares the rules of docs/reference, the tests that hold them and the code that cites them."""

from pathlib import Path

import pytest

from bin import rules

PAGE = """# Carts

- **R-CART-1** A cart is
  empty at first.
- **R-CART-2** (for clients) Keep the token.
"""
TEST = '@pytest.mark.rule("R-CART-1")\ndef test_is_empty():\n    pass\n'


@pytest.fixture
def project(tmp_path):
    """Writes a consistent project, with the given texts in place of its own. Returns its problems."""

    def problems(page=PAGE, test=TEST, code='"""(R-CART-1)"""\n') -> list[str]:
        files = {"docs/reference/carts.md": page, "tests/reference/test_carts.py": test, "storefront/carts.py": code}
        for path, text in files.items():
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text(text)
        return list(rules.problems(rules.read(tmp_path)))

    return problems


def test_a_consistent_project_has_no_problems(project):
    assert project() == []


def test_a_rule_without_a_test_is_reported(project):
    page, code = PAGE + "- **R-CART-3** A cart ends.\n", '"""(R-CART-1, R-CART-3)"""\n'
    assert project(page=page, code=code) == [
        "docs/reference/carts.md:6: R-CART-3 has no test; mark the one that holds it.",
    ]


def test_a_rule_without_code_is_reported(project):
    assert project(code="") == [
        "docs/reference/carts.md:3: R-CART-1 is cited by no code; cite it where it is implemented.",
    ]


def test_a_range_cites_every_rule_in_it(project):
    page = PAGE + "- **R-CART-3** A cart ends.\n- **R-CART-4** A cart has an end.\n"
    test = TEST.replace('"R-CART-1"', '"R-CART-1", "R-CART-3", "R-CART-4"')
    assert project(page=page, test=test, code='"""(R-CART-1 to R-CART-4)"""\n') == []


def test_a_rule_on_the_list_of_those_without_code_needs_none(project, monkeypatch):
    monkeypatch.setattr(rules, "WITHOUT_CODE", {"R-CART-1": "It says what carts do not do."})
    assert project(code="") == []


def test_a_cited_rule_on_the_list_of_those_without_code_is_reported(project, monkeypatch):
    monkeypatch.setattr(rules, "WITHOUT_CODE", {"R-CART-1": "It says what carts do not do."})
    assert project() == ["storefront/carts.py:1: R-CART-1 is cited here, so it must not be in WITHOUT_CODE."]


@pytest.mark.slow
def test_the_list_of_rules_without_code_names_rules_that_exist():
    existing = {rule.number for rule in rules.read(Path(rules.__file__).parents[1]).rules}
    assert rules.WITHOUT_CODE.keys() <= existing


def test_a_test_without_a_rule_is_reported(project):
    test = TEST + "def test_other():\n    pass\n"
    assert project(test=test) == ["tests/reference/test_carts.py::test_other: names no rule."]


def test_the_mark_of_a_class_counts_for_its_tests(project):
    test = '@pytest.mark.rule("R-CART-1")\nclass TestCart:\n    def test_is_empty(self):\n        pass\n'
    assert project(test=test) == []


@pytest.mark.parametrize("marks", ['pytest.mark.rule("R-CART-1")', '[pytest.mark.slow, pytest.mark.rule("R-CART-1")]'])
def test_the_mark_of_a_file_counts_for_its_tests(project, marks):
    assert project(test=f"pytestmark = {marks}\n\n\ndef test_is_empty():\n    pass\n") == []


def test_a_number_that_no_rule_has_is_reported(project):
    code = '"""(R-CART-1)"""\n"""(R-CART-30)"""\n'
    assert project(code=code) == ["storefront/carts.py:2: docs/reference has no rule R-CART-30."]


def test_a_number_of_two_rules_is_reported(project):
    page = PAGE + "- **R-CART-1** Again.\n"
    assert project(page=page) == ["docs/reference/carts.md:6: R-CART-1 is at docs/reference/carts.md:3 already."]


def test_one_rule_is_shown_with_its_code_and_tests(project, tmp_path, capsys):
    project()
    assert rules.print_rule(rules.read(tmp_path), "R-CART-1") == 0
    assert capsys.readouterr().out.splitlines() == [
        "docs/reference/carts.md:3",
        "R-CART-1 A cart is empty at first.",
        "Cited by:",
        "  storefront/carts.py:1",
        "Held by:",
        "  tests/reference/test_carts.py::test_is_empty",
    ]
    assert rules.print_rule(rules.read(tmp_path), "R-CART-9") == 1
