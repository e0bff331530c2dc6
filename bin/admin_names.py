"""Writes `storefront/staff/derived_texts.py`: texts of the admin that no code marks, since they are derived from names.

They are the names, help texts and choices of the models and fields that the admin shows, and the titles of groups of
fields. `--check` only compares: it fails if the file lacks one, or has one that is not shown any more.
"""

import os
import sys
from pathlib import Path

import django

FILE = Path(__file__).parents[1] / "storefront/staff/derived_texts.py"
BEGIN = '''"""Texts of the admin that are derived from names, so that no other code marks them (bin/admin_names.py)."""

# ruff: noqa: E501, a text is a line
# fmt: off

from django.utils.translation import gettext_noop

TEXTS = [
'''


def main() -> int:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "storefront.server.settings")
    django.setup()
    from storefront.staff.model_names import texts_of_admin

    lines = "".join(f"    gettext_noop({_quoted(text)}),\n" for text in sorted(texts_of_admin()))
    content = f"{BEGIN}{lines}]\n"
    if "--check" not in sys.argv:
        FILE.write_text(content)
    elif FILE.read_text() != content:
        print("storefront/staff/derived_texts.py is old: run .venv/bin/python bin/admin_names.py")
        return 1
    return 0


def _quoted(text: str) -> str:
    """As ruff writes it: in double quotes, unless the text has some and no single ones."""
    quote = "'" if '"' in text and "'" not in text else '"'
    escaped = text.replace("\\", "\\\\").replace(quote, f"\\{quote}")
    return f"{quote}{escaped}{quote}"


if __name__ == "__main__":
    sys.exit(main())
