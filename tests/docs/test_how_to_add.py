"""Each recipe of docs/how-to-add.md, followed by the letter in a copy of this folder, leads to what it promises."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

pytestmark = [pytest.mark.proof, pytest.mark.timeout(1200)]
ROOT = Path(__file__).parents[2]
_, *RECIPES = re.split(r"^## ", (ROOT / "docs/how-to-add.md").read_text(), flags=re.MULTILINE)
BLOCK = re.compile(r"^( *)```(\w*)\n(.*?)^\1```", re.MULTILINE | re.DOTALL)
# What the commands need a browser or a person for.
LEFT_OUT = re.compile(r"^(make run|.*-m browser .*)\n", re.MULTILINE)
# Types and layers take longer than all other checks together.
CHECKS = [
    *("ruff check", "ruff format --check", "storefront makemigrations --check --dry-run"),
    *(f"python bin/{name}.py" for name in ("sizes", "migrations", "rules", "openapi", "texts", "unmarked")),
]


@pytest.fixture
def copy(tmp_path) -> Path:
    """This folder, as far as it would be committed, with its virtual environment."""
    listed = subprocess.run(
        ["git", "ls-files", "-zco", "--exclude-standard"], cwd=ROOT, capture_output=True, check=True
    )
    for name in filter(None, listed.stdout.decode().split("\0")):
        if (ROOT / name).is_file():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, tmp_path / name)
    (tmp_path / ".venv").symlink_to(sys.prefix)
    return tmp_path


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.partition("\n")[0])
def test_recipe(copy, recipe):
    kinds = set()
    for block in BLOCK.finditer(recipe):
        kind, text = block[2], dedent(block[3])
        kinds.add(kind)
        if kind == "sh":
            run(copy, text)
        elif kind == "diff":
            change(copy, text)
        else:
            (name,) = re.findall(r"`([^`\s]+)`:\s*\Z", recipe[: block.start()])
            assert not (copy / name).exists()
            (copy / name).parent.mkdir(exist_ok=True)
            (copy / name).write_text(text)
    assert {"sh", "diff"} <= kinds


def change(copy: Path, text: str) -> None:
    """Change the file at the first place that has the block's lines."""
    head, *lines = text.splitlines(keepends=True)
    file = copy / head.removeprefix("--- ").strip()
    before, after = ("".join(line[1:] or line for line in lines if line[0] not in out) for out in ("+", "-"))
    content = file.read_text()
    assert before in content, f"{file.name} has no such lines:\n{before}"
    file.write_text(content.replace(before, after, 1))


def run(copy: Path, commands: str) -> None:
    script = LEFT_OUT.sub("", commands).replace("make check\n", "".join(f".venv/bin/{each}\n" for each in CHECKS))
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("STOREFRONT", "DJANGO"))}
    environment |= {"PYTHONPATH": str(copy), "TEST_POSTGRES_URL": "", "DATABASE_URL": ""}
    done = subprocess.run(
        ["bash", "-euc", script], cwd=copy, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{script}\n{done.stdout[-6000:]}\n{done.stderr[-3000:]}"
