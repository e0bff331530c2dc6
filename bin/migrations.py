"""`make check`: a released migration is never edited, renamed or removed, since existing databases have applied it.

tests/upgrades/migrations.json has the SHA-256 of each one. `python bin/migrations.py --add` adds new migrations to it
if nothing is wrong with any, and changes no existing entry.

A column that is added to an existing table has a default in the database, since processes of the release before still
insert rows while the new ones start.
"""

import ast
import hashlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path

LANDED = Path("tests/upgrades/migrations.json")


def main(arguments: list[str]) -> int:
    recorded: dict[str, str] = json.loads(LANDED.read_text()) if LANDED.exists() else {}
    present = digests()
    added = present | recorded if arguments == ["--add"] else recorded
    problems = differences(added, present)
    for path in sorted(present):
        problems += [f"{path}: {each}" for each in columns_without_default(Path(path).read_text())]
    for problem in problems:
        print(problem)
    if added != recorded and not problems:
        LANDED.write_text(json.dumps(added, indent=2, sort_keys=True) + "\n")
    return int(bool(problems))


def digests() -> dict[str, str]:
    """The SHA-256 of each migration, by its path."""
    found = Path("storefront").glob("*/migrations/[0-9]*.py")
    return {path.as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in found}


def differences(recorded: dict[str, str], present: dict[str, str]) -> list[str]:
    """A sentence for each migration that differs from its recorded digest or has none."""
    wrong = [
        f"{path}: {'was edited' if path in present else 'is gone'} after it had landed; write a new migration instead."
        for path, digest in sorted(recorded.items())
        if present.get(path) != digest
    ]
    new = [
        f"{path}: is new. Is it as it shall stay? Then: python bin/migrations.py --add"
        for path in sorted(present.keys() - recorded.keys())
    ]
    return wrong + new


def columns_without_default(source: str) -> list[str]:
    """A sentence for each column that a migration adds to a table of an earlier one, which must have a value that the
    database does not know."""
    calls = list(_operations(ast.parse(source)))
    created = {str(given["name"]).lower() for kind, given in calls if kind == "CreateModel"}
    wrong = []
    for kind, given in calls:
        model, name, field = (given.get(each) for each in ("model_name", "name", "field"))
        if kind != "AddField" or str(model).lower() in created or not isinstance(field, ast.Call):
            continue
        options = {each.arg: ast.unparse(each.value) for each in field.keywords}
        needs_value = options.get("null") != "True" and not ast.unparse(field.func).endswith("ManyToManyField")
        if needs_value and "db_default" not in options:
            wrong.append(
                f"{model}.{name} needs a db_default, or null=True: the release before inserts rows without it."
            )
    return wrong


def _operations(tree: ast.AST) -> Iterator[tuple[str, dict[str, object]]]:
    """The name of each operation on a model or a field, and what it is given: texts as such, the field as its call."""
    places = {"CreateModel": ("name", "fields"), "AddField": ("model_name", "name", "field")}
    for node in ast.walk(tree):
        kind = node.func.attr if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else ""
        if isinstance(node, ast.Call) and kind in places:
            given = dict(zip(places[kind], node.args, strict=False)) | {
                each.arg or "": each.value for each in node.keywords
            }
            yield kind, {key: each.value if isinstance(each, ast.Constant) else each for key, each in given.items()}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
