import sys
from typing import Any

from django.core.management.commands.migrate import Command as DjangoMigrate


class Command(DjangoMigrate):
    """Django's own command, with its messages on stderr as in all our commands."""

    help = "Update the database schema. Run it once at the start and after each update."

    def execute(self, *args: Any, **options: Any) -> str | None:
        options.setdefault("stdout", sys.stderr)
        return super().execute(*args, **options)
