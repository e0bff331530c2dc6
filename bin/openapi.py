"""`make check`: the API's description is the one in docs/openapi.json, valid, and breaks no client.

With `--write`, stores the description and lists changes that break clients generated from the stored one.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import node
from api_changes import breaking_changes

STORED = Path("docs/openapi.json")
RULES = 'extends: ["spectral:oas"]\n'


def main(arguments: list[str]) -> int:
    current = document()
    text = json.dumps(current, indent=1, ensure_ascii=False) + "\n"
    stored = json.loads(STORED.read_text()) if STORED.exists() else {}
    for change in breaking_changes(stored, current):
        print(f"breaks clients: {change}")
    if "--write" in arguments:
        STORED.write_text(text)
    elif current != stored:
        print(f"{STORED} differs from the API. Update it with: .venv/bin/python bin/openapi.py --write")
        return 1
    return lint(text)


def document() -> dict[str, Any]:
    os.environ["DJANGO_SETTINGS_MODULE"] = "storefront.server.settings"
    with tempfile.TemporaryDirectory() as directory:
        os.environ |= {"STOREFRONT_DATA_DIR": directory, "DATABASE_URL": ""}
        import django

        django.setup()
        from storefront.server.api.docs import encoded_document

        return json.loads(encoded_document())


def lint(text: str) -> int:
    """Run Redocly and Spectral, which must find no error. Skipped, with a message, without Node."""
    if not node.fetch():
        print("SKIPPED: redocly and spectral, since there is no Node, or npm could not fetch them")
        return 0
    with tempfile.TemporaryDirectory() as directory:
        path, rules = Path(directory) / "openapi.json", Path(directory) / "rules.yaml"
        path.write_text(text)
        rules.write_text(RULES)
        spectral = [
            node.tool("spectral"),
            "lint",
            str(path),
            "--ruleset",
            str(rules),
            "--quiet",
            "--fail-severity=error",
        ]
        redocly = [node.tool("redocly"), "lint", str(path), "--format=stylish"]
        return int(any([_finds_errors(command) for command in (spectral, redocly)]))


def _finds_errors(command: list[str]) -> bool:
    # Both also report anonymous use, and must not.
    environment = os.environ | {"REDOCLY_TELEMETRY": "off", "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true"}
    result = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=900, check=False)
    if result.returncode:
        print(result.stdout, result.stderr)
    return result.returncode != 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
