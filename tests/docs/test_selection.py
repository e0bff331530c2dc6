"""Every test runs in a step of `make test` or of `make proof`."""

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.proof
@pytest.mark.timeout(600)
def test_each_test_is_in_a_step(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "bin")
    monkeypatch.setenv("TEST_POSTGRES_URL", "postgres://nobody@127.0.0.1/none")
    steps = import_module("bin.test")
    monkeypatch.setattr(steps, "install", lambda package: None)
    monkeypatch.setattr(steps, "require_browser", lambda is_proof: None)
    chosen = [step(is_proof).markers for step in steps.STEPS.values() for is_proof in (False, True)]
    nowhere = " and ".join(f"not ({markers})" for markers in chosen)
    assert collected(nowhere, "tests") == []


@pytest.mark.proof
@pytest.mark.timeout(600)
def test_browser_tests_are_in_the_folder_that_their_step_collects():
    assert collected("browser", "tests", "--ignore=tests/browser") == []


def collected(markers: str, *arguments: str) -> list[str]:
    command = [sys.executable, "-m", "pytest", "-q", "--collect-only", "-p", "no:cacheprovider", "-m", markers]
    asked = subprocess.run([*command, *arguments], cwd=ROOT, capture_output=True, text=True, timeout=500, check=False)
    assert "deselected" in asked.stdout
    return [line for line in asked.stdout.splitlines() if "::" in line]
