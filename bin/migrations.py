"""`make check`: a released migration is never edited, renamed or removed, since existing databases have applied it.

tests/upgrades/migrations.json has the SHA-256 of each one. `python bin/migrations.py --add` adds new migrations to it,
and changes no existing entry.
"""

import hashlib
import json
import sys
from pathlib import Path

LANDED = Path("tests/upgrades/migrations.json")


def main(arguments: list[str]) -> int:
    recorded: dict[str, str] = json.loads(LANDED.read_text()) if LANDED.exists() else {}
    present = digests()
    if arguments == ["--add"]:
        recorded = present | recorded
        LANDED.write_text(json.dumps(recorded, indent=2, sort_keys=True) + "\n")
    problems = differences(recorded, present)
    for problem in problems:
        print(problem)
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


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
