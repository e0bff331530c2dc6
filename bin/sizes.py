"""`make check`: no file over 400 lines and no function over 50, unless it is listed below with a reason."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

MAX_FILE_LINES = 400
MAX_FUNCTION_LINES = 50
FOLDERS = ("storefront", "tests", "bin", "benchmarks", "deploy")

# Reasons by path.
ALLOWED: dict[str, str] = {"storefront/staff/derived_texts.py": "a list that bin/admin_names.py writes"}


def main() -> int:
    problems = [problem for path in python_files() for problem in too_long(path)]
    for problem in problems:
        print(problem)
    return int(bool(problems))


def python_files() -> Iterator[Path]:
    for folder in FOLDERS:
        for path in sorted(Path(folder).rglob("*.py")):
            if "migrations" not in path.parts and str(path) not in ALLOWED:
                yield path


def too_long(path: Path) -> Iterator[str]:
    text = path.read_text()
    lines = text.count("\n")
    if lines > MAX_FILE_LINES:
        yield f"{path}: {lines} lines, more than {MAX_FILE_LINES}"
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if length > MAX_FUNCTION_LINES:
                yield f"{path}:{node.lineno}: {node.name} has {length} lines, more than {MAX_FUNCTION_LINES}"


if __name__ == "__main__":
    sys.exit(main())
